"""One large island, swept in parts: the same bits on any number of threads.

Its moving bodies are cut into parts, nearby ones together. A sweep first takes the contacts inside
each part, which share no moving body with other parts and so go to any thread, then, on one
thread, those between parts. Sums are kept by part and added in their order. So what is computed
depends on the parts alone.

Bodies and contacts come in the order of ``light_order``: the lines of both are copied into it. A
sweep then streams through memory, which in large worlds is worth more than the second thread.
"""

import numpy as np

from drystone.kernels._ahead import AHEAD, fetch
from drystone.kernels._jit import kernel
from drystone.kernels._threads import meet
from drystone.kernels.light_islands import (
    EVERY,
    GO_ON,
    SOON,
    load_body,
    load_contact,
    momentum,
    verdict,
    wake,
    wakes_all,
    worth_resort,
)
from drystone.kernels.light_judge import judge_spatial, ratios
from drystone.kernels.light_planar import judge_planar, sweep_planar
from drystone.kernels.light_spatial import sweep_spatial


@kernel
def gather(order, body, number, members, bias, mu, r, v, contact, motion, near, line, state):
    """Lines of the island in the new order, with what a solve brings; returns 0.

    members (n,): bodies in their new order; near (nc, 2), line (nc, .), state (n, .): out.
    """
    last = order.size - 1
    for j in range(order.size):
        i = order[min(j + AHEAD, last)]
        fetch(body, i, 0)
        fetch(bias, i, 0)
        fetch(r, i, 0)
        for e in range(0, contact.shape[1], 8):
            fetch(contact, i, e)
        i = order[j]
        near[j, 0], near[j, 1] = number[body[i, 0]], number[body[i, 1]]
        for e in range(contact.shape[1]):
            line[j, e] = contact[i, e]
        load_contact(i, bias, mu, r, j, line)
    for j in range(members.size):
        b = members[j]
        for e in range(motion.shape[1]):
            state[j, e] = motion[b, e]
        load_body(b, v, j, state)
    return 0


@kernel
def scatter(order, members, line, state, speed, r, u, v):
    """Impulses, contact velocities (speed, in new order) and body velocities back; returns 0."""
    at, last = 14 if r.shape[1] == 2 else 29, order.size - 1
    for j in range(order.size):
        i = order[min(j + AHEAD, last)]
        fetch(r, i, 0)
        fetch(u, i, 0)
        for a in range(r.shape[1]):
            r[order[j], a] = line[j, at + a]
            u[order[j], a] = speed[j, a]
    for j in range(members.size):
        for e in range(v.shape[1]):
            v[members[j], e] = state[j, e]
    return 0


@kernel
def solve_parts(
    rank, threads, gate, first, first_body, near, law, tol, enough, resort, least, most, leave,
    plain_q, free_q, u, line, state, awake, up, sums, result,
):  # fmt: skip
    """What thread `rank` of `threads` does of a solve; all are called with the same arguments.

    gate: of ``meet``; first, first_body: see ``light_order``; near, line, state: see
    ``gather``; u (nc, d); awake (nc,), up (parts + 1,), sums (2, parts + 1, 6): work; result (4,):
    status, sweeps, residuals. The rules are those of ``light_islands``. Returns 0.
    """
    parts = first_body.size - 1
    done, upto, last, before, flip = 0, 1, 0, np.inf, 0
    old, new, low, goal, t = np.inf, np.inf, np.inf, -1.0, 1.0
    while True:
        while done < min(upto, most):
            beta = 0.0
            if done > 0:
                beta, t, low = momentum(new, old, low, t)
                old = new
            # sums of two kinds of phases by turns: a thread may be one ahead of another
            flip, whole = 1 - flip, wakes_all(done, first[parts + 1])
            for p in range(rank, parts, threads):
                if done > 0:
                    _go_on(first_body[p], first_body[p + 1], beta, state, u.shape[1])
                args = (first, p, near, line, state, law, beta, u.shape[1], whole, awake, up)
                sums[flip, p, 0] = _sweep(*args)
            meet(gate, threads)
            if rank == 0:
                p = parts
                args = (first, p, near, line, state, law, beta, u.shape[1], whole, awake, up)
                sums[flip, p, 0] = _sweep(*args)
            meet(gate, threads)
            new = 0.0
            for p in range(parts + 1):
                new += sums[flip, p, 0]
            done += 1
            if new <= goal:
                break
        flip = 1 - flip
        for p in range(rank, parts + 1, threads):
            _judge(first, p, near, line, state, law, u, sums, flip)
        meet(gate, threads)
        plain, free = ratios(_total(sums, flip), plain_q, free_q)
        worst = max(plain, free)
        size = first[parts + 1]
        code = verdict(size, done, upto, last, before, worst, tol, enough, least, most, leave)
        if worth_resort(code, done, most, worst, enough, resort):
            tol, enough, leave, code = 0.0, resort, False, GO_ON
            least, upto = done, done + SOON
        if code != GO_ON:
            if rank == 0:
                result[0], result[1], result[2], result[3] = code, done, plain, free
            return 0
        goal = new * ((tol if done < least else enough) / worst) ** 2
        if done >= upto:
            before, last, upto = worst, done, done + min(EVERY, done + 2)


@kernel
def _sweep(first, p, near, line, state, law, beta, d, whole, awake, up):
    """up (parts + 1,): contacts of each part that are awake."""
    lo, hi = first[p], first[p + 1]
    if d == 3:
        return sweep_spatial(lo, hi, near, line, state, beta)
    if whole:
        up[p] = wake(lo, hi, awake)
    change, up[p] = sweep_planar(awake[lo : lo + up[p]], near, line, state, law, beta)
    return change


@kernel
def _judge(first, p, near, line, state, law, u, sums, flip):
    if u.shape[1] == 2:
        part = judge_planar(first[p], first[p + 1], near, line, state, law, u)
    else:
        part = judge_spatial(first[p], first[p + 1], near, line, state, u)
    for e in range(6):
        sums[flip, p, e] = part[e]


@kernel
def _total(sums, flip):
    a, b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for p in range(sums.shape[1]):
        a, b, c = a + sums[flip, p, 0], b + sums[flip, p, 1], c + sums[flip, p, 2]
        d, e, f = d + sums[flip, p, 3], e + sums[flip, p, 4], f + sums[flip, p, 5]
    return a, b, c, d, e, f


@kernel
def _go_on(lo, hi, beta, state, d):
    """Bodies' part of the step beyond the last sweep: v goes on by beta times what it changed."""
    dof, at = (3, 6) if d == 2 else (6, 14)
    for b in range(lo, hi):
        for e in range(dof):
            y = state[b, e]
            state[b, e] = y + beta * (y - state[b, at + e])
            state[b, at + e] = y
