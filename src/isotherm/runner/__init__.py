"""The only writer of tensors: carries out a pass plan on a model and its state, and chooses tokens."""
