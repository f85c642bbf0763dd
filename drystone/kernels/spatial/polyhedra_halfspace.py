"""Contacts of polyhedra with half-spaces: all vertices within the margin."""

import numpy as np

from drystone.kernels._jit import kernel

FEW = 32  # vertices up to which all of them are looked at
HITS, CLIMBS = 0, 1  # stats


@kernel
def contact_polyhedron_half_space(
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
    """Vertices of polyhedra near half-spaces; see ``geometry.narrow`` for the arguments.

    Of a large body, the vertex nearest to the plane is found by climbing from the one of the last
    step (cache[0] is its number + 1), and the others within the margin from there: the vertices
    below a plane are connected by edges.
    """
    nv = 0
    for p in range(pairs.shape[0]):
        nv = max(nv, ints[first_int[pairs[p, 0]]])
    seen, found, heights = np.full(nv, -1), np.zeros(nv, np.int64), np.zeros(nv)
    made = 0
    for p in range(pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        nx, ny, nz = R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
        o = nx * (x[a, 0] - x[b, 0]) + ny * (x[a, 1] - x[b, 1]) + nz * (x[a, 2] - x[b, 2])
        dx = R[a, 0, 0] * nx + R[a, 1, 0] * ny + R[a, 2, 0] * nz
        dy = R[a, 0, 1] * nx + R[a, 1, 1] * ny + R[a, 2, 1] * nz
        dz = R[a, 0, 2] * nx + R[a, 1, 2] * ny + R[a, 2, 2] * nz
        V, count = first[a], 0
        if ints[first_int[a]] <= FEW:
            for v in range(ints[first_int[a]]):
                h = o + dx * numbers[V] + dy * numbers[V + 1] + dz * numbers[V + 2]
                V += 3
                if h <= margin[p]:
                    found[count], heights[count] = v, h
                    count += 1
        else:
            count = below(
                numbers,
                ints,
                first[a],
                first_int[a],
                dx,
                dy,
                dz,
                margin[p] - o,
                p,
                cache,
                seen,
                found,
                stats,
            )
            for c in range(count):
                i = first[a] + 3 * found[c]
                heights[c] = o + dx * numbers[i] + dy * numbers[i + 1] + dz * numbers[i + 2]
        if made + count > gap.size:
            return -1
        for c in range(count):
            i, h = first[a] + 3 * found[c], heights[c]
            which[made], gap[made], feature[made] = p, h, found[c]
            normal[made, 0], normal[made, 1], normal[made, 2] = nx, ny, nz
            for k in range(3):
                point[made, k] = (
                    x[a, k]
                    - 0.5 * h * normal[made, k]
                    + (
                        R[a, k, 0] * numbers[i]
                        + R[a, k, 1] * numbers[i + 1]
                        + R[a, k, 2] * numbers[i + 2]
                    )
                )
            made += 1
    return made


@kernel
def below(numbers, ints, V, i, dx, dy, dz, level, p, cache, seen, found, stats):
    """Vertices with d.v <= level in ascending order into found; returns how many."""
    nv, nf, ne = ints[i], ints[i + 1], ints[i + 2]
    start = i + 4 + nf + ints[i + 3 + nf] + 4 * ne
    star = start + nv + 1
    v = int(cache[p, 0]) - 1 if cache[p, 0] > 0.0 else 0
    least = dx * numbers[V + 3 * v] + dy * numbers[V + 3 * v + 1] + dz * numbers[V + 3 * v + 2]
    hit = True
    for _ in range(nv):
        here = v
        for e in range(star + ints[start + here], star + ints[start + here + 1]):
            j = V + 3 * ints[e]
            h = dx * numbers[j] + dy * numbers[j + 1] + dz * numbers[j + 2]
            if h < least:
                least, v = h, ints[e]
        if v == here:
            break
        hit = False
    stats[HITS if hit and cache[p, 0] > 0.0 else CLIMBS] += 1
    cache[p, 0] = v + 1
    if least > level:
        return 0
    found[0], seen[v] = v, p
    count, done = 1, 0
    while done < count:
        w = found[done]
        done += 1
        for e in range(star + ints[start + w], star + ints[start + w + 1]):
            u = ints[e]
            j = V + 3 * u
            if seen[u] == p:
                continue
            if dx * numbers[j] + dy * numbers[j + 1] + dz * numbers[j + 2] <= level:
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
