"""Contacts of two polyhedra by cached witnesses (G3 to G6, 001:5.1).

Each pair keeps the features that define its separating plane. A step rebuilds the plane, finds
the nearest vertices by climbing from the old ones and asks whether the witness still proves the
distance; if not, it looks at adjacent features, then at all.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.polyhedra_find import HITS, find
from drystone.kernels.spatial.polyhedra_region import ROWS
from drystone.kernels.spatial.polyhedra_shape import GEO, KIND, N, layout, relative_pose
from drystone.kernels.spatial.polyhedra_witness import BROKEN, FAR, PROVED, assess


@kernel
def contact_polyhedron_polyhedron(
    pairs,
    margin,
    x,
    R,
    first,
    numbers,
    first_int,
    ints,
    cache,
    which,
    point,
    normal,
    gap,
    feature,
    stats,
):
    """Contact polygons of pairs of polyhedra; see ``geometry.narrow`` for the arguments."""
    nv, ne = 0, 0
    for p in range(pairs.shape[0]):
        for k in range(2):
            i = first_int[pairs[p, k]]
            nv, ne = max(nv, ints[i]), max(ne, ints[i + 2])
    room = 2 * nv + 8
    lay, pose, geo, t = np.zeros((2, 10), np.int64), np.zeros(12), np.zeros(GEO), np.zeros(12)
    poly, label = np.zeros((ROWS, room)), np.zeros((2, room), np.int64)
    spot, ids, count = np.zeros((room, 4)), np.zeros(room, np.int64), np.zeros(1, np.int64)
    chosen, edges = np.zeros((2, ne), np.int64), np.zeros((2, ne, 12))
    X, pair, work = np.zeros((4, 3)), np.zeros((4, 2), np.int64), np.zeros((4, 8))
    made = 0
    for p in range(pairs.shape[0]):
        a, b, row = pairs[p, 0], pairs[p, 1], cache[p]
        layout(a, 0, first, first_int, ints, lay)
        layout(b, 1, first, first_int, ints, lay)
        relative_pose(x, R, a, b, pose)
        verdict = BROKEN
        if row[KIND] != 0.0:
            verdict = assess(
                numbers, ints, lay, pose, row, margin[p], geo, t, poly, label, spot, ids, count
            )
            stats[HITS] += verdict >= PROVED
        if verdict < PROVED:
            verdict = find(
                numbers,
                ints,
                lay,
                pose,
                row,
                margin[p],
                verdict,
                geo,
                t,
                poly,
                label,
                spot,
                ids,
                count,
                chosen,
                edges,
                X,
                pair,
                work,
                stats,
            )
        if verdict == FAR:
            continue
        for c in range(count[0]):
            if spot[c, 3] > margin[p]:
                continue
            if made == gap.size:
                return -1
            which[made], gap[made], feature[made] = p, spot[c, 3], ids[c]
            for i in range(3):
                normal[made, i] = (
                    R[a, i, 0] * geo[N] + R[a, i, 1] * geo[N + 1] + (R[a, i, 2] * geo[N + 2])
                )
                point[made, i] = (
                    x[a, i]
                    + R[a, i, 0] * spot[c, 0]
                    + (R[a, i, 1] * spot[c, 1] + R[a, i, 2] * spot[c, 2])
                )
            made += 1
    return made
