"""Simulations and recordings in a browser: ``show`` (needs the extra ``view``)."""

from __future__ import annotations

from typing import Any

__all__ = ["show"]


def show(subject: Any, **options: Any) -> Any:
    """Open the viewer on a Simulation, World, Scene, Trajectory or recording; see
    ``drystone.view.viewer.show``."""
    from drystone.view.viewer import show as opened

    return opened(subject, **options)
