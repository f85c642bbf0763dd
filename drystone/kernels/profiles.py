"""Kinds that turn about z between two round ends, by their profile: capsules, cylinders, cones."""

from typing import Any, NamedTuple

from drystone.kernels._jit import kernel
from drystone.kernels.kinds import PROFILES, REVOLVED


class Profile(NamedTuple):
    """Ends at z = low and high, `height` apart, of the radii wide_low and wide_high, all with a
    ball of radius `around` about them [m]."""

    low: Any
    high: Any
    height: Any
    wide_low: Any
    wide_high: Any
    around: Any


@kernel
def is_revolved(kind):
    """Whether a kind has a profile."""
    return REVOLVED <= kind < REVOLVED + len(PROFILES)


@kernel
def profile_of(kind, numbers, f0):
    """The profile of a geom whose numbers begin at f0."""
    low, high, height, wide_low, wide_high, around = PROFILES[kind - REVOLVED]
    h, r = numbers[f0], numbers[f0 + 1]
    return Profile(low * h, high * h, height * h, wide_low * r, wide_high * r, around * r)
