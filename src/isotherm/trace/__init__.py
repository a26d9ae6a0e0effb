"""Hash records of how requests were computed, and the first place where two of them differ. Knows bytes, not tensors."""
