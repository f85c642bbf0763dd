"""Contacts (and joints) as rows: friction coefficients, Jacobians, blocks of W."""
