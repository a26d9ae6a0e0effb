"""Arguments to dataclasses: the commands a user types."""
