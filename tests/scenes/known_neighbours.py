"""Neighbours of the gallery that fall short, with the reason: each must still do so.

{scene: {number: {invariant: reason}}}. One that has been mended is taken off.
"""

LARGE = "a large island is left at a looser residual, and is not at rest to its tolerance"
SEVERAL = (
    "Coulomb's law has two answers at the fourth step, see test_two_answers.py: which one is taken "
    "depends on the order of bodies"
)
FLAT = (
    "a flat spot resists turning like the cube root of the angle: steps of 1/60 s do not resolve "
    "that, and across the way it rocks the body trembles, from rounding on, by a part that shrinks "
    "with the step"
)

KNOWN: dict[str, dict[int, dict[str, str]]] = {
    "pyramid": {1: {"solved": LARGE, "rest": LARGE, "symmetry": LARGE}},
    "disks-21": {19: {"order": SEVERAL}},
    "superquadric-rock": {4: {"frame": FLAT}},
}
