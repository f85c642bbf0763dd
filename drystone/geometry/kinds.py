"""Kinds of geoms, and what their numbers mean: the contract between shapes and kernels.

Pairs are stored with the lower code first, as A; the normal points from B to A.
All geoms but bowls are convex. They are given in their own frame:

| kind | floats | ints |
|---|---|---|
| DISK | radius | |
| ELLIPSE | semi-axes a, b along x, y | |
| CAPSULE_2D | half length h along x, radius r: points within r of the segment | |
| POLYGON | k vertices (x, y), counter-clockwise, strictly convex | |
| HALF_PLANE | none: the points y <= 0 | |
| BOWL | a, b, c, 1, 1, rim: outside the ellipsoid of these semi-axes, where z <= rim; concave | |
| SURFACE | of ``kernels.surfaces.layout``: a formula, and points to start from | |
| SPHERE | radius | |
| ELLIPSOID | semi-axes a, b, c | |
| SUPERQUADRIC | a, b, c, e1, e2: (|x/a|^(2/e2) + |y/b|^(2/e2))^(e2/e1) + |z/c|^(2/e1) <= 1 | |
| CAPSULE | half length h along z, radius r | |
| CYLINDER | half height h along z, radius r | |
| CONE | height H, radius r: base at z = -H/4, apex at z = 3H/4 (origin = centroid) | |
| POLYHEDRON | vertices (nv, 3), then face planes (nf, 4): outer unit normal n, offset n.x | below |
| HALF_SPACE | none: the points z <= 0 | |

Ints of a POLYHEDRON (boxes too), one after the other:
    nv, nf, ne
    face_start (nf + 1): loop of face f is face_vertex[face_start[f]:face_start[f + 1]]
    face_vertex (sum): vertex numbers, counter-clockwise seen from outside
    edge (ne, 4): vertex v0, vertex v1, face on the left and face on the right of v0 -> v1
    star_start (nv + 1), star (2 ne): neighbouring vertices of each vertex, ascending
"""

DISK, ELLIPSE, CAPSULE_2D, POLYGON, HALF_PLANE = 0, 1, 2, 3, 4
BOWL, SURFACE = 8, 9  # below the others, so that they are A
SPHERE, ELLIPSOID, SUPERQUADRIC, CAPSULE, CYLINDER, CONE = 10, 11, 12, 13, 14, 15
POLYHEDRON, HALF_SPACE = 16, 17

NAMES = {
    DISK: "disk",
    ELLIPSE: "ellipse",
    CAPSULE_2D: "planar capsule",
    POLYGON: "polygon",
    HALF_PLANE: "half-plane",
    BOWL: "bowl",
    SURFACE: "surface",
    SPHERE: "sphere",
    ELLIPSOID: "ellipsoid",
    SUPERQUADRIC: "superquadric",
    CAPSULE: "capsule",
    CYLINDER: "cylinder",
    CONE: "cone",
    POLYHEDRON: "polyhedron",
    HALF_SPACE: "half-space",
}
PLANAR = (DISK, ELLIPSE, CAPSULE_2D, POLYGON, HALF_PLANE)
SPATIAL = (SPHERE, ELLIPSOID, SUPERQUADRIC, CAPSULE, CYLINDER, CONE, POLYHEDRON, HALF_SPACE)
UNBOUNDED = (HALF_PLANE, HALF_SPACE)
