"""Which boxes overlap: two broad phases with the same answer."""
