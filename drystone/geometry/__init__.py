"""Shapes, bounds, and which of them touch where. Knows geoms and poses, not forces."""
