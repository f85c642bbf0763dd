"""Kinds of geoms by name and dimension, and the kernels of their pairs."""

from drystone.geometry.dispatch import GENERAL as SUPPORT_MAPS
from drystone.geometry.dispatch import pair_table
from drystone.geometry.shapes import KINDS
from drystone.kernels import kinds

NAMES = {code: kind.name for code, kind in KINDS.items()}
PLANAR = tuple(code for code, kind in sorted(KINDS.items()) if kind.dim == 2)
UNBOUNDED = tuple(code for code, kind in sorted(KINDS.items()) if not kind.bounded)
# in space, of shapes that are known by a few numbers
SPATIAL = tuple(code for code in sorted(KINDS) if code >= kinds.SPHERE)
ENTRIES = pair_table()
EDGED = (kinds.POLYHEDRON, kinds.HALF_SPACE)
SMOOTH = {  # spheres with everything, smooth bodies with each other and with polyhedra, grounds
    pair: entry
    for pair, entry in ENTRIES.items()
    if entry is not SUPPORT_MAPS and set(pair) <= set(SPATIAL) and not set(pair) <= set(EDGED)
}
GENERAL = {(a, b): SUPPORT_MAPS for a in SPATIAL for b in SPATIAL if a <= b and b not in UNBOUNDED}
