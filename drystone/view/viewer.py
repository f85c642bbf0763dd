"""The viewer: a scene in the browser, and the thread that moves it.

Everything that touches the simulation happens in that thread, in order: what users do in the
page is put in a queue and done between two steps. Pages may come and go as they like.
"""

from __future__ import annotations

import atexit
import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.arguments import answering
from drystone.dynamics.frames import rotation
from drystone.errors import DrystoneError, OptionError
from drystone.escaping import for_line
from drystone.model import State
from drystone.types import Ints
from drystone.view import palette, panel, server
from drystone.view.overlays import Overlays
from drystone.view.panel import SPEEDS, Curves, Panel, Sliders
from drystone.view.sources import Live, Playback
from drystone.view.stage import Frame, Stage, frame

if TYPE_CHECKING:
    from drystone.dynamics.drag import Drag

REFRESH_RATE = 30.0  # pictures a second
SETTLING = 4.0  # [s] that a new page takes to lay itself out
SHADOW_DELAY = 1.5  # [s] without a change after which the shadows of many bodies are drawn
SLOWLY = 0.25  # [s] between two writings of curves and texts
SIMULATION = "simulation"  # what one that was given is called


@answering
def show(
    subject: Any,
    *,
    view: Mapping[str, Any] | None = None,
    title: str | None = None,
    method: Any = None,
    playing: bool | None = None,
    speed: float = 1.0,
    host: str = server.LOCAL,
    port: int = server.PORT,
    origins: tuple[str, ...] = (),
    browser: bool = False,
) -> Viewer:
    """Open the viewer.

    subject: a Simulation or Scene (which run live), a World (likewise, by `method`), a Trajectory
        or a recording (which are replayed).
    view: hints, as those of a scene: "limits", or "camera" and "target" [m]; "sliders".
    playing: as soon as a page is open, and while one is; a Simulation waits by default.
    speed: simulated seconds per second, one of 0.05, 0.1, 0.25, 0.5, 1, 2, 4.
    host: address to bind to; 127.0.0.1 admits this machine only; port: the first to try; origins:
        other pages that may connect, such as a notebook hub's.
    browser: open a page in the default browser.
    """
    if speed not in SPEEDS.values():
        known = ", ".join(f"{s:g}" for s in SPEEDS.values())
        raise OptionError(f"speed = {speed!r}: expected one of {known}")
    source, known = _source(subject, method)
    origin = getattr(subject, "origin", None) or {}
    hints = dict(getattr(subject, "view", None) or origin.get("view") or {}) | dict(view or {})
    words = title or origin.get("scene") or getattr(subject, "scene", None) or known
    runs = known != SIMULATION if playing is None else playing
    words = for_line(words)
    opened = server.serve(words, host, port, origins)
    try:
        viewer = Viewer(opened, source, hints, words, runs, speed, host)
    except BaseException:
        server.stop(opened)
        raise
    if browser:
        import webbrowser

        webbrowser.open(viewer.url)
    return viewer


def _source(subject: Any, method: Any) -> tuple[Any, str]:
    """What the moments come from, and what to call it."""
    if all(hasattr(subject, name) for name in ("model", "time", "state", "series")):
        if len(subject.time) == 0:
            raise OptionError("the recording has no frames to show")
        return Playback(subject), "replay"
    from drystone.simulation import Simulation  # not before: a replay is there sooner without it
    from drystone.world import World

    if isinstance(subject, World):
        return Live(Simulation(subject, method or "time-stepping")), "world"
    if isinstance(subject, Simulation):
        return Live(subject), SIMULATION
    if hasattr(subject, "simulation"):
        return Live(subject.simulation(method)), str(getattr(subject, "name", "scene"))
    raise OptionError(
        f"nothing to view: {subject!r} is not a Simulation, World, Scene, Trajectory or recording"
    )


class Viewer:
    """A running viewer. ``url``; ``close()``; ``wait()`` until it is closed."""

    def __init__(
        self, opened: Any, source: Any, view: Mapping[str, Any], title: str, playing: bool,
        speed: float, host: str,
    ) -> None:  # fmt: skip
        self.server, self.source, self.view, self.title = opened, source, view, title
        shown = "localhost" if host in ("0.0.0.0", "::") else host  # noqa: S104
        self.url = f"http://{shown}:{opened.get_port()}"
        self.playing, self.speed = playing, speed
        self.error: str | None = None
        self.picked: tuple[str, int] | None = None  # ("body" or "contact", its number)
        self._islands, self._on = False, set[str]()
        self._todo: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self._followed: Any = None  # where what the camera follows was last
        self._closed = threading.Event()
        self._dirty, self._wrote = True, 0.0
        self._still_from = 0.0  # when the picture changed last, or a page opened
        self._shown = False  # drawn once before the first step, which may wait for a compiler
        self.panel = Panel(opened, source.model.dim == 2, self.do)
        self.curves = Curves(opened.gui)
        self.panel.speed.value = f"{speed:g} x"
        self.dragging = Dragging(self) if source.live else None
        self.sliders = Sliders(self, view.get("sliders", ())) if source.live else None
        self._seen: Any = None
        self._build()
        self._thread = threading.Thread(target=self._loop, name="drystone viewer", daemon=True)
        self._thread.start()
        opened.on_client_connect(self._joined)
        atexit.register(self.close)

    def _joined(self, client: Any) -> None:
        """A page opened: fit the scene into it, and again while its panels find their places, or
        its size changes before anybody has moved the camera."""
        began = time.perf_counter()
        fitted, wanted = 0.0, self.fitted(1.0)

        def fit(camera: Any) -> None:
            nonlocal fitted, wanted
            new = time.perf_counter() - began < SETTLING
            untouched = np.allclose(camera.position, wanted.eye, rtol=1e-3, atol=1e-3)
            if (fitted == 0.0 or new or untouched) and abs(camera.aspect - fitted) > 0.01:
                fitted = camera.aspect
                wanted = self.fitted(camera.aspect)
                camera.position, camera.look_at = wanted.eye, wanted.target
                self.server.initial_camera.position = wanted.eye

        fit(client.camera)
        client.camera.on_update(fit)
        self._dirty, self._still_from = True, began + SETTLING

    def fitted(self, aspect: float) -> Frame:
        """The camera that sees the start of the scene in a page of this width over height."""
        return frame(self.stage.model, self._first, self.view, aspect)

    # what pages and programs ask for -----------------------------------------------------------

    def do(self, name: str, *values: Any) -> None:
        """Ask for something to be done between two steps."""
        self._todo.put((name, *values))

    def close(self) -> None:
        """End the viewer; the simulation stays as it is."""
        if self._closed.is_set():
            return
        self._closed.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)
        if self.dragging is not None:
            self.dragging.release()
        server.stop(self.server)
        atexit.unregister(self.close)

    def wait(self) -> None:
        """Until the viewer is closed, or the program is interrupted."""
        try:
            while not self._closed.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Viewer({self.title!r}, {self.url})"

    def _repr_html_(self) -> str:
        return (
            f'<iframe src="{self.url}" width="100%" height="560" '
            'style="border:1px solid #ddd;border-radius:4px"></iframe>'
        )

    # the thread ----------------------------------------------------------------------------------

    def _loop(self) -> None:
        last = time.perf_counter()
        while not self._closed.is_set():
            now = time.perf_counter()
            passed, last = min(now - last, 0.25), now
            try:
                self._tick(passed)
            except Exception as error:
                self._failed(error)
            rest = 1.0 / REFRESH_RATE - (time.perf_counter() - now)
            if rest > 0:
                self._closed.wait(rest)

    def _tick(self, passed: float) -> None:
        watched = bool(self.server.get_clients())
        while not self._todo.empty():
            name, *values = self._todo.get()
            getattr(self, f"_do_{name}")(*values)
            self._dirty = True
        if self.playing and watched and self._shown:
            self._dirty |= self.source.advance(passed * self.speed, 0.8 / REFRESH_RATE)
        elif self.source.live and watched and self.source.simulation.state is not self._seen:
            self._dirty = True  # somebody else stepped it
        if self._dirty and watched:
            self.draw()
            self._dirty, self._shown = False, True
            self._still_from = max(self._still_from, time.perf_counter())
        self.stage.cast_shadows(watched and time.perf_counter() - self._still_from > SHADOW_DELAY)

    def _failed(self, error: Exception) -> None:
        """A step or a draw went wrong: say so in the page, and wait."""
        self.playing, self._dirty = False, True
        text = (
            str(error) if isinstance(error, DrystoneError) else f"{type(error).__name__}: {error}"
        )
        self.error = text
        self.panel.complain(text)
        self.panel.say(self.playing, self.source)

    def draw(self) -> None:
        """Send the present moment to all pages."""
        source = self.source
        if self._changed():
            self._build()
        state, contacts = source.state, self._contacts()
        self.overlays.still = not self.playing
        with self.server.atomic():
            self.stage.move(state)
            self.overlays.draw(state, contacts)
            self._paint(contacts)
            if self.dragging is not None:
                self.dragging.draw(state)
        self._follow(state)
        if source.live:
            self._seen = source.simulation.state
        now = time.perf_counter()
        if now - self._wrote > SLOWLY or not self.playing:
            self._wrote = now
            self.curves.draw(source.curves(), source.time)
            self.panel.picked.content = panel.selected_text(self.picked, source, state, contacts)
            self.panel.say(self.playing, source)

    def _middle(self, state: Any) -> Any:
        """(3,) what is followed: the picked body, or the middle of those that obey forces."""
        body = self.picked[1] if self.picked is not None and self.picked[0] == "body" else None
        free = self.stage.free
        if body is None and not free.any():
            return None
        place = state.position[body] if body is not None else state.position[free].mean(axis=0)
        return np.append(place, [0.0] * (3 - len(place)))

    def _follow(self, state: Any) -> None:
        if self._followed is None:
            return
        now = self._middle(state)
        away, self._followed = now - self._followed, now
        if np.linalg.norm(away) > 1e-6 * self.stage.camera.size:
            for client in self.server.get_clients().values():
                _shift(client.camera, away)

    def _contacts(self) -> Any:
        wanted = self.overlays.on & {"points", "normals", "forces", "cones"}
        return self.source.contacts if wanted or self._islands or self.picked else None

    def _changed(self) -> bool:
        """Whether bodies were added to or removed from the world since the stage was made."""
        model, shown = self.source.model, self.stage.model
        if model is shown:
            return False
        if np.array_equal(model.geoms.uid, shown.geoms.uid) and model.names == shown.names:
            self.stage.model = model
            return False
        return True

    def _build(self) -> None:
        model, state = self.source.model, self.source.state
        self.server.scene.reset()
        self._first = state
        camera = frame(model, state, self.view)
        self.stage = Stage(self.server, model, state, camera)
        self.overlays = Overlays(self.stage, self._on)
        self.overlays.clicked = lambda k: self.do("pick", "contact", k)
        self._dirty = True
        for template, handle in self.stage.bodies:
            handle.on_click(self._picker(template.bodies))
            if self.dragging is not None:
                self.dragging.watch(template.bodies, handle)
            elif self.stage.planar:
                panning(handle)
        if self.stage.planar:
            panning(self.stage.sheet)

    def _picker(self, bodies: Any) -> Any:
        def clicked(event: Any) -> None:
            if event.instance_index is not None:
                self.do("pick", "body", int(bodies[event.instance_index]))

        return clicked

    def _paint(self, contacts: Any) -> None:
        colours = self.stage.colours
        if self._islands and contacts is not None:
            colours = panel.by_island(self.source.model, colours, contacts)
        if self.picked is not None and self.picked[0] == "body":
            colours = colours.copy()
            colours[self.picked[1]] = palette.PICKED
        self.stage.paint(colours)

    # what is done in it --------------------------------------------------------------------------

    def _do_toggle(self) -> None:
        self.playing = not self.playing
        if self.playing:
            self._clear()

    def _clear(self) -> None:
        self.error = None
        self.panel.complain(None)

    def _do_step(self) -> None:
        self.playing = False
        self._clear()
        self.source.step()

    def _do_reset(self) -> None:
        self._clear()
        if self.dragging is not None:
            self.dragging.release()
        self.source.reset()
        if self._followed is not None:
            self._followed = self._middle(self.source.state)

    def _do_seek(self, moment: float) -> None:
        self.playing = False
        self.source.seek(moment)

    def _do_speed(self, factor: float) -> None:
        self.speed = factor

    def _do_switch(self, kind: str, shown: bool) -> None:
        if kind == "islands":
            self._islands = shown
        elif kind == "follow":
            self._followed = self._middle(self.source.state) if shown else None
            if self._followed is not None:
                for client in self.server.get_clients().values():
                    _shift(client.camera, self._followed - client.camera.look_at)
        elif kind == "grid":
            self.stage.show_grid(shown)
        else:
            self.overlays.switch(kind, shown)

    def _do_length(self, factor: float) -> None:
        self.overlays.scale = factor

    def _do_pick(self, kind: str, number: int) -> None:
        self.picked = None if self.picked == (kind, number) else (kind, number)
        if self._followed is not None:
            self._followed = self._middle(self.source.state)

    def _do_drag(self, phase: str, body: int, start: Any, end: Any) -> None:
        if self.dragging is not None:
            self.dragging.follow(phase, body, start, end)

    def _do_slide(self, number: int, value: float) -> None:
        if self.sliders is not None:
            self.sliders.slide(number, value)


def _shift(camera: Any, away: Any) -> None:
    camera.position, camera.look_at = camera.position + away, camera.look_at + away


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
                "/hand", ends, palette.HAND, thickness=3.0, thickness_units="screen"
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
