"""Codes of the kinds of geoms, as kernels and files know them: a code never changes its meaning.

What each kind's numbers mean stands in its record, in the file of its shape; see
``geometry.kinds``. Pairs are stored with the lower code first, as A.

Kinds that turn about z between two round ends are one family to kernels, which know them by their
profile alone: heights of the lower and upper end and between them, in units of the first number;
radii of the two ends, and of the ball that is swept along, in units of the second.
"""

DISK, ELLIPSE, CAPSULE_2D, POLYGON, HALF_PLANE = 0, 1, 2, 3, 4  # in the plane
BOWL, SURFACE = 8, 9  # below the others in space, so that they are A
SPHERE, ELLIPSOID, SUPERQUADRIC, CAPSULE, CYLINDER, CONE = 10, 11, 12, 13, 14, 15  # convex
POLYHEDRON, HALF_SPACE = 16, 17  # what is unbounded comes last

REVOLVED = CAPSULE  # the first of the family; the others follow it in this order
PROFILES = (
    (-1.0, 1.0, 2.0, 0.0, 0.0, 1.0),  # CAPSULE
    (-1.0, 1.0, 2.0, 1.0, 1.0, 0.0),  # CYLINDER
    (-0.25, 0.75, 1.0, 1.0, 0.0, 0.0),  # CONE: the origin is its centre of mass
)
