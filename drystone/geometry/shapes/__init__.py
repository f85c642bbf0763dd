"""Shapes as users make them; each becomes one or more convex geoms."""
