"""Pair kernels in plain Python that keep the contract, for tests of the detector alone.

Balls are disks and spheres, and capsules of no length: the last of their numbers is the radius.
The cache counts how often a pair was asked for (column 0), and keeps the pair it was made for.
"""

import numpy as np

from drystone.geometry import kinds
from drystone.geometry.narrow import PairKernel
from drystone.model import Geoms


def ball_ball(
    pairs, margin, x, R, first, numbers, first_int, ints, cache, which, point, normal, gap,
    feature, stats,
):  # fmt: skip
    count = 0
    for row, (a, b) in enumerate(pairs):
        if cache[row, 0] == 0:
            cache[row, 1:] = a, b
            stats[1] += 1
        else:
            stats[0] += 1
        assert tuple(cache[row, 1:]) == (a, b), "the cache of another pair"
    for row, (a, b) in enumerate(pairs):
        d = x[a] - x[b]
        far = np.linalg.norm(d)
        free = far - numbers[first[a + 1] - 1] - numbers[first[b + 1] - 1]
        if free <= margin[row]:
            if count == which.size:
                return -1
            n = d / far
            at = x[b] + n * (numbers[first[b + 1] - 1] + free / 2)
            write(row, free, at, n, 7, count, which, point, normal, gap, feature)
            count += 1
    cache[:, 0] += 1
    return count


def ball_plane(
    pairs, margin, x, R, first, numbers, first_int, ints, cache, which, point, normal, gap,
    feature, stats,
):  # fmt: skip
    count = 0
    for row, (a, b) in enumerate(pairs):
        n = R[b, :, -1]
        free = n @ (x[a] - x[b]) - numbers[first[a + 1] - 1]
        if free <= margin[row]:
            if count == which.size:
                return -1
            at = x[a] - n * (numbers[first[a + 1] - 1] + free / 2)
            write(row, free, at, n, 0, count, which, point, normal, gap, feature)
            count += 1
    return count


def write(row, free, at, n, tag, count, which, point, normal, gap, feature):
    which[count], gap[count], feature[count] = row, free, tag
    point[count], normal[count] = at, n


HERE = "tests.geometry.pair_doubles"
BALLS = PairKernel(HERE, "ball_ball", points=1, width=3, counters=("hits", "searches"))
PLANES = PairKernel(HERE, "ball_plane", points=1)
ROUND = (kinds.DISK, kinds.SPHERE, kinds.CAPSULE_2D, kinds.CAPSULE)


def find(kind_a, kind_b):
    """The pair table of the doubles; capsules of no length are balls too, of another kind."""
    if kind_a in ROUND and kind_b in ROUND:
        return BALLS
    if kind_a in ROUND and kind_b in kinds.UNBOUNDED:
        return PLANES
    return None


def geoms_of(dim, kind, radius, body=None, uid=None):
    """Balls and half-spaces of these kinds (ng,) and radii (ng,), a body for each by default."""
    numbers, first = [], [0]
    for k, r in zip(kind, radius, strict=True):
        if k in (kinds.CAPSULE, kinds.CAPSULE_2D):
            numbers += [0.0, r]
        elif k not in kinds.UNBOUNDED:
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
        radius=np.where(np.isin(kind, kinds.UNBOUNDED), np.inf, np.asarray(radius, float)),
    )
