"""Statements of complementarity and friction problems, free of physics and of method."""

from drystone.problems.cones import (
    CircularCone,
    EllipticCone,
    PolyhedralCone,
    SoftFingerCone,
)
from drystone.problems.delassus import DelassusOperator
from drystone.problems.friction import FrictionProblem, GlobalFrictionProblem
from drystone.problems.lcp import LCP, BoxedLCP, MixedLCP

Problem = BoxedLCP | FrictionProblem | GlobalFrictionProblem

__all__ = [
    "LCP",
    "BoxedLCP",
    "CircularCone",
    "DelassusOperator",
    "EllipticCone",
    "FrictionProblem",
    "GlobalFrictionProblem",
    "MixedLCP",
    "PolyhedralCone",
    "Problem",
    "SoftFingerCone",
]
