"""The order in which a large island is swept: neighbours together, in parts of equal size.

Moving bodies lie along a curve that keeps neighbours close (Morton's: bits of the coordinates by
turns), which is cut into parts; bodies that do not move come last. Contacts follow the first of
their bodies. All of it depends on contacts and positions alone, so a run repeats to the bit.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.radix import sort_by_keys

CURVE_BITS = 10  # of each coordinate


@kernel
def order_bodies(lo, hi, body, moves, position, number, members, keys, spare, count):
    """Number the bodies of contacts lo:hi anew; returns how many of them move, and how many
    there are.

    moves (nb,); position (nb, dim). number (nb,): new numbers; members (nb,): bodies in their new
    order; keys, spare[0], spare[1] (nb,), count (radix.PLACES,): work.
    """
    nb, dim = position.shape
    for b in range(nb):
        number[b] = -1
    for i in range(lo, hi):
        number[body[i, 0]] = number[body[i, 1]] = 0
    moving = 0
    for b in range(nb):
        if number[b] == 0 and moves[b]:
            members[moving] = b
            moving += 1
    _keys(members[:moving], position, keys)
    sort_by_keys(0, moving, 1 << (dim * CURVE_BITS), keys, members, spare[0], spare[1], count)
    total = moving
    for b in range(nb):
        if number[b] == 0 and not moves[b]:
            members[total] = b
            total += 1
    for j in range(total):
        number[members[j]] = j
    return moving, total


@kernel
def _keys(members, position, keys):
    """keys (n,): numbers that are close for bodies that are."""
    dim = position.shape[1]
    least, side = np.full(dim, np.inf), 0.0
    for k in range(dim):
        most = -np.inf
        for b in members:
            least[k] = min(least[k], position[b, k])
            most = max(most, position[b, k])
        side = max(side, most - least[k])
    scale = (2**CURVE_BITS - 1) / side if side > 0.0 else 0.0
    for j in range(members.size):
        keys[j] = 0
        for k in range(dim):
            x = np.int64((position[members[j], k] - least[k]) * scale)
            for bit in range(CURVE_BITS):
                keys[j] |= ((x >> bit) & 1) << (dim * bit + k)
    return 0


@kernel
def order_contacts(lo, hi, body, number, first_body, order, first):
    """order (hi - lo,): rows by part, then by their first body; returns 0.

    number (nb,): new numbers of bodies, those that do not move last; first_body (parts + 1,):
    where each part's bodies start; first (parts + 2,): where the contacts of each part, and those
    between parts, start, in lines counted from zero.
    """
    parts, moving = first_body.size - 1, first_body[-1]
    place = np.zeros(moving + 1, np.int64)  # contacts by first body; between parts: by the last
    for turn in range(2):
        between = 0
        for i in range(lo, hi):
            a, b = number[body[i, 0]], number[body[i, 1]]
            a, b = min(a, b), max(a, b)
            if b < moving and _part(first_body, a) != _part(first_body, b):
                a = moving
            if turn == 0:
                place[a] += 1
            else:
                order[place[a]] = i
                place[a] += 1
        if turn == 0:
            for a in range(moving + 1):
                count = place[a]
                place[a] = between
                between += count
            for p in range(parts + 1):
                first[p] = place[first_body[p]]
            first[parts + 1] = between
    return 0


@kernel
def _part(first_body, b):
    """Number of the part of a body."""
    p = 0
    while b >= first_body[p + 1]:
        p += 1
    return p
