"""Neighbours of the gallery that fall short, with the reason: each must still do so.

{scene: {number: {invariant: reason}}}. One that has been mended is taken off.
"""

FLAT = (
    "a flat spot resists turning like the cube root of the angle: steps of 1/60 s do not resolve "
    "that, and across the way it rocks the body trembles, from rounding on, by a part that shrinks "
    "with the step"
)
SEVERAL = (
    "falling disks jam against each other: in the fourth step the law has several solutions, each "
    "found to a residual of 1e-11, and which of them is found depends on the order of the bodies"
)

KNOWN: dict[str, dict[int, dict[str, str]]] = {
    "disks-21": {19: {"order": SEVERAL}},
    "superquadric-rock": {4: {"frame": FLAT}},
}
