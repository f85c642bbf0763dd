"""Two local features into one contact: what is vertex against face, and what degenerates.

Two polyhedral features determine the normal if their dimensions add up to dim - 1: a vertex and
a face, two edges that cross. With less, a body whose face has the contact's normal is taken as
that face; else, at zero gap, B is extended to the plane across the normal. With more (an
edge or a face flat on a face), A's point is held fixed in A, or B's in B if only A has the face.
"""

from drystone.kernels._jit import kernel
from drystone.kernels.kinematics.codes import (
    AT_BORDER,
    BORDER,
    DEGENERATE,
    EDGE,
    FACE,
    NOT_EXTREMAL,
    OFF,
    ON_FACE,
    RIM,
    VERTEX,
)

TRUE_DISTANCE = 1e-6  # of the size: vertices and edges farther apart than this have a true distance
PARALLEL = 1e-6  # sine of the angle of two edges


@kernel
def _dimension(feature):
    """Of the set of points a feature is: 2 a face, 1 an edge, 0 a vertex; -1 if it is curved."""
    if feature == FACE:
        return 2
    if feature in (EDGE, RIM):
        return 1
    return 0 if feature == VERTEX else -1


@kernel
def _rolls(feature, bits, other):
    """Whether a rim rolls on a face: its curvature does what an edge's direction cannot."""
    return feature == RIM and not bits & ON_FACE and other == 2


@kernel
def _set(feature, size, flat, E, D):
    """E, D (k,) of a face or of a fixed point; k is 3 in space and 1 in the plane."""
    for k in range(E.size):
        E[k] = D[k] = 0.0
        if k != 1 and flat:
            E[k] = 1.0
        elif k != 1:
            D[k] = 1.0 / size
    return FACE if flat else VERTEX


@kernel
def resolve(dim, gap, size, feature, bits, E, D, flag):
    """feature, bits (nc, 2), E, D (nc, 2, k): in and out; flag (nc,): out. size (nc,) [m]."""
    for i in range(gap.size):
        a, b = _dimension(feature[i, 0]), _dimension(feature[i, 1])
        mark = bits[i, 0] | bits[i, 1]
        flag[i] = (BORDER if mark & AT_BORDER else 0) | (NOT_EXTREMAL if mark & OFF else 0)
        if dim == 2:
            a, b = (1 if a == 2 else a), (1 if b == 2 else b)
        if a < 0 or b < 0:
            continue
        if _rolls(feature[i, 0], bits[i, 0], b) or _rolls(feature[i, 1], bits[i, 1], a):
            continue
        crossing = False
        if dim == 3 and a == 1 and b == 1:
            P, Q = E[i, 0], E[i, 1]  # e e' and f f': trace of the product is cos^2
            cosine = P[0] * Q[0] + 2.0 * P[1] * Q[1] + P[2] * Q[2]
            crossing = cosine < 1.0 - PARALLEL * PARALLEL
        if crossing or (a + b == dim - 1 and not (a == 1 and b == 1 and dim == 3)):
            continue
        at_a, at_b = bits[i, 0] & ON_FACE != 0, bits[i, 1] & ON_FACE != 0
        if not (at_a or at_b):
            if gap[i] > TRUE_DISTANCE * size[i]:
                continue  # a true distance: of two points, of a point and a line
            flag[i] |= DEGENERATE
        elif a + b >= dim - 1:
            flag[i] |= NOT_EXTREMAL
        on_b = at_b or not at_a
        feature[i, 0] = _set(feature[i, 0], size[i], not on_b, E[i, 0], D[i, 0])
        feature[i, 1] = _set(feature[i, 1], size[i], on_b, E[i, 1], D[i, 1])
