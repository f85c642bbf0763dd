"""Narrow phase in space: one file per pair of kinds or family of pairs."""
