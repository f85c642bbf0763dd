"""The gallery: one function per scene, for examples, tests and benchmarks alike.

``drystone.scenes()`` lists the names; ``drystone.scene(name)`` makes one.
"""

import sys
from types import ModuleType
from typing import cast

from drystone.arguments import answering
from drystone.scenes.base import Scene
from drystone.scenes.registry import SCENES, names, scene

__all__ = ["SCENES", "Scene", "names", "scene"]


class _Gallery(ModuleType):
    """A module that can be called: ``ds.scenes()`` is what one tries first."""

    def __call__(self) -> tuple[str, ...]:
        return names()


answering(_Gallery)
sys.modules[__name__].__class__ = _Gallery
gallery = cast(_Gallery, sys.modules[__name__])
