"""Contacts of two polyhedra by cached witnesses (Baraff 1992, 5.1).

Each pair keeps the features that define its separating plane. A step rebuilds the plane, finds
the nearest vertices by climbing from the old ones and asks whether the witness still proves the
distance; if not, it looks at adjacent features, then at all. No axis is believed for the features
it comes from: its separation is always that of the bodies' supports along it, a lower bound of
the signed distance, so a false axis can never win.
"""

import math

import numpy as np

from drystone.kernels._jit import kernel, stage
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.polyhedra_region import IDS, NAMES, NUMBERS, SPOT, STAND, carry
from drystone.kernels.spatial.polyhedra_search import (
    EDGE_NUMBERS,
    best_edges,
    best_face,
    extents,
    near_distance,
    nearest_corner,
    nearest_vertices,
    parallel_faces,
)
from drystone.kernels.spatial.polyhedra_shape import (
    AT_PLACES,
    BARE,
    BEST,
    BEST_EDGES,
    BEST_N,
    BEST_VERTICES,
    EDGES,
    EXTENT,
    FACE_B,
    FIRST,
    HITS,
    KIND,
    MADE,
    MARGIN,
    NEARBY,
    OLD,
    OLD_FEATURES,
    POINTS,
    SAME_LENGTH,
    SECOND,
    SIDED,
    SPLIT,
    STAGE,
    UPPER,
    W_PLACES,
    G,
    N,
    S,
    dot,
    load,
    store,
)
from drystone.kernels.spatial.polyhedra_witness import BEYOND_MARGIN, BROKEN, PROVED, assess, single

NEIGHBOURS, SEARCHES, DISTANCES = 1, 2, 3  # stats, after HITS
# 1 - cos of the angle (1e-6) within which a face is asked to stand for a normal
NEARLY_A_FACE = 5e-13

# what the witness under judgement is, and so where to go on if it fails
CACHED, FACE, EDGE_PAIR, NEAREST, FLAT, RESTORED, SETTLED, MEAN = range(8)


@kernel
def contact_polyhedron_polyhedron(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Contact polygons of pairs of polyhedra; see ``geometry.narrow`` for the arguments."""
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, _kind, first, numbers, first_int, ints = geoms
    which, point, normal, gap, feature = contacts
    nv, ne = 0, 0
    for p in range(margin.size):
        for k in range(2):
            i = first_int[geom[p, k]]
            nv, ne = max(nv, ints[i]), max(ne, ints[i + 2])
    at, w = np.zeros(AT_PLACES, np.int64), np.zeros(W_PLACES)
    # two faces have at most 2 nv points in common; the rest is room for sides of several
    room = 8 * nv + 32
    poly, label = np.empty((NUMBERS, room)), np.empty((NAMES, room), np.int64)
    edges = np.zeros(2 * EDGE_NUMBERS * ne)
    made = 0
    for p in range(margin.size):
        a = geom[p, 0]
        load(geom[p], x, R, first, first_int, ints, cache[p], at, w)
        w[MARGIN] = margin[p]
        at[STAGE], at[NEARBY], at[MADE] = CACHED, 1, 0
        at[BARE] = at[SPLIT] = 0
        verdict = BROKEN
        if w[KIND] != 0.0:
            verdict = assess(numbers, ints, at, w, poly, label)
        while advance(numbers, ints, at, w, poly, label, edges, verdict, stats):
            verdict = assess(numbers, ints, at, w, poly, label)
        if at[MADE] > 0:
            if at[SIDED] < 0:
                parallel_faces(numbers, ints, at, w)
            if at[SIDED] == 1 or at[SPLIT] == 1:
                carry(numbers, ints, at, w, poly, label)
        store(at, w, cache[p])
        for c in range(at[MADE]):
            if poly[SPOT + 3, c] > margin[p]:
                continue
            if made == gap.size:
                return -1
            which[made], gap[made], feature[made] = p, poly[SPOT + 3, c], label[IDS, c]
            for i in range(3):
                normal[made, i] = R[a, i, 0] * w[N] + R[a, i, 1] * w[N + 1] + R[a, i, 2] * w[N + 2]
                point[made, i] = x[a, i] + (
                    R[a, i, 0] * poly[SPOT, c]
                    + R[a, i, 1] * poly[SPOT + 1, c]
                    + R[a, i, 2] * poly[SPOT + 2, c]
                )
            made += 1
    return made


@stage
def advance(numbers, ints, at, w, poly, label, edges, verdict, stats):
    """After a verdict: the next witness to judge goes into w (True), or the pair is done (False).

    Proved witnesses end it, unless a face has all but the same normal: then the face is asked to
    stand for it, because noise has no place in a normal.
    """
    stage = at[STAGE]
    done = verdict == BEYOND_MARGIN or stage == RESTORED
    if verdict == BEYOND_MARGIN:
        at[MADE] = 0
    elif stage in (FLAT, MEAN):
        stand = STAND * w[EXTENT] if stage == FLAT else w[SAME_LENGTH]
        done = w[S] >= w[OLD + 4] - stand
        if stage == FLAT:
            done = done and at[MADE] > 0 and abs(w[G] - w[OLD + 4]) <= stand
        if not done:
            w[KIND] = w[OLD]
            for i in range(4):
                w[FIRST + i] = w[OLD_FEATURES + i]
            at[STAGE] = RESTORED
    elif stage == SETTLED:
        done = w[KIND] == EDGES or abs(w[S]) > w[SAME_LENGTH] or at[MADE] > 2
        if not done:
            set_aside(w)
            best_face(numbers, ints, at, w, w[SAME_LENGTH])
            at[STAGE] = MEAN
    elif verdict == PROVED and not done:
        done = stage in (CACHED, FACE) or dot(w, N, w, BEST_N) < 1.0 - NEARLY_A_FACE
        if done and along_a_line(at, w, poly):
            set_aside(w)
            best_face(numbers, ints, at, w, w[SAME_LENGTH])
            at[STAGE], done = MEAN, False
        elif not done:
            set_aside(w)
            w[KIND], w[FIRST] = w[BEST], w[BEST + 1]
            at[STAGE] = FLAT
    elif not done:
        done = not propose(numbers, ints, at, w, edges, verdict, stats)
        if done:
            at[MADE] = 0
    if not done:
        return True
    if verdict != BEYOND_MARGIN and stage in (RESTORED, SETTLED, MEAN):
        # the nearest points may lie over neither face, beyond a rim
        bare = at[MADE] == 0 or w[G] > w[S] + STAND * w[EXTENT]
        if bare and w[S] <= w[MARGIN]:
            at[BARE] = 2 if at[MADE] == 0 else 1
            single(numbers, ints, at, w, poly, label)
    if stage == CACHED and verdict >= PROVED:
        stats[HITS] += 1
    else:
        stats[NEIGHBOURS if at[NEARBY] == 1 else SEARCHES] += 1
    return False


@stage
def set_aside(w):
    """Keep the witness and its separation, in case what is tried next falls short of it."""
    w[OLD], w[OLD + 4] = w[KIND], w[S]
    for i in range(4):
        w[OLD_FEATURES + i] = w[FIRST + i]


@stage
def along_a_line(at, w, poly):
    """Whether two faces meet in an edge and open like a wedge: the normal is not one's."""
    if w[KIND] > FACE_B or w[KIND] == 0.0 or abs(w[S]) > w[SAME_LENGTH]:
        return False
    near = 0
    for c in range(at[MADE]):
        if poly[SPOT + 3, c] <= w[SAME_LENGTH]:
            near += 1
    return near < 3


@stage
def propose(numbers, ints, at, w, edges, verdict, stats):
    """The witness to judge after one that failed; False if a gap beyond the margin is proved.

    Faces, then pairs of edges: what fails near the old features is sought among all. If these do
    not prove a distance, vertices and edges are nearest. Every separation is that of the bodies'
    supports, so the greatest is the answer in the end, proved or not.
    """
    if w[SAME_LENGTH] == 0.0:
        extents(numbers, ints, at, w)
    while True:
        near, stage = at[NEARBY] == 1, at[STAGE]
        if stage == CACHED:
            if near and verdict == BROKEN:
                at[NEARBY] = 0
            elif near:
                nearest_corner(numbers, ints, at, w)
            best_face(numbers, ints, at, w, 0.0)
            if w[S] > -math.inf:
                at[STAGE] = FACE
                return w[S] <= w[MARGIN]
            at[NEARBY] = 0  # no face holds the near vertices to the tolerance: ask all
            continue
        s, stand = w[BEST + 2], STAND * w[EXTENT]
        if stage == FACE:
            # a face over which the nearest points do not lie stands for nothing
            bar = s + stand if at[MADE] > 0 and w[G] - w[S] <= stand else s
            # points that do better are no further apart than the bodies are deep, or if they are
            # apart than any two points are; of adjacent features there are few
            nearest_corner(numbers, ints, at, w)
            w[UPPER] = near_distance(numbers, at, w)
            reach = math.inf if near else max(w[UPPER], -s) + w[SAME_LENGTH]
            best_edges(numbers, ints, at, w, reach, bar, edges)
            at[STAGE] = EDGE_PAIR
            if w[BEST_EDGES + 1] >= 0.0:
                w[KIND], w[FIRST], w[SECOND] = EDGES, w[BEST_EDGES + 1], w[BEST_EDGES + 2]
                return w[BEST_EDGES] <= w[MARGIN]
        elif near:
            at[NEARBY], at[STAGE], at[MADE] = 0, CACHED, 0
        elif stage == EDGE_PAIR and w[BEST_EDGES] > 0.0:
            stats[DISTANCES] += 1
            # they prove themselves, so they win where separations are equal but for rounding
            nearest_vertices(numbers, ints, at, w, w[BEST_EDGES] - w[SAME_LENGTH], edges)
            at[STAGE] = NEAREST
            if w[BEST_VERTICES + 1] >= 0.0:
                w[KIND] = POINTS
                for i in range(4):
                    w[FIRST + i] = w[BEST_VERTICES + 1 + i]
                return w[BEST_VERTICES] <= w[MARGIN]
        else:
            if stage != NEAREST or w[BEST_VERTICES + 1] < 0.0:
                w[KIND], w[FIRST], w[SECOND] = EDGES, w[BEST_EDGES + 1], w[BEST_EDGES + 2]
                if w[BEST_EDGES + 1] < 0.0:
                    w[KIND], w[FIRST] = w[BEST], w[BEST + 1]
            at[STAGE] = SETTLED
            return True
