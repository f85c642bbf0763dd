"""The penalty method: springs instead of constraints, for comparison (P1 to P3)."""
