"""What scenes of 1989, 1992 and 1994 promise, looked at in a run: ``Scene.check``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from drystone.errors import OptionError
from drystone.scenes.checks.claims import Checked, Claim

# a scene's claims are yielded by the function of its name; modules are loaded when asked for
MODULES = {
    "bricks": "falling", "dominoes": "falling", "jack-stairs": "falling",
    "dice-lattice": "falling", "collapse": "falling",
    "destructive-chain": "chains", "chain-pivot": "chains", "blocks-chain": "chains",
    "many-blocks-chain": "chains",
    "heavy-ball": "blows", "struck-block": "blows",
    "ellipsoid-rock": "rocking", "eccentric-ellipsoid-rock": "rocking",
    "superquadric-rock": "rocking",
    "rod-indeterminate": "rods", "rod-inconsistent": "rods", "subset-sum": "rods",
    "indeterminate-impulse": "rods",
    "double-action-jack": "mechanisms", "block-feeder": "mechanisms",
}  # fmt: skip


def check(scene: Any, method: Any) -> Checked:
    """Run a scene from its start by a method, and compare with what it claims."""
    if scene.name not in MODULES:
        raise OptionError(
            f"scene {scene.name!r} has no check: those with one are {', '.join(MODULES)}"
        )
    if not scene.settings:  # read from a file, where anything may have been changed
        raise OptionError(f"scene {scene.name!r} is of a file: checks are of the gallery's own")
    module = import_module(f"drystone.scenes.checks.{MODULES[scene.name]}")
    claims = getattr(module, scene.name.replace("-", "_"))(scene, method)
    return Checked(scene.name, method.name, tuple(claims))


__all__ = ["MODULES", "Checked", "Claim", "check"]
