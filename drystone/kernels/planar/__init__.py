"""Narrow phase in the plane: one file per pair of kinds or family of pairs."""
