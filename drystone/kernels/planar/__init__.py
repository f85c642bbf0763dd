"""Narrow phase in the plane; ``kernels.pairs`` has the contract of a pair kernel."""
