"""Pair kernels that keep the contract in the plainest way, for tests of the detector alone.

Balls are disks and spheres, and capsules of no length: the last of their numbers is the radius.
The cache counts how often a pair was asked for (column 0), and keeps the pair it was made for;
rows that hold another pair are counted as strangers.
"""

import math

import numpy as np

from drystone.geometry.kinds import PairKernel
from drystone.kernels import kinds
from drystone.kernels._jit import kernel
from drystone.model import Geoms
from tests.geometry.kind_tables import UNBOUNDED


@kernel
def ball_ball(pairs, geoms, contacts):
    pair, margin, cache, stats, _ = pairs
    x, _, _, first, numbers, _, _ = geoms
    which, point, normal, gap, feature = contacts
    count = 0
    for row in range(margin.size):
        a, b = pair[row, 0], pair[row, 1]
        if cache[row, 0] == 0:
            cache[row, 1], cache[row, 2] = a, b
            stats[1] += 1
        else:
            stats[0] += 1
        stats[2] += 1 if cache[row, 1] != a or cache[row, 2] != b else 0
        r, s = numbers[first[a + 1] - 1], numbers[first[b + 1] - 1]
        far = 0.0
        for k in range(x.shape[1]):
            far += (x[a, k] - x[b, k]) ** 2
        free = math.sqrt(far) - r - s
        if free > margin[row]:
            continue
        if count == which.size:
            return -1
        which[count], gap[count], feature[count] = row, free, 7
        for k in range(x.shape[1]):
            normal[count, k] = (x[a, k] - x[b, k]) / math.sqrt(far)
            point[count, k] = x[b, k] + normal[count, k] * (s + free / 2)
        count += 1
    for row in range(margin.size):
        cache[row, 0] += 1
    return count


@kernel
def ball_plane(pairs, geoms, contacts):
    pair, margin, _, _, _ = pairs
    x, R, _, first, numbers, _, _ = geoms
    which, point, normal, gap, feature = contacts
    count, last = 0, x.shape[1] - 1
    for row in range(margin.size):
        a, b = pair[row, 0], pair[row, 1]
        r = numbers[first[a + 1] - 1]
        free = -r
        for k in range(x.shape[1]):
            free += R[b, k, last] * (x[a, k] - x[b, k])
        if free > margin[row]:
            continue
        if count == which.size:
            return -1
        which[count], gap[count], feature[count] = row, free, 0
        for k in range(x.shape[1]):
            normal[count, k] = R[b, k, last]
            point[count, k] = x[a, k] - R[b, k, last] * (r + free / 2)
        count += 1
    return count


HERE = "tests.geometry.pair_doubles"
BALLS = PairKernel(HERE, "ball_ball", points=1, width=3, counters=("hits", "searches", "strangers"))
PLANES = PairKernel(HERE, "ball_plane", points=1)
ROUND = (kinds.DISK, kinds.SPHERE, kinds.CAPSULE_2D, kinds.CAPSULE)


def find(kind_a, kind_b):
    """The pair table of the doubles; capsules of no length are balls too, of another kind."""
    if kind_a in ROUND and kind_b in ROUND:
        return BALLS
    if kind_a in ROUND and kind_b in UNBOUNDED:
        return PLANES
    return None


def geoms_of(dim, kind, radius, body=None, uid=None):
    """Balls and half-spaces of these kinds (ng,) and radii (ng,), a body for each by default."""
    numbers, first = [], [0]
    for k, r in zip(kind, radius, strict=True):
        if k in (kinds.CAPSULE, kinds.CAPSULE_2D):
            numbers += [0.0, r]
        elif k not in UNBOUNDED:
            numbers.append(r)
        first.append(len(numbers))
    ng = len(kind)
    body = np.arange(ng) if body is None else np.asarray(body)
    uid = np.arange(ng) if uid is None else np.asarray(uid)
    kind = np.asarray(kind, np.int64)
    eye = np.broadcast_to(np.eye(dim), (ng, dim, dim)).copy()
    return Geoms(
        dim=dim,
        kind=kind,
        body=body.astype(np.int64),
        uid=uid.astype(np.int64),
        offset=np.zeros((ng, dim)),
        turn=eye,
        first=np.array(first),
        numbers=np.array(numbers, float),
        first_int=np.zeros(ng + 1, np.int64),
        ints=np.zeros(0, np.int64),
        radius=np.where(np.isin(kind, UNBOUNDED), np.inf, np.asarray(radius, float)),
    )
