"""Contacts of polyhedra with half-spaces: all vertices within the margin."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.polyhedra_shape import HITS

FEW_VERTICES = 32  # vertices up to which all of them are looked at
CLIMBS = 1  # stats, after HITS


@kernel
def contact_polyhedron_half_space(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Vertices of polyhedra near half-spaces; see ``geometry.narrow`` for the arguments.

    The vertices of a large body are found from the lowest one: those below a plane are connected
    by edges. cache[0] is the number + 1 of the lowest vertex of the last step.
    """
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, _kind, first, numbers, first_int, ints = geoms
    which, point, normal, gap, feature = contacts
    nv = 0
    for p in range(margin.size):
        nv = max(nv, ints[first_int[geom[p, 0]]])
    seen, found, d = np.full(nv, -1), np.zeros(nv, np.int64), np.zeros(3)
    made = 0
    for p in range(margin.size):
        a, b = geom[p, 0], geom[p, 1]
        V, o = first[a], 0.0
        for i in range(3):  # the normal in the body's frame, and the height of its origin
            o += R[b, i, 2] * (x[a, i] - x[b, i])
            d[i] = R[a, 0, i] * R[b, 0, 2] + R[a, 1, i] * R[b, 1, 2] + R[a, 2, i] * R[b, 2, 2]
        count = ints[first_int[a]]
        if count > FEW_VERTICES:
            count = below(
                numbers, ints, V, first_int[a], d, margin[p] - o, p, cache, seen, found, stats
            )
        else:
            for c in range(count):
                found[c] = c
        for c in range(count):
            i = V + 3 * found[c]
            h = o + d[0] * numbers[i] + d[1] * numbers[i + 1] + d[2] * numbers[i + 2]
            if h > margin[p]:
                continue
            if made == gap.size:
                return -1
            which[made], gap[made], feature[made] = p, h, found[c]
            for k in range(3):
                v = R[a, k, 0] * numbers[i] + R[a, k, 1] * numbers[i + 1]
                v += R[a, k, 2] * numbers[i + 2]
                normal[made, k] = R[b, k, 2]
                point[made, k] = x[a, k] + v - 0.5 * h * R[b, k, 2]
            made += 1
    return made


@kernel
def below(numbers, ints, V, i, d, level, p, cache, seen, found, stats):
    """Vertices v with d.v <= level (or a rounding above it), ascending, in found; how many."""
    nv, nf, ne = ints[i], ints[i + 1], ints[i + 2]
    start = i + 4 + nf + ints[i + 3 + nf] + 4 * ne
    star = start + nv + 1
    v = max(int(cache[p, 0]) - 1, 0)
    moves, here = -1, -1
    least = level
    while here != v:  # down to the lowest vertex
        here = v
        moves += 1
        j = V + 3 * v
        least = d[0] * numbers[j] + d[1] * numbers[j + 1] + d[2] * numbers[j + 2]
        for e in range(star + ints[start + here], star + ints[start + here + 1]):
            j = V + 3 * ints[e]
            h = d[0] * numbers[j] + d[1] * numbers[j + 1] + d[2] * numbers[j + 2]
            if h < least:
                least, v = h, ints[e]
    stats[HITS if moves == 0 and cache[p, 0] > 0.0 else CLIMBS] += 1
    cache[p, 0] = v + 1
    if least > level:
        return 0
    found[0], seen[v] = v, p
    count, done = 1, 0
    while done < count:
        here = found[done]
        done += 1
        for e in range(star + ints[start + here], star + ints[start + here + 1]):
            u = ints[e]
            j = V + 3 * u
            h = d[0] * numbers[j] + d[1] * numbers[j + 1] + d[2] * numbers[j + 2]
            if seen[u] != p and h <= level:
                seen[u] = p
                found[count] = u
                count += 1
    for c in range(1, count):
        u, k = found[c], c
        while k > 0 and found[k - 1] > u:
            found[k] = found[k - 1]
            k -= 1
        found[k] = u
    return count
