"""Numba kernels: arrays and scalars in, preallocated arrays and an integer status out.

Nothing here imports anything else of ours. Order of arguments: model, in, work, out.
"""
