"""Arithmetic, one folder an operation: signature and split law, reference, C, torch."""
