"""Velocities with the first guess of the impulses, and what islands may cost."""

from drystone.kernels import contact_frames as frames
from drystone.kernels._jit import stage
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.policy import share


@stage
def prepare_planar(s, scan):
    n = s.rows
    frames.velocities_planar(n, s.body, s.frame, s.point, s.position, s.bias, s.v_free, s.q)
    push_planar(s, scan)
    return share(s)


@stage
def prepare_spatial(s, scan):
    n = s.rows
    frames.velocities_spatial(n, s.body, s.frame, s.point, s.position, s.bias, s.v_free, s.q)
    push_spatial(s, scan)
    return share(s)


@stage
def push_planar(s, scan):
    """v = v_free + M^-1 J' r."""
    n = s.rows
    copy_all(s.v_free, s.v)
    frames.push_planar(n, s.body, s.frame, s.point, s.position, s.inverse_mass, s.inverse, s.r, s.v)
    return codes.GO_ON


@stage
def push_spatial(s, scan):
    n = s.rows
    copy_all(s.v_free, s.v)
    frames.push_spatial(
        n, s.body, s.frame, s.point, s.position, s.inverse_mass, s.inverse, s.r, s.v
    )
    return codes.GO_ON
