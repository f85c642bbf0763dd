"""Pivoting methods and enumeration: Dantzig, Lemke, principal pivots."""
