"""Checked descriptions of bodies become the arrays of a Model and a State."""
