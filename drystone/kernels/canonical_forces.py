"""Canonical contact forces, from rows of contacts as people read them; see
``constraints.canonical``.

Contacts are edges of a graph whose nodes are the bodies that move; all others are its last node.
Forces within one block of the graph (a biconnected component) balance at every body by themselves,
so that each block is a problem of its own, for ``cones.least_norm``.
"""

import numpy as np

from drystone.kernels._jit import stage
from drystone.kernels.cones.least_norm import Blocks, Work, minimise, project_one
from drystone.kernels.rows import frames_planar, frames_spatial, project_impulses
from drystone.kernels.step.codes import NO_LOAD, SLIPS, STICKS

HELD_SPEED = 1e-6  # of the speeds in an island: contacts that are slower neither open nor slide
NO_FORCE = 1e-9  # of an island's greatest force: what solvers leave where there is none
OUTSIDE = 1e-6  # of its own size: how far a force may lie outside its cone, as solvers leave it
ENOUGH = 1e-10  # of the forces and moments on bodies: what may be left of them
ALONG = 1e-14  # of the second moment of points: what stiffens a turn about the line they lie on
SMALL_BLOCK = 8  # bodies of a block whose order does not matter


@stage
def read_canonical(c, words, largest, done):
    """Replace forces, impulses, spins and states of contacts by the canonical ones.

    c: ``layout.CANONICAL``, with room for these contacts; words: their rows, see ``contact_rows``;
    largest: contacts of the islands that are left as they are begin beyond; done (n,): which are
    canonical. Returns 0, or the entries that the factor of a block needs if c.L is too short.
    """
    if not unpack(c, words, done):
        return 0
    blocks = divide(c, done, largest)
    own, end = c.own, c.end
    for k in range(blocks):
        first, m = end[k], end[k + 1] - end[k]
        if m == 1:  # determined: it stays as it is, to the bit
            done[own[first]] = True
            continue
        if _one_body(c, words, first, m):
            for p in range(m):
                done[own[first + p]] = True
            continue
        groups, entries = assemble(c, first, m)
        if entries < 0.0:
            c.beyond += m
            continue
        if entries > c.L.size:
            return int(entries)
        if solve(c, m, groups) <= ENOUGH:
            for p in range(m):
                _take(c, own[first + p], p)
                _write(c, words, own[first + p])
                done[own[first + p]] = True
    return 0


@stage
def _places(c):
    """Words of a row before its point, gap, force, impulse, spin, velocity, friction and state."""
    dim, at = c.dim, c.names.shape[1]
    gap = at + 2 * dim
    spin = gap + 1 + 2 * dim
    return at, gap, gap + 1, gap + 1 + dim, spin, spin + 1, spin + 1 + dim, spin + 4 + dim


@stage
def unpack(c, words, done):
    """Numbers of the rows as arrays; returns whether there are finite forces, of which none is done
    yet. Where there is no impulse at all, all are."""
    dim, letters, width = c.dim, c.names.shape[1], c.width
    at_point, at_gap, at_force, at_impulse, at_spin, at_velocity, at_mu, at_state = _places(c)
    codes, whole = words.view(np.uint32), words.view(np.int64)
    names, slots, states, nb = c.names, c.slots, c.states, c.inverse_mass.size - 1
    body, island, state = c.body, c.island, c.state
    point, normal, gap, force, impulse = c.point, c.normal, c.gap, c.force, c.impulse
    velocity, spin, mu = c.velocity, c.spin, c.mu
    n, total, some = done.size, 0.0, False
    for i in range(n):
        row = i * width
        done[i] = False
        again = i > 0
        for a in range(2 * letters):
            again = again and codes[2 * row + a] == codes[2 * (row - width) + a]
        for side in range(2):
            body[i, side] = (
                body[i - 1, side]
                if again
                else _body(codes, 2 * row + side * letters, names, slots, nb)
            )
        for a in range(dim):
            point[i, a] = words[row + at_point + a]
            normal[i, a] = words[row + at_point + dim + a]
            force[i, a] = words[row + at_force + a]
            impulse[i, a] = words[row + at_impulse + a]
            velocity[i, a] = words[row + at_velocity + a]
            some = some or impulse[i, a] != 0.0
            total += 0.0 * (point[i, a] + normal[i, a] + force[i, a] + impulse[i, a])
            total += 0.0 * velocity[i, a]
        gap[i], spin[i], mu[i] = words[row + at_gap], words[row + at_spin], words[row + at_mu]
        total += 0.0 * (gap[i] + spin[i] + mu[i])
        island[i] = min(max(whole[row + at_mu + 1], 0), nb)
        state[i] = 0
        for k in range(states.shape[0]):
            if codes[2 * (row + at_state) + 1] == states[k, 1]:  # these letters differ
                state[i] = k
    for i in range(n):
        done[i] = not some
    c.kick, c.beyond = _kick(impulse, force, n), 0
    return total == 0.0 and c.kick > 0.0


@stage
def _body(codes, at, names, slots, none):
    """The number of a body by the letters of its name; `none` if there is no such body."""
    letters, size = names.shape[1], slots.size
    k = hash_of(codes, at, letters) % size
    while slots[k] >= 0:
        b = slots[k]
        alike = True
        for a in range(letters):
            alike = alike and codes[at + a] == names[b, a]
        if alike:
            return b
        k = k + 1 if k + 1 < size else 0
    return none


@stage
def hash_of(codes, at, letters):
    """Of a text of so many characters; what lies beyond its end counts for nothing."""
    out = 0
    for a in range(letters):
        if codes[at + a] != 0:
            out = (31 * out + np.int64(codes[at + a])) & 0x3FFFFFFF
    return out


@stage
def fill_slots(names, slots):
    """Places of names (n, letters) in a table (more than n,) by their hash."""
    for k in range(slots.size):
        slots[k] = -1
    flat = names.reshape(-1)
    for b in range(names.shape[0]):
        k = hash_of(flat, b * names.shape[1], names.shape[1]) % slots.size
        while slots[k] >= 0:
            k = k + 1 if k + 1 < slots.size else 0
        slots[k] = b


@stage
def _kick(impulse, force, n):
    """For how long the impulses acted [s], 0 if there are none."""
    most, other = 0.0, 0.0
    for i in range(n):
        for a in range(impulse.shape[1]):
            if abs(impulse[i, a]) > abs(most):
                most, other = impulse[i, a], force[i, a]
    return most / other if other != 0.0 else 0.0


@stage
def _select(c, n, largest, done):
    """What the law leaves open: closed, sliding, changes and ray of each contact, and its frame.

    A contact is closed if its impulse is more than what its opening stands for, or if it opens
    slower than HELD_SPEED of the speeds in its island: those of its contacts, and those impulses
    gave its bodies. A contact with an impulse slides where the step says so; its force keeps its
    direction, which the law prescribes. One without slides if it is not slow.
    """
    dim, d, nb = c.dim, c.frame.shape[1], c.inverse_mass.size - 1
    normal, gap, impulse, velocity = c.normal, c.gap, c.impulse, c.velocity
    body, island, state, mu = c.body, c.island, c.state, c.mu
    frame, r, ray, u, push = c.frame, c.r, c.ray, c.u, c.push
    inverse, slack = c.inverse_mass, c.slack
    count, speed, greatest = c.count, c.speed, c.greatest
    for b in range(nb + 1):
        count[b], speed[b], greatest[b] = 0, 0.0, 0.0
        for a in range(dim):
            push[b, a] = 0.0
    if dim == 2:
        frames_planar(normal[:n], frame[:n])
    else:
        frames_spatial(normal[:n], c.axis[:n], c.ratios[:n], c.radius, frame[:n])
    project_impulses(frame[:n], impulse[:n], c.spin[:n], r[:n])
    for i in range(n):
        count[island[i]] += 1
        for a in range(dim):
            push[body[i, 0], a] += impulse[i, a]
            push[body[i, 1], a] -= impulse[i, a]
            along = 0.0
            for e in range(dim):
                along += frame[i, a, e] * velocity[i, e]
            u[i, a] = along
    for i in range(n):
        given = max(_given(push, inverse, body[i, 0]), _given(push, inverse, body[i, 1]))
        square, size = 0.0, 0.0
        for a in range(dim):
            square += u[i, a] * u[i, a]
        for a in range(d):
            size += r[i, a] * r[i, a]
        k = island[i]
        speed[k] = max(speed[k], max(given, np.sqrt(square)))
        greatest[k] = max(greatest[k], size)
    for i in range(n):
        c.changes[i] = 0
        k = island[i]
        if largest > 0 and count[k] > largest:
            c.beyond += 1
            continue
        a, b = body[i, 0], body[i, 1]
        slip = 0.0
        for e in range(1, dim):
            slip += u[i, e] * u[i, e]
        slip, opening = np.sqrt(slip), u[i, 0]
        if c.stabilize:
            free = min(slack[a], slack[b])
            free = free if free < np.inf else c.slop
            opening += (gap[i] - min(max(gap[i], -free), free)) / c.kick
        if c.convex:
            opening -= mu[i] * slip
        slow = HELD_SPEED * speed[k]
        held = r[i, 0] * (inverse[a] + inverse[b])
        active = held > opening and held > slow
        closed = active or opening <= slow
        slides = closed and mu[i] > 0.0 and (state[i] == SLIPS if active else slip > slow)
        size = 0.0
        for e in range(d):
            ray[i, e] = 0.0
            if slides and active:
                ray[i, e] = r[i, e]
            elif slides and c.round:
                ray[i, e] = 1.0 if e == 0 else -mu[i] * u[i, e] / slip
            size += ray[i, e] * ray[i, e]
        size = np.sqrt(size)
        for e in range(d):
            ray[i, e] /= size if size > 0.0 else 1.0
        c.slides[i] = 1 if slides else 0
        done[i] = not closed
        moves = inverse[a] > 0.0 or inverse[b] > 0.0
        if closed and moves and (size > 0.0 if slides else _inside(c, i, greatest[k])):
            c.changes[i] = 1


@stage
def _given(push, inverse, b):
    """The speed that impulses give to a body."""
    square = 0.0
    for a in range(push.shape[1]):
        square += push[b, a] * push[b, a]
    return np.sqrt(square) * inverse[b]


@stage
def _inside(c, i, greatest):
    """Whether a force lies in its cone: others obey another law than that of the table (an
    impact's), or are not solved."""
    r, x, size = c.r[i], c.x[0], 0.0
    inside = project_one(r, r.size if c.mu[i] > 0.0 else 1, c.mu[i], c.sides, x, c.D[0])
    if inside and c.mu[i] > 0.0:
        return True
    beyond = 0.0
    for a in range(r.size):
        beyond += (r[a] - x[a]) ** 2
        size += r[a] * r[a]
    return beyond <= max(OUTSIDE * OUTSIDE * size, NO_FORCE * NO_FORCE * greatest)


@stage
def divide(c, done, largest):
    """What the law leaves open, by blocks of the graph of bodies (Hopcroft and Tarjan 1973): block
    k has the contacts c.own[c.end[k] : c.end[k + 1]], in ascending order. Returns the number of
    blocks; done: what is open at the end, which carries nothing."""
    n = done.size
    _select(c, n, largest, done)
    start, near, cursor, depth, low = c.start, c.near, c.cursor, c.depth, c.low
    path, came, cut, edges, label = c.path, c.came, c.cut, c.edges, c.label
    body, node, changes, nodes = c.body, c.node, c.changes, c.node.size
    for v in range(nodes + 1):
        start[v] = 0
    for i in range(n):
        label[i] = -1
        if changes[i]:
            start[node[body[i, 0]] + 1] += 1
            start[node[body[i, 1]] + 1] += 1
    for v in range(nodes):
        start[v + 1] += start[v]
        cursor[v], depth[v] = start[v], -1
    for i in range(n):
        if changes[i]:
            for s in range(2):
                v = node[body[i, s]]
                near[cursor[v]] = i
                cursor[v] += 1
    for v in range(nodes):
        cursor[v] = start[v]
    blocks, held = 0, 0
    for root in range(nodes - 1, -1, -1):
        if depth[root] >= 0 or start[root] == start[root + 1]:
            continue
        depth[root] = low[root] = top = 0
        path[0], came[0], cut[0] = root, -1, 0
        while top >= 0:
            here = path[top]
            if cursor[here] == start[here + 1]:
                top -= 1
                if top < 0:
                    break
                above = path[top]
                low[above] = min(low[above], low[here])
                if low[here] >= depth[above]:
                    while held > cut[top + 1]:
                        held -= 1
                        label[edges[held]] = blocks
                    blocks += 1
                continue
            i = near[cursor[here]]
            cursor[here] += 1
            if i == came[top]:
                continue
            there = node[body[i, 0]]
            if there == here:
                there = node[body[i, 1]]
            if depth[there] < 0:
                top += 1
                path[top], came[top], cut[top] = there, i, held
                depth[there] = low[there] = top
            elif depth[there] >= depth[here]:
                continue
            else:
                low[here] = min(low[here], depth[there])
            edges[held] = i
            held += 1
    return _sorted_blocks(c, n, blocks)


@stage
def _sorted_blocks(c, n, blocks):
    label, end, own, cursor = c.label, c.end, c.own, c.first
    for k in range(blocks + 1):
        end[k] = 0
    for i in range(n):
        if label[i] >= 0:
            end[label[i] + 1] += 1
    for k in range(blocks):
        end[k + 1] += end[k]
        cursor[k] = end[k]
    for i in range(n):
        k = label[i]
        if k >= 0:
            own[cursor[k]] = i
            cursor[k] += 1
    return blocks


@stage
def assemble(c, begin, m):
    """The balance of the bodies of a block, its contacts c.own[begin : begin + m], as a problem
    of ``cones.least_norm``: size, cone, at, G, first, begin, and b = G r.

    Moments are about the middle of each body's contacts, and divided by their greatest distance
    from it. In a block that no fixed body belongs to one body balances if all others do: its rows
    are left out. Returns the number of bodies, and the entries of the factor, -1 where it would
    take more than c.most operations.
    """
    dim, d, w = c.dim, c.frame.shape[1], c.G.shape[2]
    own, node, body, place, order = c.own, c.node, c.body, c.place, c.order
    groups = _ordered(c, begin, m)
    middle, met, point, at = c.middle, c.met, c.point, c.at
    for g in range(groups):
        met[g] = 0
        for a in range(dim):
            middle[g, a] = 0.0
    for p in range(m):
        i = own[begin + p]
        for s in range(2):
            g = place[node[body[i, s]]]
            at[p, s] = w * g if g >= 0 else -1
            if g >= 0:
                met[g] += 1
                for a in range(dim):
                    middle[g, a] += point[i, a]
    far = 0.0
    for g in range(groups):
        for a in range(dim):
            middle[g, a] /= met[g]
        place[order[g]] = -1
    for p in range(m):
        i = own[begin + p]
        for s in range(2):
            if at[p, s] >= 0:
                square = 0.0
                for a in range(dim):
                    square += (point[i, a] - middle[at[p, s] // w, a]) ** 2
                far = max(far, square)
    far = np.sqrt(far) if far > 0.0 else 1.0
    for q in range(w * groups):
        c.b[q] = 0.0
    for p in range(m):
        i = own[begin + p]
        c.size[p] = 1 if c.slides[i] or c.mu[i] <= 0.0 else d
        c.cone[p] = _cone_of(c, i)
        for s in range(2):
            if at[p, s] >= 0:
                _wrench(c, i, p, s, far)
    return groups, _envelope(c, m, groups)


@stage
def _wrench(c, i, p, s, far):
    """G[p, s]: the force and moment that contact i gives to its side s, by its coordinates."""
    dim, d = c.dim, c.frame.shape[1]
    g, frame, ray, point, G, b = c.at[p, s], c.frame[i], c.ray[i], c.point[i], c.G[p, s], c.b
    middle, sign, r = c.middle[g // G.shape[0]], 1.0 - 2.0 * s, c.r[i]
    x, y = point[0] - middle[0], point[1] - middle[1]
    z = point[2] - middle[2] if dim == 3 else 0.0
    for a in range(c.size[p]):
        f0, f1, f2, twist = 0.0, 0.0, 0.0, 0.0
        if c.slides[i]:
            for e in range(dim):
                f0 += ray[e] * frame[e, 0]
                f1 += ray[e] * frame[e, 1]
                f2 += ray[e] * frame[e, 2] if dim == 3 else 0.0
            twist = ray[3] if d == 4 else 0.0
        elif a < dim:
            f0, f1 = frame[a, 0], frame[a, 1]
            f2 = frame[a, 2] if dim == 3 else 0.0
        else:
            twist = 1.0
        f0, f1, f2 = sign * f0, sign * f1, sign * f2
        G[0, a], G[1, a] = f0, f1
        if dim == 2:
            G[2, a] = (x * f1 - y * f0) / far
        else:
            G[2, a] = f2
            G[3, a], G[4, a] = (y * f2 - z * f1) / far, (z * f0 - x * f2) / far
            G[5, a] = (x * f1 - y * f0) / far
            if d == 4:
                for e in range(3):
                    G[3 + e, a] += sign * twist * frame[3, e] / far
        along = r[a]
        if c.slides[i]:
            along = 0.0
            for e in range(d):
                along += ray[e] * r[e]
        for q in range(G.shape[0]):
            b[g + q] += G[q, a] * along


@stage
def _ordered(c, begin, m):
    """Number the bodies of a block that moves: c.order, and c.place of each, -1 for all others;
    returns how many. Of larger blocks by Cuthill and McKee (1969), from an end of the graph."""
    own, node, body, place, order, fixed = c.own, c.node, c.body, c.place, c.order, c.node.size - 1
    n, stands = 0, False
    for p in range(m):
        for s in range(2):
            v = node[body[own[begin + p], s]]
            stands = stands or v == fixed
            if v != fixed and place[v] < 0:
                place[v], order[n] = n, v
                n += 1
    if n > SMALL_BLOCK:
        block = c.label[own[begin]]
        for _ in range(3):  # ends that are farther and farther apart
            root = order[n - 1]
            for g in range(n):
                place[order[g]] = -1
            place[root], order[0], count = 0, root, 1
            for g in range(n):
                v = order[g]
                for k in range(c.start[v], c.start[v + 1]):
                    i = c.near[k]
                    if c.label[i] != block:
                        continue
                    for s in range(2):
                        other = node[body[i, s]]
                        if other != fixed and place[other] < 0:
                            place[other], order[count] = count, other
                            count += 1
        for g in range(n // 2):
            order[g], order[n - 1 - g] = order[n - 1 - g], order[g]
        for g in range(n):
            place[order[g]] = g
    if not stands:
        n -= 1
        place[order[n]] = -1
    return n


@stage
def _envelope(c, m, groups):
    """c.first and c.begin of the factor's rows; returns its entries, or -1."""
    w, at, first, begin = c.G.shape[2], c.at, c.first, c.begin
    for g in range(groups):
        first[w * g] = w * g
    for p in range(m):
        low, high = min(at[p, 0], at[p, 1]), max(at[p, 0], at[p, 1])
        if low >= 0:
            first[high] = min(first[high], low)
    entries, work = 0.0, 0.0
    begin[0] = 0
    for q in range(w * groups):
        first[q] = first[q - q % w]
        wide = q - first[q] + 1
        entries, work = entries + wide, work + 1.0 * wide * wide
        begin[q + 1] = begin[q] + wide
    return entries if work <= c.most else -1.0


@stage
def _cone_of(c, i):
    """The coefficient of friction, never less than what the solver's own force asks for: it lies in
    its cone up to the solver's tolerance, and must stay possible."""
    r, mu, used = c.r[i], c.mu[i], 0.0
    for a in range(1, r.size):
        used += r[a] * r[a]
    used = np.sqrt(used)
    if c.sides > 0:
        half = np.pi / c.sides
        angle = np.arctan2(r[2], r[1])
        used *= np.cos(angle - (np.floor(angle / (2.0 * half)) + 0.5) * 2.0 * half) / np.cos(half)
    needed = used / r[0] if r[0] > 0.0 else 0.0
    return min(max(needed, mu), (1.0 + 2.0 * OUTSIDE) * mu)


@stage
def solve(c, m, groups):
    """Forces of least norm of m contacts, in c.best; returns what is left of the balance."""
    n, some = c.G.shape[2] * groups, False
    b = c.b[:n]
    for q in range(n):
        some = some or b[q] != 0.0
    if not some:
        c.best[:m] = 0.0
        return 0.0
    blocks = Blocks(c.size[:m], c.cone[:m], c.at[:m], c.G[:m], c.sides)
    work = Work(
        c.z[:m], c.x[:m], c.best[:m], c.D[:m], c.y[:n], c.new[:n], c.left[:n], c.step[:n],
        c.first[:n], c.begin[: n + 1], c.L,
    )  # fmt: skip
    return minimise(blocks, b, work)


@stage
def _take(c, i, p):
    """r of contact i from the coordinates c.best[p]."""
    r, ray, x = c.r[i], c.ray[i], c.best[p]
    if c.slides[i]:
        along = x[0]
        for e in range(r.size):
            along -= ray[e] * r[e]
        for e in range(r.size):
            r[e] += along * ray[e]
    else:
        for e in range(r.size):
            r[e] = x[e]


@stage
def _write(c, words, i):
    """The force of contact i by its r, in its row, and the state it means."""
    dim, r, frame = c.dim, c.r[i], c.frame[i]
    _, _, at_force, at_impulse, at_spin, _, _, at_state = _places(c)
    row = i * c.width
    for e in range(dim):
        total = 0.0
        for a in range(dim):
            total += frame[a, e] * r[a]
        words[row + at_impulse + e], words[row + at_force + e] = total, total / c.kick
    if r.size > dim:
        words[row + at_spin] = r[3] * c.radius
    state = NO_LOAD if not r[0] > 0.0 else SLIPS if c.slides[i] else STICKS
    codes = words.view(np.uint32)
    for a in range(c.states.shape[1]):
        codes[2 * (row + at_state) + a] = c.states[state, a]


@stage
def _one_body(c, words, begin, m):
    """The closed form for one body, or two on each other, whose contacts stick in round cones:

    f_i = F / m + w x p_i, J w = M, J = sum |p_i|^2 - p_i p_i',

    with F and M the sums of forces and moments, p_i from the middle of the points. Returns whether
    it applies, with all f_i in their cones; then they are written.
    """
    own, body, node, point, impulse, normal = c.own, c.body, c.node, c.point, c.impulse, c.normal
    dim, best, i = c.dim, c.best, own[begin]
    if not c.round or c.stretched:
        return False
    low, high = min(node[body[i, 0]], node[body[i, 1]]), max(node[body[i, 0]], node[body[i, 1]])
    x, y, z, f0, f1, f2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    first = body[i, 0]
    for p in range(m):
        i = own[begin + p]
        a, b = node[body[i, 0]], node[body[i, 1]]
        if min(a, b) != low or max(a, b) != high or c.slides[i] or not c.mu[i] > 0.0:
            return False
        sign = 1.0 if node[first] == a else -1.0
        x, y = x + point[i, 0], y + point[i, 1]
        f0, f1 = f0 + sign * impulse[i, 0], f1 + sign * impulse[i, 1]
        if dim == 3:
            z, f2 = z + point[i, 2], f2 + sign * impulse[i, 2]
    x, y, z, f0, f1, f2 = x / m, y / m, z / m, f0 / m, f1 / m, f2 / m
    xx, yy, zz, xy, xz, yz, m0, m1, m2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for p in range(m):
        i = own[begin + p]
        sign = 1.0 if node[first] == node[body[i, 0]] else -1.0
        a, b, d = point[i, 0] - x, point[i, 1] - y, point[i, 2] - z if dim == 3 else 0.0
        g0, g1, g2 = sign * impulse[i, 0], sign * impulse[i, 1], 0.0
        if dim == 3:
            g2 = sign * impulse[i, 2]
        xx, yy, zz = xx + a * a, yy + b * b, zz + d * d
        xy, xz, yz = xy + a * b, xz + a * d, yz + b * d
        m0, m1, m2 = m0 + b * g2 - d * g1, m1 + d * g0 - a * g2, m2 + a * g1 - b * g0
    w0, w1, w2 = _turn(xx, yy, zz, xy, xz, yz, m0, m1, m2)
    for p in range(m):
        i = own[begin + p]
        sign = 1.0 if node[first] == node[body[i, 0]] else -1.0
        a, b, d = point[i, 0] - x, point[i, 1] - y, point[i, 2] - z if dim == 3 else 0.0
        best[p, 0] = sign * (f0 + w1 * d - w2 * b)
        best[p, 1] = sign * (f1 + w2 * a - w0 * d)
        pressed = best[p, 0] * normal[i, 0] + best[p, 1] * normal[i, 1]
        square = best[p, 0] ** 2 + best[p, 1] ** 2
        if dim == 3:
            best[p, 2] = sign * (f2 + w0 * b - w1 * a)
            pressed, square = pressed + best[p, 2] * normal[i, 2], square + best[p, 2] ** 2
        mu = c.mu[i]
        if not (pressed > 0.0 and square <= (1.0 + mu * mu) * pressed * pressed):
            return False
    for p in range(m):
        i, frame = own[begin + p], c.frame[own[begin + p]]
        for a in range(dim):
            c.r[i, a] = 0.0
            for e in range(dim):
                c.r[i, a] += frame[a, e] * best[p, e]
        _write(c, words, i)
    return True


@stage
def _turn(xx, yy, zz, xy, xz, yz, m0, m1, m2):
    """w with (sum |p|^2 - p p') w = m, by Cholesky; points on a line leave a turn about it open,
    which is none then."""
    shift = ALONG * (xx + yy + zz)
    if not shift > 0.0:
        return 0.0, 0.0, 0.0
    l00 = np.sqrt(yy + zz + shift)
    l10, l20 = -xy / l00, -xz / l00
    l11 = np.sqrt(xx + zz + shift - l10 * l10)
    l21 = (-yz - l20 * l10) / l11
    l22 = np.sqrt(xx + yy + shift - l20 * l20 - l21 * l21)
    a = m0 / l00
    b = (m1 - l10 * a) / l11
    w2 = (m2 - l20 * a - l21 * b) / l22 / l22
    w1 = (b - l21 * w2) / l11
    return (a - l10 * w1 - l20 * w2) / l00, w1, w2
