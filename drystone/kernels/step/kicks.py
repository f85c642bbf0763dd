"""Steps of second order: half a kick, the drift, half a kick (Störmer-Verlet).

The list of stages is run twice. The first kick is a step whose forces act for h / 2. The second is
solved where bodies arrived, and moves none: contacts that touch there, or bore load in the first,
give u_n >= 0 and friction. What is read of a step are the contacts of the first kick; the next step
starts from the impulses of the second.
"""

from drystone.kernels._jit import stage
from drystone.kernels.matching import match_contacts
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_all


@stage
def reached(s, scan):
    """Leave out contacts that take no part in the second kick: open, and without load."""
    n, old = s.candidates, s.old_rows
    if s.drifts:
        for i in range(n):
            s.left_out[i] = s.left_out[i] and s.asleep.size > 0  # by ``sleep``, just before
        return codes.GO_ON
    places = 2
    while places <= 2 * old:
        places *= 2
    for i in range(n):
        s.tag_a[i], s.tag_b[i] = s.geom_uid[scan.geom_a[i]], s.geom_uid[scan.geom_b[i]]
        s.label[i] = scan.feature[i]
    match_contacts(
        s.old_a[:old], s.old_b[:old], s.old_feature[:old], s.tag_a[:n], s.tag_b[:n], s.label[:n],
        s.head[:places], s.tail, s.source[:n],
    )  # fmt: skip
    for i in range(n):
        at, far = s.source[i], scan.gap[i] > s.impact_gap
        if far and at >= 0:
            for a in range(s.old_impulse.shape[1]):
                far = far and s.old_impulse[at, a] == 0.0
        slept = s.left_out[i] and s.asleep.size > 0
        s.left_out[i] = far or slept
    return codes.GO_ON


@stage
def end_gaps(s, scan):
    """END_GAPS: the gaps at the end of the drift are judged, see ``nonlinear_gaps``."""
    return codes.END_GAPS if s.drifts and s.rows > 0 else codes.GO_ON


@stage
def again(s, scan):
    """After the first kick: go back for the second, by Python if there are forces to be asked for.
    After the second: one report of both, and the first kick's contacts to be read."""
    if s.drifts:
        copy_all(s.report_row, s.first_row)
        _exchange(s, True)
        s.drifts, s.impact_share, s.next_stage = 0, 1.0, 0
        return codes.FORCES if s.forced_by_python else codes.AGAIN
    join(s.first, s.report)
    s.report.islands, s.report.redundant = s.first.islands, s.first.redundant
    s.report.joint_error = s.first.joint_error
    _exchange(s, False)
    s.drifts, s.impact_share = 1, 0.0
    return codes.GO_ON


@stage
def again_with_joints(s, scan, j):
    """The same with joints (RATTLE): the rows of the first kick are to be read, too. In the second
    they give J v = 0 where bodies arrived, motors and springs their other half, and of limits those
    take part that are reached."""
    first = s.drifts != 0
    code, n = again(s, scan), s.rows
    _copy(first, s.J[:n], j.first_J[:n])
    _copy(first, s.P[:n], j.first_P[:n])
    _copy(first, s.D[:n], j.first_D[:n])
    _copy(first, j.soft[:n], j.first_soft[:n])
    _copy(first, j.unit[:n], j.first_unit[:n])
    _copy(first, j.joint[:n], j.first_joint[:n])
    return code


@stage
def _exchange(s, keep):
    """What is read of the first kick: kept, or put back to be read."""
    if keep:
        s.first_rows, s.first_islands, s.first_failed = s.rows, s.islands, s.failed
    else:
        s.rows, s.islands, s.failed = s.first_rows, s.first_islands, s.first_failed
    n, ni = s.rows, s.islands
    _copy(keep, s.v0, s.first_v0)
    _copy(keep, s.v_free, s.first_v_free)
    _copy(keep, s.v, s.first_v)
    _copy(keep, s.geom_a[:n], s.first_geom_a[:n])
    _copy(keep, s.geom_b[:n], s.first_geom_b[:n])
    _copy(keep, s.feature[:n], s.first_feature[:n])
    _copy(keep, s.body[:n], s.first_body[:n])
    _copy(keep, s.start[: ni + 1], s.first_start[: ni + 1])
    _copy(keep, s.gap[:n], s.first_gap[:n])
    _copy(keep, s.point[:n], s.first_point[:n])
    _copy(keep, s.normal[:n], s.first_normal[:n])
    _copy(keep, s.frame[:n], s.first_frame[:n])
    _copy(keep, s.both[:n], s.first_both[:n])
    _copy(keep, s.eps[:n], s.first_eps[:n])
    _copy(keep, s.mu[:n], s.first_mu[:n])
    _copy(keep, s.slid[:n], s.first_slid[:n])
    _copy(keep, s.bias[:n], s.first_bias[:n])
    _copy(keep, s.q[:n], s.first_q[:n])
    _copy(keep, s.u[:n], s.first_u[:n])
    _copy(keep, s.r[:n], s.first_r[:n])
    _copy(keep, s.contact[:n], s.first_contact[:n])
    _copy(keep, s.impulse[:n], s.first_impulse[:n])
    _copy(keep, s.spin[:n], s.first_spin[:n])
    _copy(keep, s.residual[:ni], s.first_residual[:ni])
    _copy(keep, s.unit[:n], s.first_unit[:n])


@stage
def _copy(keep, now, first):
    """first = now, or now = first if it is not kept but put back."""
    if keep:
        copy_all(now, first)
    else:
        copy_all(first, now)


@stage
def join(first, out):
    """One report of two kicks, or of two parts: energies add, of the rest the worse one speaks."""
    out.change += first.change
    out.loads += first.loads
    out.driving += first.driving
    out.friction += first.friction
    out.impact += first.impact
    out.constraint += first.constraint
    out.integration += first.integration
    out.iterations += first.iterations
    out.collisions += first.collisions
    out.impact_energy += first.impact_energy
    out.infeasibility = max(first.infeasibility, out.infeasibility)
    out.residual = max(first.residual, out.residual)
    out.residual_unit = max(first.residual_unit, out.residual_unit)
    out.least_impulse = min(first.least_impulse, out.least_impulse)
    out.least_velocity = min(first.least_velocity, out.least_velocity)
    out.cone, out.power = max(first.cone, out.cone), max(first.power, out.power)
    if abs(first.complementarity) >= abs(out.complementarity):
        out.complementarity = first.complementarity
    if abs(first.dissipation) >= abs(out.dissipation):
        out.dissipation = first.dissipation
    out.contacts = max(first.contacts, out.contacts)
    out.methods = int(first.methods) | int(out.methods)
    if first.failed >= 0.0:
        out.failed, out.status = first.failed, first.status
    out.unsolved_body = max(first.unsolved_body, out.unsolved_body)
    if first.depth >= out.depth:
        out.depth, out.deep_a, out.deep_b = first.depth, first.deep_a, first.deep_b
