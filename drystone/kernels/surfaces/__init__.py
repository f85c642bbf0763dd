"""Kernels of surfaces that users write down: formulas with two derivatives, support points."""
