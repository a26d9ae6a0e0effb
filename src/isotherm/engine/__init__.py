"""Composition: the only room that sees both scheduler and runner."""
