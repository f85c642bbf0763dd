"""Methods of contact forces on the problems of whole runs: ``python -m benchmarks forces``."""
