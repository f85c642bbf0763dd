"""Checked descriptions of bodies (``bodies``) become the arrays of a Model and a State."""
