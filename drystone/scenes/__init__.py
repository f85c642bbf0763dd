"""The gallery: one function per scene, for examples, tests and benchmarks alike."""

from drystone.scenes.base import Scene
from drystone.scenes.registry import SCENES, names, scene

__all__ = ["SCENES", "Scene", "names", "scene"]
