"""How a witness is found: adjacent features, all faces and edges, nearest vertices (G3 to G6)."""

import math

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.polyhedra_closest import nearest_features
from drystone.kernels.spatial.polyhedra_region import region
from drystone.kernels.spatial.polyhedra_search import (
    best_face,
    mean_normal,
    nearest_corner,
    try_edges,
)
from drystone.kernels.spatial.polyhedra_shape import (
    EDGE,
    EDGES,
    FACE_A,
    FACE_B,
    FIRST,
    FOURTH,
    KIND,
    NE,
    NEAR_A,
    NEAR_B,
    POINTS,
    SECOND,
    SIZE,
    THIRD,
    TOL,
    G,
    N,
    S,
    extent,
)
from drystone.kernels.spatial.polyhedra_witness import (
    BROKEN,
    DOUBTFUL,
    FAR,
    PROVED,
    assess,
    faces_of,
    separate,
    single,
)

HITS, NEIGHBOURS, SEARCHES, DISTANCES = 0, 1, 2, 3  # stats
TIE = 1e-9  # of the smaller body: faces this near to touching share the normal of a corner (G6)
SAME = 5e-13  # 1 - cos of the angle (1e-6) within which a face's normal stands for another


@kernel
def find(
    numbers,
    ints,
    lay,
    pose,
    row,
    margin,
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
):
    """A new witness: first among features adjacent to the old one, then among all."""
    near = row[KIND] != 0.0 and verdict != BROKEN
    if row[TOL] == 0.0:
        a, b = extent(numbers, lay, 0), extent(numbers, lay, 1)
        row[SIZE] = min(a, b)
        row[TOL] = 1e-10 * min(a, b) + 1e-14 * max(a, b)
    if near and row[KIND] == FACE_A:
        row[NEAR_A] = nearest_corner(numbers, ints, lay, pose, 0, int(row[FIRST]), int(row[NEAR_B]))
    elif near and row[KIND] == FACE_B:
        row[NEAR_B] = nearest_corner(numbers, ints, lay, pose, 1, int(row[FIRST]), int(row[NEAR_A]))
    for full in range(2):
        if full == 0 and not near:
            continue
        verdict = look(
            numbers,
            ints,
            lay,
            pose,
            row,
            margin,
            full == 0,
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
        if verdict >= PROVED:
            stats[SEARCHES if full == 1 else NEIGHBOURS] += 1
            return verdict
    stats[SEARCHES] += 1
    return verdict


@kernel
def look(
    numbers,
    ints,
    lay,
    pose,
    row,
    margin,
    near,
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
):
    """Plane of greatest separation and its contacts; the answer counts if PROVED or FAR.

    Unless `near`, whatever is best in the end is taken.
    """
    best_face(numbers, ints, lay, pose, row, geo, margin, near)
    if row[KIND] == 0.0:
        return BROKEN
    if geo[S] > margin:
        return FAR
    keep = work[3]
    keep[0], keep[1], keep[2] = row[KIND], row[FIRST], geo[S]
    keep[3], keep[4], keep[5] = geo[N], geo[N + 1], geo[N + 2]
    s, tol = geo[S], row[TOL]
    verdict = assess(numbers, ints, lay, pose, row, margin, geo, t, poly, label, spot, ids, count)
    if verdict >= PROVED:
        return verdict
    edged = False
    for unbounded in range(2):
        if s > tol or (near and unbounded == 1):
            break
        # a face stands for an edge pair that is not clearly better: its normal has no noise
        reach = math.inf if unbounded == 1 else max(-keep[2], margin) + tol
        bar = keep[2] + tol + 1e-7 * abs(keep[2])
        edged = try_edges(
            numbers, ints, lay, pose, row, geo, near, reach, bar, chosen, edges, work[0]
        )
        if not edged:
            continue
        s = work[0, 0]
        if s > margin:
            return FAR
        verdict = assess(
            numbers, ints, lay, pose, row, margin, geo, t, poly, label, spot, ids, count
        )
        if verdict >= PROVED:
            break
    if verdict < PROVED and s > tol:
        stats[DISTANCES] += 1
        verdict = closest(
            numbers,
            ints,
            lay,
            pose,
            row,
            margin,
            geo,
            t,
            poly,
            label,
            spot,
            ids,
            count,
            X,
            pair,
            work,
        )
    if verdict >= PROVED:
        return flatten(
            numbers,
            ints,
            lay,
            pose,
            row,
            margin,
            verdict,
            geo,
            t,
            poly,
            label,
            spot,
            ids,
            count,
            keep,
        )
    if near:
        return DOUBTFUL
    return settle(
        numbers, ints, lay, pose, row, margin, edged, geo, t, poly, label, spot, ids, count, keep
    )


@kernel
def closest(
    numbers, ints, lay, pose, row, margin, geo, t, poly, label, spot, ids, count, X, pair, work
):
    """Witness of bodies that are apart from their nearest vertices; DOUBTFUL if that fails."""
    d = nearest_features(numbers, ints, lay, pose, row, geo, X, pair, work)
    if d < 0.0:
        return DOUBTFUL
    if d > margin:
        return FAR
    a0, a1, b0, b1 = int(row[FIRST]), int(row[SECOND]), int(row[THIRD]), int(row[FOURTH])
    if a0 != a1 and b0 != b1:
        i, j = edge_between(ints, lay, 0, a0, a1), edge_between(ints, lay, 1, b0, b1)
        if i >= 0 and j >= 0:
            row[KIND], row[FIRST], row[SECOND] = EDGES, i, j
            verdict = assess(
                numbers, ints, lay, pose, row, margin, geo, t, poly, label, spot, ids, count
            )
            if verdict >= PROVED:
                return verdict
            row[KIND], row[FIRST], row[SECOND] = POINTS, a0, a1
    return assess(numbers, ints, lay, pose, row, margin, geo, t, poly, label, spot, ids, count)


@kernel
def edge_between(ints, lay, k, v, w):
    """Number of the edge of body k between two vertices, -1 if there is none."""
    for i in range(lay[k, NE]):
        e = lay[k, EDGE] + 4 * i
        if (ints[e] == v and ints[e + 1] == w) or (ints[e] == w and ints[e + 1] == v):
            return i
    return -1


@kernel
def flatten(
    numbers, ints, lay, pose, row, margin, verdict, geo, t, poly, label, spot, ids, count, keep
):
    """Prefer the best face to a witness of all but the same normal: noise has no place in it."""
    cosine = geo[N] * keep[3] + geo[N + 1] * keep[4] + geo[N + 2] * keep[5]
    if verdict == FAR or cosine < 1.0 - SAME:
        return verdict
    kind, i, j, s = row[KIND], row[FIRST], row[SECOND], geo[S]
    row[KIND], row[FIRST] = keep[0], keep[1]
    assess(numbers, ints, lay, pose, row, margin, geo, t, poly, label, spot, ids, count)
    if count[0] > 0 and abs(geo[G] - s) <= row[TOL] + 1e-7 * abs(s):
        return PROVED
    row[KIND], row[FIRST], row[SECOND] = kind, i, j
    return assess(numbers, ints, lay, pose, row, margin, geo, t, poly, label, spot, ids, count)


@kernel
def settle(
    numbers, ints, lay, pose, row, margin, edged, geo, t, poly, label, spot, ids, count, keep
):
    """The best axis of a full search, proved or not; corners that touch get a mean normal."""
    if not edged or row[KIND] == POINTS:
        row[KIND], row[FIRST] = keep[0], keep[1]
    assess(numbers, ints, lay, pose, row, margin, geo, t, poly, label, spot, ids, count)
    tie = TIE * row[SIZE]
    if row[KIND] != EDGES and abs(geo[S]) <= tie and count[0] < 3:
        found = mean_normal(numbers, ints, lay, pose, row, geo, tie)
        row[KIND] = 0.0
        if found:
            separate(numbers, ints, lay, pose, row, geo)
            fa, fb = faces_of(numbers, ints, lay, row, geo)
            count[0] = 0
            if fa >= 0 and fb >= 0:
                count[0] = region(
                    numbers, ints, lay, pose, row, geo, fa, fb, t, poly, label, spot, ids
                )
        else:
            row[KIND], row[FIRST] = keep[0], keep[1]
            assess(numbers, ints, lay, pose, row, margin, geo, t, poly, label, spot, ids, count)
    if count[0] == 0:
        count[0] = single(numbers, ints, lay, pose, row, geo, spot, ids)
    return PROVED
