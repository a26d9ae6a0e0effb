"""How the embedded model is made: its data, its tokenizer, its training and its evaluation. Not part of the package."""
