"""The penalty method: springs instead of constraints, for comparison (Baraff 1992, 2.4)."""
