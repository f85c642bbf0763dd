"""Benchmarks, other engines beside ours, and profilers: no part of the package that users install.

Run from the top of a checkout: ``python -m benchmarks --help``.
"""
