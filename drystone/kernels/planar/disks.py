"""Disks with disks and with half-planes: closed forms, kept lean because piles have thousands."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms


@kernel
def contact_disk_disk(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Contract in ``drystone.geometry.narrow``; concentric disks are pushed apart along y."""
    geom, margin = pairs.geom, pairs.margin
    x, first, numbers = geoms.x, geoms.first, geoms.numbers
    which, point, normal, gap, feature = contacts
    count = 0
    for k in range(margin.size):
        a, b = geom[k, 0], geom[k, 1]
        ra, rb = numbers[first[a]], numbers[first[b]]
        dx, dy = x[a, 0] - x[b, 0], x[a, 1] - x[b, 1]
        reach = ra + rb + margin[k]
        square = dx * dx + dy * dy
        if square > reach * reach:
            continue
        if count == which.shape[0]:
            return -1
        d = np.sqrt(square)
        if d > 0.0:
            nx, ny = dx / d, dy / d
        else:
            nx, ny = 0.0, 1.0
        middle = 0.5 * (d + rb - ra)  # from the centre of B
        which[count], feature[count], gap[count] = k, 0, d - ra - rb
        normal[count, 0], normal[count, 1] = nx, ny
        point[count, 0], point[count, 1] = x[b, 0] + middle * nx, x[b, 1] + middle * ny
        count += 1
    return count


@kernel
def contact_disk_half_plane(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Contract in ``drystone.geometry.narrow``."""
    geom, margin = pairs.geom, pairs.margin
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    which, point, normal, gap, feature = contacts
    count = 0
    for k in range(margin.size):
        a, b = geom[k, 0], geom[k, 1]
        r = numbers[first[a]]
        nx, ny = R[b, 0, 1], R[b, 1, 1]
        d = nx * (x[a, 0] - x[b, 0]) + ny * (x[a, 1] - x[b, 1])
        if d - r > margin[k]:
            continue
        if count == which.shape[0]:
            return -1
        middle = 0.5 * (d + r)  # from the centre of A to halfway between its lowest point and B
        which[count], feature[count], gap[count] = k, 0, d - r
        normal[count, 0], normal[count, 1] = nx, ny
        point[count, 0], point[count, 1] = x[a, 0] - middle * nx, x[a, 1] - middle * ny
        count += 1
    return count
