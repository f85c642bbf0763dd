"""Contacts of two polyhedra by cached witnesses (G3 to G6, 001:5.1).

Each pair keeps the features that define its separating plane. A step rebuilds the plane, finds
the nearest vertices by climbing from the old ones and asks whether the witness still proves the
distance; if not, it looks at adjacent features, then at all.
"""

import math

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.polyhedra_closest import nearest_features
from drystone.kernels.spatial.polyhedra_region import IDS, ROWS, SPOT
from drystone.kernels.spatial.polyhedra_search import (
    WIDE,
    best_edges,
    best_face,
    extents,
    nearest_corner,
)
from drystone.kernels.spatial.polyhedra_shape import (
    AT,
    BEST,
    BEST_N,
    EDGES,
    FACE_B,
    FIRST,
    FOUND,
    KIND,
    MADE,
    MARGIN,
    NEARBY,
    OLD,
    SECOND,
    SIZE,
    STAGE,
    TOL,
    WIDTH,
    WORK,
    G,
    N,
    S,
    dot,
    load,
)
from drystone.kernels.spatial.polyhedra_witness import BROKEN, FAR, PROVED, assess, single

HITS, NEIGHBOURS, SEARCHES, DISTANCES = 0, 1, 2, 3  # stats
TIE = 1e-9  # of the smaller body: faces this near to touching share the normal of a corner (G6)
SAME = 5e-13  # 1 - cos of the angle (1e-6) within which a face's normal stands for another

# what the witness under judgement is, and so where to go on if it fails
CACHED, FACE, EDGE_PAIR, ANY_EDGES, NEAREST, FLAT, RESTORED, SETTLED, MEAN, DONE = range(10)


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
    at, w = np.zeros(AT, np.int64), np.zeros(WORK)
    poly, label = np.zeros((ROWS, 2 * nv + 8)), np.zeros((3, 2 * nv + 8), np.int64)
    edges = np.zeros(2 * WIDE * ne)
    made = 0
    for p in range(pairs.shape[0]):
        a = pairs[p, 0]
        load(pairs[p], x, R, first, first_int, ints, cache[p], at, w)
        w[MARGIN] = margin[p]
        at[STAGE], at[NEARBY], at[MADE] = CACHED, 1, 0
        verdict = BROKEN
        if w[KIND] != 0.0:
            verdict = assess(numbers, ints, at, w, poly, label)
        while advance(numbers, ints, at, w, poly, label, edges, verdict, stats):
            verdict = assess(numbers, ints, at, w, poly, label)
        for i in range(WIDTH):
            cache[p, i] = w[i]
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


@kernel
def advance(numbers, ints, at, w, poly, label, edges, verdict, stats):
    """After a verdict: the next witness to judge goes into w (True), or the pair is done (False).

    Proved witnesses end it, unless a face has all but the same normal: then the face is asked to
    stand for it, because noise has no place in a normal.
    """
    stage = at[STAGE]
    done = verdict == FAR or stage in (RESTORED, MEAN)
    if verdict == FAR:
        at[MADE] = 0
    elif stage == FLAT:
        done = at[MADE] > 0 and abs(w[G] - w[OLD + 3]) <= w[TOL] + 1e-7 * abs(w[OLD + 3])
        if not done:
            w[KIND], w[FIRST], w[SECOND] = w[OLD], w[OLD + 1], w[OLD + 2]
            at[STAGE] = RESTORED
    elif stage == SETTLED:
        done = w[KIND] == EDGES or abs(w[S]) > TIE * w[SIZE] or at[MADE] > 2
        if not done:
            best_face(numbers, ints, at, w, TIE * w[SIZE])
            at[STAGE] = MEAN
    elif verdict == PROVED and not done:
        cosine = dot(w, N, w, BEST_N)
        done = stage in (CACHED, FACE) or cosine < 1.0 - SAME
        if done and along_a_line(at, w, poly):
            best_face(numbers, ints, at, w, TIE * w[SIZE])
            at[STAGE], done = MEAN, False
        elif not done:
            w[OLD], w[OLD + 1], w[OLD + 2], w[OLD + 3] = w[KIND], w[FIRST], w[SECOND], w[S]
            w[KIND], w[FIRST] = w[BEST], w[BEST + 1]
            at[STAGE] = FLAT
    elif not done:
        done = not propose(numbers, ints, at, w, edges, verdict, stats)
    if not done:
        return True
    if at[MADE] == 0 and stage in (SETTLED, MEAN) and w[S] <= w[MARGIN]:
        at[MADE] = single(numbers, ints, at, w, poly, label)
    if stage == CACHED and verdict >= PROVED:
        stats[HITS] += 1
    else:
        stats[NEIGHBOURS if at[NEARBY] == 1 else SEARCHES] += 1
    return False


@kernel
def along_a_line(at, w, poly):
    """Whether two faces meet in an edge and open like a wedge: the normal is not one's (G6)."""
    tie = TIE * w[SIZE]
    if w[KIND] > FACE_B or w[KIND] == 0.0 or abs(w[S]) > tie:
        return False
    near = 0
    for c in range(at[MADE]):
        if poly[SPOT + 3, c] <= tie:
            near += 1
    return near < 3


@kernel
def propose(numbers, ints, at, w, edges, verdict, stats):
    """The witness to judge after one that failed; False if a gap beyond the margin is proved.

    Faces; if they overlap, edge pairs, first within reach and then all; if the bodies are apart,
    nearest vertices. What fails near the old features is sought among all; the best of all is
    taken in the end, proved or not.
    """
    if w[TOL] == 0.0:
        extents(numbers, at, w)
    while True:
        near, stage, tol = at[NEARBY] == 1, at[STAGE], w[TOL]
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
        s = w[BEST + 2]
        apart = (s if stage == FACE else w[FOUND]) > tol
        if stage < NEAREST and apart:
            stats[DISTANCES] += 1
            d = nearest_features(numbers, ints, at, w)
            at[STAGE] = NEAREST
            if d > w[MARGIN]:
                return False
            if d > 0.0:
                return True
        elif stage == FACE or (stage == EDGE_PAIR and not near):
            # a face stands for an edge pair that is not clearly better: its normal has no noise
            reach = max(-s, w[MARGIN]) + tol if stage == FACE else math.inf
            best_edges(numbers, ints, at, w, reach, s + tol + 1e-7 * abs(s), edges)
            at[STAGE] = stage + 1
            if w[FOUND + 1] >= 0.0:
                w[KIND], w[FIRST], w[SECOND] = EDGES, w[FOUND + 1], w[FOUND + 2]
                return w[FOUND] <= w[MARGIN]
        elif near:
            at[NEARBY], at[STAGE], at[MADE] = 0, CACHED, 0
            w[FOUND + 1] = -1.0
        else:
            w[KIND], w[FIRST], w[SECOND] = EDGES, w[FOUND + 1], w[FOUND + 2]
            if w[FOUND + 1] < 0.0:
                w[KIND], w[FIRST] = w[BEST], w[BEST + 1]
            at[STAGE] = SETTLED
            return True
