"""Pulling bodies with the mouse (Baraff 1994), and panning of planar views."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.dynamics.frames import rotation
from drystone.model import State
from drystone.types import Ints
from drystone.view import look

if TYPE_CHECKING:
    from drystone.dynamics.drag import Drag
    from drystone.view.viewer import Viewer


class Dragging:
    """A ``Drag`` force in the world of a live simulation while the mouse button is down."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self.force: Drag | None = None
        self._handle: Any = None  # of the force in the world
        self._line: Any = None
        gui, planar = viewer.server.gui, viewer.source.model.dim == 2
        strength = float(viewer.view.get("play", {}).get("strength", 1.0))
        with gui.add_folder("Drag"):
            rest = "pans" if planar else "rotates"
            gui.add_markdown(f"Drag a body to pull it. Dragging the background {rest} the view.")
            self.strength = gui.add_slider(
                "Strength", min=0.1, max=10.0, step=0.1, initial_value=strength
            )

    def watch(self, bodies: Ints, handle: Any) -> None:
        """Listen to drags on the copies of a mesh, which are these bodies."""
        handle.on_drag(self._listener(bodies))

    def _listener(self, bodies: Ints) -> Callable[[Any], Any]:
        async def dragged(event: Any) -> None:  # async: in order
            if event.instance_index is not None:
                body = int(bodies[event.instance_index])
                start, end = np.array(event.start_position), np.array(event.end_position)
                self.viewer.do("drag", event.phase, body, start, end)

        return dragged

    def follow(self, phase: str, body: int, start: Any, end: Any) -> None:
        """Grab, pull or release; start, end (3,): of the drag in the world [m]."""
        sim, dim = self.viewer.source.simulation, self.viewer.source.model.dim
        if phase == "start" or self.force is None:
            self.release()
            if phase == "end" or sim.model.inverse_mass[body] == 0:
                return
            strength = float(self.strength.value)
            place = start[:dim]
            from drystone.dynamics.drag import grip

            dt = 0.0 if sim.method.partial_steps else sim.method.dt
            self.force = grip(sim.model, sim.state, body, place, dt, strength)
            self._handle = sim.world.add_force(self.force)
            sim.wake()
        if self.force is not None:
            self.force.target = tuple(float(v) for v in end[:dim])
        if phase == "end":
            self.release()

    def release(self) -> None:
        """Remove the force."""
        if self._handle is not None:
            self.viewer.source.simulation.world.remove_force(self._handle)
        self.force = self._handle = None

    def draw(self, state: State) -> None:
        """A line from the grabbed point to the cursor."""
        if self.force is None:
            if self._line is not None:
                self._line.visible = False
            return
        sim, stage = self.viewer.source.simulation, self.viewer.stage
        b = sim.index(self.force.body)
        held = rotation(state.orientation[b]) @ (np.array(self.force.point) - sim.model.centre[b])
        ends = np.zeros((1, 2, 3), np.float32)
        ends[0, 0, : stage.model.dim] = state.position[b] + held
        ends[0, 1, : stage.model.dim] = self.force.target
        if stage.planar:
            ends[:, :, 2] = 0.1 * stage.camera.size
        if self._line is None:
            self._line = self.viewer.server.scene.add_line_segments(
                "/hand", ends, look.HAND, thickness=3.0, thickness_units="screen"
            )
        self._line.points, self._line.visible = ends, True


def panning(handle: Any) -> None:
    """Drags on this node pan the camera instead of rotating it."""
    held: dict[int, tuple[Any, Any, Any]] = {}

    async def dragged(event: Any) -> None:
        camera = event.client.camera
        if event.phase == "start" or event.client_id not in held:
            pose = np.array(camera.position), np.array(camera.look_at)
            held[event.client_id] = (*pose, np.array(event.end_screen_pos))
        eye, target, start = held[event.client_id]
        away = np.array(event.end_screen_pos) - start
        tall = 2.0 * float(np.linalg.norm(eye - target)) * np.tan(0.5 * camera.fov)
        shift = np.array([-away[0] * tall * camera.aspect, away[1] * tall, 0.0])
        camera.position, camera.look_at = eye + shift, target + shift
        if event.phase == "end":
            held.pop(event.client_id, None)

    handle.on_drag(dragged)
