"""Layers and weights: forward(batch, state) -> hidden rows -> logits. Knows nothing of who asked."""
