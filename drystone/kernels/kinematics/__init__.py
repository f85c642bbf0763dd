"""Kernels of contact kinematics: local shape of surfaces, and second derivatives of gaps."""
