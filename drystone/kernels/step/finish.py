"""Contacts that broke loose, then drift, what the next step needs, and the report."""

import numpy as np

from drystone.kernels import rigid
from drystone.kernels import rows as kernels
from drystone.kernels._jit import stage
from drystone.kernels.ledger import kinetic
from drystone.kernels.step import codes
from drystone.kernels.step.begin import height
from drystone.kernels.step.copies import copy_all, copy_row
from drystone.kernels.step.policy import inaccurate

SLIP_SPEED = 1e-6  # of the greatest contact velocity of an island: slower contacts stick
SLIP_ROUNDS = 10  # of contacts that break loose because others did


@stage
def break_loose(s, n):
    """A contact with its static coefficient that slides gets the dynamic one, and the step is
    solved again: the set of sliding contacts only grows."""
    sliding(s.islands, s.start, s.r, s.u, s.q, s.slid)
    broke = False
    for i in range(n):
        if s.slid[i] and not s.loose[i] and s.both[i, 0] > s.both[i, 1]:
            broke = True
            s.loose[i] = True
            s.mu[i] = s.both[i, 1]
    s.slip_rounds += 1
    s.next_stage = s.solve_stage
    return codes.AGAIN if broke and s.slip_rounds < SLIP_ROUNDS else codes.GO_ON


@stage
def sliding(islands, start, r, u, q, slid):
    """slid: contacts that carry load and slip.

    Slow is meant against what the island's contacts would do without impulses (q): bodies at rest
    have no other speed than rounding.
    """
    for k in range(islands):
        scale = 0.0
        for i in range(start[k], start[k + 1]):
            for a in range(u.shape[1]):
                scale = max(scale, abs(q[i, a]), abs(u[i, a]))
        for i in range(start[k], start[k + 1]):
            speed = 0.0
            for a in range(1, u.shape[1]):
                speed += u[i, a] * u[i, a]
            slid[i] = r[i, 0] > 0.0 and np.sqrt(speed) > SLIP_SPEED * scale


@stage
def drift(s, scan):
    """The state after the step, and what is left for the next."""
    kicked = kinetic(s.mass, s.inertia, s.v)
    move(s)
    if s.drifts:
        rigid.drift(
            s.own_inertia, s.own_inverse, s.torque_free != 0, s.velocity, s.h, s.position,
            s.orientation, s.turn_work,
        )  # fmt: skip
    for k in range(s.driven.size):
        copy_row(s.driven_position[s.cursor], k, s.position, s.driven[k])
        copy_row(s.driven_orientation[s.cursor], k, s.orientation, s.driven[k])
    if not (finite(s.velocity, s.position) and finite(s.velocity, s.orientation)):
        return codes.NOT_FINITE
    _turn_inertia(s, s.orientation)
    book(s, kicked, kinetic(s.mass, s.end_inertia, s.velocity), s.position)
    return codes.GO_ON


@stage
def _turn_inertia(s, orientation):
    """At the end of the step, in world axes; in the plane it is always the same."""
    if orientation.ndim == 2:  # a constant for the compiler
        rigid.to_world(s.own_inertia, orientation, s.end_inertia)


@stage
def move(s):
    """velocity = v, and impulses kept for the next step's first guess."""
    n = s.rows
    for b in range(s.v.shape[0]):
        for a in range(s.v.shape[1]):
            s.velocity[b, a] = s.v[b, a]
    kernels.impulse_vectors(s.frame[:n], s.r[:n], s.impulse[:n], s.spin[:n])
    copy_all(s.impulse[:n], s.old_impulse[:n])
    copy_all(s.spin[:n], s.old_spin[:n])
    for i in range(n):
        s.old_a[i], s.old_b[i], s.old_feature[i] = s.tag_a[i], s.tag_b[i], s.feature[i]
        s.old_slid[i] = s.slid[i]
    s.old_rows, s.old_h = n, s.kick


@stage
def finite(velocity, other):
    """Whether velocities, and poses of any kind, are numbers that a step can continue with."""
    for b in range(velocity.shape[0]):
        for a in range(velocity.shape[1]):
            if not abs(velocity[b, a]) <= rigid.RUNAWAY:
                return False
    total, other = 0.0, other.reshape(other.size)
    for i in range(other.size):
        total += other[i]
    return np.isfinite(total)


@stage
def book(s, kicked, kinetic, position):
    """The report of the step: energy explained (see ``EnergyLedger``), conditions measured."""
    n, begun, out, work = s.rows, s.begun, s.report, s.sums
    pushed, fell, turned = _load_work(s)
    raised = height(s, position)
    out.kinetic, out.gravity_energy, out.potential = (
        kinetic,
        raised,
        raised + s.spring_energy,
    )
    out.change = (kinetic + raised) - (begun.kinetic + begun.gravity_energy)
    out.loads = pushed
    out.driving = work[3] + begun.driving
    out.friction = work[0]
    out.impact = work[1] + begun.impact
    out.constraint = work[2]
    # heights change by h v', gravity works over the mean velocity; bodies turn
    out.integration = (raised - begun.gravity_energy) + fell + (kinetic - kicked) + turned
    out.integration += begun.integration
    out.impact_energy = begun.impact_energy
    out.infeasibility, out.depth = begun.infeasibility, begun.depth
    out.deep_a, out.deep_b = begun.deep_a, begun.deep_b
    out.islands, out.iterations = s.islands, s.iterations
    out.methods, out.failed = s.methods, s.failed
    if begun.failed > 0.0 or s.unsettled > 0.0:  # a collision was not solved, or not M at the end
        out.failed = max(0, s.failed)
    out.collisions, out.outer, out.status = s.collisions, s.outer, s.status
    out.unsolved_body = -1.0
    if s.failed >= 0 and inaccurate(s, s.failed):
        out.status = codes.INACCURATE
    if s.failed >= 0:
        k = s.failed
        for i in range(s.start[k], s.start[k + 1]):
            out.unsolved_body = max(out.unsolved_body, s.body[i, 0], s.body[i, 1])
    _judge(s, n)


@stage
def _load_work(s):
    """Work over the mean velocity: of forces, of gravity, of the gyroscopic torque as a force."""
    dim, h = s.position.shape[1], s.kick
    pushed, fell, turned = 0.0, 0.0, 0.0
    for b in range(s.v.shape[0]):
        if not s.inverse_mass[b] > 0.0:
            continue
        for a in range(s.v.shape[1]):
            moved = h * 0.5 * (s.v0[b, a] + s.v[b, a])
            pushed += s.force[b, a] * moved
            if a < dim:
                fell += s.mass[b] * s.gravity[a] * moved
            elif s.gyroscopic:
                turned += (s.load[b, a] - s.force[b, a]) * moved
    return pushed, fell, turned


@stage
def _judge(s, n):
    """Residuals, and (10) to (13) of 1998 as measured, over contacts."""
    out, begun, convex = s.report, s.begun, s.law == 1
    plain = free = max(begun.residual, s.unsettled)
    for k in range(s.islands):
        plain, free = max(plain, s.residual[k, 0]), max(free, s.residual[k, 1])
    out.residual, out.residual_unit = plain, free
    least, slowest, cone = np.inf, np.inf, -np.inf
    together, driving, lacking, contacts = 0.0, 0.0, 0.0, 0
    for i in range(n):
        if s.geom_a[i] < 0:  # a joint's
            continue
        contacts += 1
        force, speed, power, mu = 0.0, 0.0, 0.0, s.mu[i]
        for a in range(1, s.r.shape[1]):
            force += s.r[i, a] ** 2
            speed += s.u[i, a] ** 2
            power += s.r[i, a] * s.u[i, a]
        speed = np.sqrt(speed)
        normal = s.u[i, 0] - mu * speed if convex else s.u[i, 0]
        least, slowest = min(least, s.r[i, 0]), min(slowest, normal)
        cone = max(cone, np.sqrt(force) - mu * s.r[i, 0])
        together += s.r[i, 0] * normal
        driving += power
        lacking += mu * s.r[i, 0] * speed + power
    if contacts == 0:
        least = slowest = cone = 0.0
    out.contacts = contacts
    out.least_impulse, out.least_velocity, out.cone = least, slowest, cone
    out.complementarity, out.power, out.dissipation = together, driving, lacking
