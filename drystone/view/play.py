"""Sliders for the parameters that a scene declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.errors import OptionError
from drystone.escaping import for_line

if TYPE_CHECKING:
    from drystone.view.viewer import Viewer

WHAT = ("gravity", "friction", "motion", "motor")


class Sliders:
    """What a scene declares as ``view["sliders"]``: mappings with

    what: "gravity" [m/s^2], "friction" (of all bodies), "motion" (a field of the prescribed motion
        of `body`: an Oscillation's amplitude or frequency), "motor" (speed of `joint`);
    low, high: ends of the slider; label: by default what it moves; body, joint, field.
    """

    def __init__(self, viewer: Viewer, declared: Sequence[Mapping[str, Any]]) -> None:
        self.viewer, self.declared = viewer, list(declared)
        if not self.declared:
            return
        gui = viewer.server.gui
        with gui.add_folder("Parameters"):
            for k, item in enumerate(self.declared):
                self._add(gui, k, item)

    def _add(self, gui: Any, k: int, item: Mapping[str, Any]) -> None:
        if item.get("what") not in WHAT:
            raise OptionError(
                f"slider {k}: what = {item.get('what')!r}: expected {', '.join(WHAT)}"
            )
        try:
            low, high = float(item["low"]), float(item["high"])
        except (KeyError, TypeError, ValueError):
            raise OptionError(f"slider {k}: {dict(item)}: expected numbers low and high") from None
        label = for_line(item.get("label") or item.get("field") or item["what"]).capitalize()
        handle = gui.add_slider(
            label, min=low, max=high, step=(high - low) / 200,
            initial_value=float(np.clip(self._present(item), low, high)),
        )  # fmt: skip
        handle.on_update(lambda event: self.viewer.do("slide", k, float(event.target.value)))

    def _present(self, item: Mapping[str, Any]) -> float:
        world = self.viewer.source.simulation.world
        if item["what"] == "gravity":
            return float(np.linalg.norm(world.gravity))
        if item["what"] == "friction":
            frictions = self.viewer.source.model.friction[:, 0]
            return float(np.median(frictions)) if frictions.size else 0.0
        if item["what"] == "motion":
            return float(getattr(self._motion(item), item["field"]))
        return float(self._joint(item).motor.speed)

    def _motion(self, item: Mapping[str, Any]) -> Any:
        for body in self.viewer.source.simulation.world.parts().bodies:
            if body.name == item.get("body") and hasattr(body.given.get("motion"), "amplitude"):
                return body.given["motion"]
        raise OptionError(f"slider: body {item.get('body')!r} does not oscillate")

    def _joint(self, item: Mapping[str, Any]) -> Any:
        for entry in self.viewer.source.simulation.world.parts().joints:
            motor = getattr(entry.joint, "motor", None)
            if entry.name == item.get("joint") and getattr(motor, "speed", None) is not None:
                return entry.joint
        raise OptionError(f"slider: joint {item.get('joint')!r} has no motor with a speed")

    def slide(self, k: int, value: float) -> None:
        """Do what slider k asks for, between two steps."""
        item = self.declared[k]
        sim = self.viewer.source.simulation
        world = sim.world
        if item["what"] == "gravity":
            now = np.array(world.gravity)
            size = float(np.linalg.norm(now))
            down = now / size if size > 0 else -np.eye(world.dim)[-1]
            world.gravity = tuple(value * down)
        elif item["what"] == "friction":
            for name in world.bodies:
                world.change_body(name, friction=value)
        elif item["what"] == "motion":
            motion = carried_on(self._motion(item), sim.time, item["field"], value)
            world.change_body(item["body"], motion=motion)
        else:
            joint = self._joint(item)
            world.remove_joint(item["joint"])
            world.add_joint(
                replace(joint, name=item["joint"], motor=replace(joint.motor, speed=value))
            )
        sim.wake()


def carried_on(motion: Any, t: float, field: str, value: float) -> Any:
    """An oscillation with another amplitude, frequency or period, that is where the old one is at
    time t [s] and moves the same way, as far as its amplitude lets it."""
    changed = replace(motion, **{field: value})
    now = np.sin(_angle(motion, t)) * motion.amplitude
    forth = np.cos(_angle(motion, t)) >= 0
    if changed.amplitude == 0.0:
        return changed
    there = float(np.arcsin(np.clip(now / changed.amplitude, -1.0, 1.0)))
    wanted = there if forth else np.pi - there
    return replace(changed, phase=float(changed.phase + wanted - _angle(changed, t)))


def _angle(motion: Any, t: float) -> float:
    rate = motion.frequency if hasattr(motion, "frequency") else 1.0 / motion.period
    return float(2.0 * np.pi * rate * t + motion.phase)
