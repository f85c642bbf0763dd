"""Neighbours of the gallery that fall short, with the reason: each must still do so.

{scene: {number: {invariant: reason}}}. One that has been mended is taken off.
"""

LARGE = "a large island is left at a looser residual, and is not at rest to its tolerance"
SEVERAL = "a pile let go has several solutions: which one is taken depends on the order of bodies"
PAWLS = (
    "turned, the pawls go another way from the first frame on; shifted they do not: not understood"
)

KNOWN: dict[str, dict[int, dict[str, str]]] = {
    "pyramid": {1: {"solved": LARGE, "rest": LARGE, "symmetry": LARGE}},
    "arch": {number: {"rest": LARGE} for number in (3, 4, 9, 14, 15)},
    "disks-21": {19: {"order": SEVERAL}},
    "double-action-jack": {
        0: {"frame": PAWLS},
        16: {"frame": PAWLS},
        17: {"frame": PAWLS, "order": PAWLS},
    },
}
