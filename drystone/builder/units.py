"""Values that are allowed, but look as if they were in another unit: said once for each world."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from drystone.arguments import warn_user
from drystone.builder.bodies import Body
from drystone.builder.joints import JointEntry
from drystone.errors import UnitWarning
from drystone.kernels import joints as functions
from drystone.kernels import joints_coupled as actions
from drystone.values import real

TURN = 2.0 * math.pi + 1e-9  # [rad]
LONG = 10.0  # [m] from its centre: a brick of 200 mm, given as 200, is beyond; a lorry is not
LIGHT = (0.1, 25.0)  # [kg/m^3]: from cork to osmium in g/cm^3; in kg/m^3 there are only foams
GRAVITIES = (1.0, 100.0)  # [m/s^2]: who computes in millimetres has a gravity of 9810
ANGLES = (
    functions.ANGLE_A, functions.ANGLE_B, functions.TURN, functions.TILT, functions.TWIST,
)  # fmt: skip
SILENCE = 'warnings.simplefilter("ignore", ds.UnitWarning) silences this'


def warn_of_body(
    body: Body, said: Mapping[str, Any], gravity: Sequence[float], warned: set[str]
) -> None:
    """Warn of a body that is too long, too light, or turned too far."""
    flat, owner = len(body.position) == 2, f"body {body.name!r}"
    density, angle = real(said["density"]), real(said["orientation"])
    if density is not None and not flat and LIGHT[0] <= density < LIGHT[1]:
        text = f"density = {density:g}: kg/m^3 are expected, and this looks like g/cm^3"
        _say("density", owner, text, warned)
    if flat and angle is not None and abs(angle) > TURN:
        text = f"orientation = {angle:g}: radians are expected, and these look like degrees"
        _say("orientation", owner, text, warned)
    moves = body.matter is not None and body.template is not None
    if moves and body.template is not None and GRAVITIES[0] <= math.hypot(*gravity) <= GRAVITIES[1]:
        reach = body.template.reach
        if LONG < reach < math.inf:
            text = f"is about {2 * reach:.3g} m long: metres are expected, not millimetres"
            _say("size", owner, text, warned)


def warn_of_joint(entry: JointEntry, warned: set[str]) -> None:
    """Warn of angles beyond a full turn."""
    for coordinate, kind, numbers in entry.placed.actions:
        angular = entry.placed.coordinates[coordinate][0].kind in ANGLES
        limits = kind in (actions.LOWER, actions.UPPER, actions.HOLD)
        if angular and (limits or kind == actions.POSITION_MOTOR) and abs(numbers[0]) > TURN:
            field = "limits" if limits else "motor.position"
            text = f"{field}: {numbers[0]:g} rad is more than a turn, and looks like degrees"
            _say(field, f"joint {entry.name!r}", text, warned)


def _say(kind: str, owner: str, text: str, warned: set[str]) -> None:
    if kind not in warned:
        warned.add(kind)
        warn_user(f"{owner}: {text} ({SILENCE})", UnitWarning)
