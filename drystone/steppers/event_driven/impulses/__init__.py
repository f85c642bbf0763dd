"""Impulses of collisions, and without them (I1 to I6, I11)."""
