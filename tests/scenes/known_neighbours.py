"""Neighbours of the gallery that fall short, with the reason: each must still do so.

{scene: {number: {invariant: reason}}}. One that has been mended is taken off.
"""

WHIP = (
    "27 light links under a bob of 4700 times their mass, in steps of 1/60 s: steps are divided, "
    "links tremble, and one joint does not close; steps of 1/90 s and less do"
)
TORN = (
    "23 light links under a bob of 3800 times their mass, in steps of 1/60 s: parts of divided "
    "steps are kept open, and the run ends with an error that names a joint"
)
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
    "chain": {0: {"joints": WHIP}},
    "chain-whip": {13: {"runs": TORN}},
    "superquadric-rock": {4: {"frame": FLAT}},
}
