"""Codes of the kinds of geoms, as kernels and files know them: a code never changes its meaning.

What each kind's numbers mean stands in its record, in the file of its shape; see
``geometry.kinds``. Pairs are stored with the lower code first, as A.
"""

DISK, ELLIPSE, CAPSULE_2D, POLYGON, HALF_PLANE = 0, 1, 2, 3, 4
BOWL, SURFACE = 8, 9  # below the others in space, so that they are A
SPHERE, ELLIPSOID, SUPERQUADRIC, CAPSULE, CYLINDER, CONE = 10, 11, 12, 13, 14, 15
POLYHEDRON, HALF_SPACE = 16, 17  # what is unbounded comes last
