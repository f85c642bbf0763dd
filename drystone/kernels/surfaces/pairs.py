"""Surfaces given by formulas with every bounded kind, by support maps."""

from drystone.kernels.spatial.support import (
    CAPSULE,
    CONE,
    CYLINDER,
    ELLIPSOID,
    POLYHEDRON,
    SPHERE,
    SUPERQUADRIC,
    SURFACE,
)
from drystone.kernels.spatial.support_pairs import SupportPair

contact_surface_surface = SupportPair(SURFACE, SURFACE)
contact_surface_sphere = SupportPair(SURFACE, SPHERE)
contact_surface_ellipsoid = SupportPair(SURFACE, ELLIPSOID)
contact_surface_superquadric = SupportPair(SURFACE, SUPERQUADRIC)
contact_surface_capsule = SupportPair(SURFACE, CAPSULE)
contact_surface_cylinder = SupportPair(SURFACE, CYLINDER)
contact_surface_cone = SupportPair(SURFACE, CONE)
contact_surface_polyhedron = SupportPair(SURFACE, POLYHEDRON)
