"""Isotherm: how a token was computed never changes what it is."""
