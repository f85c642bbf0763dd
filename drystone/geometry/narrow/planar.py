"""Kernels of all pairs of planar kinds."""

from __future__ import annotations

from drystone.geometry.kinds import CAPSULE_2D, DISK, ELLIPSE, HALF_PLANE, POLYGON
from drystone.geometry.narrow import PairKernel

_FOLDER = "drystone.kernels.planar."
_WITNESS = ("hits", "neighbours", "searches")
_EXTREMAL = ("iterations", "predicted", "fallbacks", "separated")

_disk_core = PairKernel(_FOLDER + "disk_core", "contact_disk_core", 1, 1, _WITNESS)
_core_core = PairKernel(_FOLDER + "core_core", "contact_core_core", 2, 3, _WITNESS)
_ellipses = PairKernel(_FOLDER + "ellipses", "contact_ellipse_ellipse", 1, 5, _EXTREMAL)
_ellipse_core = PairKernel(
    _FOLDER + "ellipse_core", "contact_ellipse_core", 1, 5, (*_WITNESS, *_EXTREMAL)
)

ENTRIES = {
    (DISK, DISK): PairKernel(_FOLDER + "disks", "contact_disk_disk"),
    (DISK, ELLIPSE): _ellipses,
    (DISK, CAPSULE_2D): _disk_core,
    (DISK, POLYGON): _disk_core,
    (DISK, HALF_PLANE): PairKernel(_FOLDER + "disks", "contact_disk_half_plane"),
    (ELLIPSE, ELLIPSE): _ellipses,
    (ELLIPSE, CAPSULE_2D): _ellipse_core,
    (ELLIPSE, POLYGON): _ellipse_core,
    (ELLIPSE, HALF_PLANE): PairKernel(_FOLDER + "half_plane", "contact_ellipse_half_plane"),
    (CAPSULE_2D, CAPSULE_2D): _core_core,
    (CAPSULE_2D, POLYGON): _core_core,
    (CAPSULE_2D, HALF_PLANE): PairKernel(_FOLDER + "half_plane", "contact_capsule_half_plane", 2),
    (POLYGON, POLYGON): _core_core,
    (POLYGON, HALF_PLANE): PairKernel(
        _FOLDER + "half_plane", "contact_polygon_half_plane", 2, 1, ("hits", "climbs")
    ),
}
