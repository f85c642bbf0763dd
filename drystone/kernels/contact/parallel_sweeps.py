"""One large island, swept in parts: the same bits on any number of threads.

Its moving bodies are cut into parts, nearby ones together. A sweep first takes the contacts inside
each part, which share no moving body with other parts and so go to any thread, then, on one
thread, those between parts. Sums are kept by part and added in their order. So what is computed
depends on the parts alone.

Bodies and contacts come in the order of ``parallel_order``: the lines of both are copied into it. A
sweep then streams through memory, which in large worlds is worth more than the second thread.
"""

from drystone.kernels._barrier import meet
from drystone.kernels._jit import kernel
from drystone.kernels._prefetch import AHEAD, fetch
from drystone.kernels.contact.packed import (
    body_beyond,
    load_body,
    load_contact,
    ratios,
    wake,
    wakes_all,
)
from drystone.kernels.contact.packed_planar import judge_planar, sweep_planar
from drystone.kernels.contact.packed_spatial import judge_spatial, sweep_spatial
from drystone.kernels.layout import CONTACT_2 as C2
from drystone.kernels.layout import CONTACT_3 as C3


@kernel
def gather(s, p):
    """Lines of the island in the new order, with what a solve brings; returns 0.

    s: fields of ``layout`` as ``contact.sweeps`` has them; p: of ``layout.PARTS``.
    """
    order, members, last = p.order, p.members, p.order.size - 1
    for j in range(order.size):
        i = order[min(j + AHEAD, last)]
        fetch(s.body, i, 0)
        fetch(s.bias, i, 0)
        fetch(s.r, i, 0)
        for e in range(0, s.contact.shape[1], 8):
            fetch(s.contact, i, e)
        i = order[j]
        p.near[j, 0], p.near[j, 1] = p.number[s.body[i, 0]], p.number[s.body[i, 1]]
        for e in range(s.contact.shape[1]):
            p.line[j, e] = s.contact[i, e]
        load_contact(i, s.bias, s.mu, s.r, j, p.line)
    for j in range(members.size):
        b = members[j]
        for e in range(s.motion.shape[1]):
            p.state[j, e] = s.motion[b, e]
        load_body(b, s.v, j, p.state)
    return 0


@kernel
def scatter(s, p):
    """Impulses, contact velocities and body velocities back; returns 0."""
    order, members, last = p.order, p.members, p.order.size - 1
    at = C2.R if s.r.shape[1] == 2 else C3.R
    for j in range(order.size):
        i = order[min(j + AHEAD, last)]
        fetch(s.r, i, 0)
        fetch(s.u, i, 0)
        for a in range(s.r.shape[1]):
            s.r[order[j], a] = p.line[j, at + a]
            s.u[order[j], a] = p.u[j, a]
    for j in range(members.size):
        for e in range(s.v.shape[1]):
            s.v[members[j], e] = p.state[j, e]
    return 0


@kernel
def sweep_parts(share, done, beta, phase):
    """What a thread does of a pass over the island, after `done` passes; returns the sum of
    |change|^2 unit^2. Sums of two kinds of phases by turns: a thread may be one ahead of another.
    """
    p, flip = share.p, phase & 1
    parts, sums = p.first_body.size - 1, p.sums
    whole = wakes_all(done, p.first[parts + 1])
    for k in range(share.rank, parts, share.threads):
        for b in range(p.first_body[k], p.first_body[k + 1] if done > 0 else p.first_body[k]):
            body_beyond(p.state, b, beta, p.u.shape[1] == 2)
        sums[flip, k, 0] = _sweep(p, k, beta, whole)
    meet(p.gate, share.threads)
    if share.rank == 0:
        sums[flip, parts, 0] = _sweep(p, parts, beta, whole)
    meet(p.gate, share.threads)
    change = 0.0
    for k in range(parts + 1):
        change += sums[flip, k, 0]
    return change


@kernel
def judge_parts(share, phase):
    """Both residuals of the island; p.u gets the velocities of its contacts."""
    p, flip = share.p, phase & 1
    for k in range(share.rank, p.first_body.size, share.threads):
        _judge(p, k, flip)
    meet(p.gate, share.threads)
    return ratios(_total(p.sums, flip), p.plain_q, p.free_q)


@kernel
def _sweep(p, k, beta, whole):
    """One pass over part k."""
    lo, hi = p.first[k], p.first[k + 1]
    if p.u.shape[1] == 3:
        return sweep_spatial(lo, hi, p.near, p.line, p.state, beta)
    if whole:
        p.up[k] = wake(lo, hi, p.awake)
    awake = p.awake[lo : lo + p.up[k]]
    change, p.up[k] = sweep_planar(awake, p.near, p.line, p.state, p.law, beta)
    return change


@kernel
def _judge(p, k, flip):
    lo, hi = p.first[k], p.first[k + 1]
    if p.u.shape[1] == 2:
        part = judge_planar(lo, hi, p.near, p.line, p.state, p.law, p.u)
    else:
        part = judge_spatial(lo, hi, p.near, p.line, p.state, p.u)
    for e in range(6):
        p.sums[flip, k, e] = part[e]


@kernel
def _total(sums, flip):
    a, b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for p in range(sums.shape[1]):
        a, b, c = a + sums[flip, p, 0], b + sums[flip, p, 1], c + sums[flip, p, 2]
        d, e, f = d + sums[flip, p, 3], e + sums[flip, p, 4], f + sums[flip, p, 5]
    return a, b, c, d, e, f
