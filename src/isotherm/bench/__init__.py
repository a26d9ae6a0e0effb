"""The bench: how fast is a server? Measured over HTTP, on random token ids."""
