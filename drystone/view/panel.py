"""The panels beside the scene: time, what is shown and selected, parameters, curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.dynamics.frames import rotation
from drystone.errors import OptionError
from drystone.escaping import for_line, for_markdown
from drystone.model import Model, State
from drystone.plots import style
from drystone.plots.axes import unit
from drystone.types import Floats
from drystone.view import palette

if TYPE_CHECKING:
    from drystone.view.viewer import Viewer

SPEEDS = {f"{factor:g} x": factor for factor in (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)}
SHOWN = (  # toggle, label, hint
    ("points", "Contact points", "Click one to read its numbers"),
    ("normals", "Normals", "From the second body of a contact to the first"),
    ("forces", "Contact forces", "On the first body; arrow lengths are proportional to the force"),
    ("cones", "Friction cones", "Admissible contact forces, up to the present normal force"),
    ("joints", "Joints", "Anchors, with lines to the centres of mass"),
    ("boxes", "Bounding boxes", "Axis-aligned, in world axes"),
)

# drawn here: viser looks up its icons in an archive of thousands, a fifth of a second for each
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24" {}</svg>'
PLAY = SVG.format('fill="currentColor"><path d="M7 4.5v15l12.5-7.5z"/>')
PAUSE = SVG.format('fill="currentColor"><path d="M6 5h4v14h-4zM14 5h4v14h-4z"/>')
SHOWN_AS_ZERO = 1e-9  # [SI units] smaller values are rounding of bodies at rest and shown as 0
NOTHING = "*Click a body or a contact point.*"


class Panel:
    """GUI elements. What users do is handed to `do(name, value)` of the viewer's queue."""

    def __init__(self, server: Any, planar: bool, do: Callable[..., None]) -> None:
        self.gui, self.planar, self._do = server.gui, planar, do
        self._controls()
        self._shows()
        self.picked = self._folder("Selected", NOTHING)
        self.message = self.gui.add_markdown("", visible=False)
        self.gui.main_panel.dock_right()
        self.gui.main_panel.set_width(300)

    def _controls(self) -> None:
        gui = self.gui
        self.play = gui.add_button("Pause")
        self.play._icon_html = PAUSE
        self.play.on_click(lambda _: self._do("toggle"))
        self.keys = gui.add_button_group("Simulation", ("Step", "Reset"))
        self.keys.on_click(lambda event: self._do(event.target.value.lower()))
        self.time = gui.add_slider("Time [s]", min=0.0, max=1.0, step=0.001, initial_value=0.0)
        self.time.on_update(self._scrubbed)
        self.speed = gui.add_dropdown(
            "Speed", tuple(SPEEDS), initial_value="1 x",
            hint="Simulated seconds per second",
        )  # fmt: skip
        self.speed.on_update(lambda event: self._do("speed", SPEEDS[event.target.value]))
        self.status = gui.add_markdown("")

    def _scrubbed(self, event: Any) -> None:
        if event.client is not None:  # not our own writing of the present time
            self._do("seek", float(event.target.value))

    def _shows(self) -> None:
        gui = self.gui
        self.boxes: dict[str, Any] = {}
        with gui.add_folder("Show"):
            for kind, label, hint in SHOWN:
                self.boxes[kind] = gui.add_checkbox(label, False, hint=hint)
                self.boxes[kind].on_update(self._switch(kind))
            islands = gui.add_checkbox(
                "Islands by colour", False, hint="Bodies connected by contacts and joints"
            )
            islands.on_update(self._switch("islands"))
            self.grid = gui.add_checkbox("Grid", True, visible=not self.planar)
            self.grid.on_update(self._switch("grid"))
            hint = "The camera follows the selected body, or all moving bodies"
            gui.add_checkbox("Follow", False, hint=hint).on_update(self._switch("follow"))
            self.length = gui.add_slider(
                "Arrow length", min=0.2, max=5.0, step=0.1, initial_value=1.0
            )
            self.length.on_update(lambda event: self._do("length", float(event.target.value)))

    def _switch(self, kind: str) -> Callable[[Any], None]:
        return lambda event: self._do("switch", kind, bool(event.target.value))

    def _folder(self, label: str, text: str) -> Any:
        with self.gui.add_folder(label):
            return self.gui.add_markdown(text)

    def say(self, playing: bool, source: Any) -> None:
        """The present time, and how the run is doing."""
        low, high = source.span
        label = "Pause" if playing else "Play"
        if self.play.label != label:
            self.play.label = label
            self.play._icon_html = PAUSE if playing else PLAY
        high = max(round(high, 3), low + 1e-3)
        if self.time.min != low:
            self.time.min = low
        if self.time.max != high:
            self.time.max = high
        self.time.value = float(np.clip(source.time, low, high))
        text = self._words(source)
        if self.status.content != text:
            self.status.content = text

    def _words(self, source: Any) -> str:
        report = source.report
        rows = [("time", f"{source.time:.3f} s")]
        if source.live and source.pace < 0.95:
            rows.append(("speed", f"{source.pace:.2g} of real time"))
        if report is not None:
            rows += [
                ("contacts", f"{report.contacts} in {counted(report.islands, 'island')}"),
                ("residual", f"{report.residual:.1e}, {report.status.name.lower()}"),
                ("penetration", f"{report.penetration:.3g} m"),
                ("energy", f"{report.energy.total:.4g} J"),
            ]
        return table(rows)

    def complain(self, text: str | None) -> None:
        """A message that stays until the next reset or play; None takes it away."""
        self.message.visible = text is not None
        if text is not None:
            self.message.content = f"**The simulation stopped.** {for_markdown(text)}"


def counted(number: int, what: str) -> str:
    """1 island, 2 islands."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def table(rows: list[tuple[str, str]]) -> str:
    """Two columns in Markdown, without a head; texts of others went through ``for_markdown``."""
    return "\n".join(["| | |", "|:--|:--|", *(f"| {a} | {b} |" for a, b in rows)])


def selected_text(picked: tuple[str, int] | None, source: Any, state: State, contacts: Any) -> str:
    """Markdown for the panel."""
    if picked is None:
        return NOTHING
    kind, k = picked
    if kind == "body":
        if k >= source.model.nb:
            return NOTHING
        return body_text(source.model, state, k, contacts, source.forces_read)
    if contacts is None or k >= len(contacts):
        return "*This contact is open.*"
    return contact_text(contacts[k], source.forces_read)


def body_text(model: Model, state: State, b: int, contacts: Any, forces: str = "") -> str:
    """forces: what they are, ``Simulation.forces_read``."""
    dim = model.dim
    velocity, spin = state.velocity[b, :dim], state.velocity[b, dim:]
    place = state.position[b] - rotation(state.orientation[b]) @ model.centre[b]
    free = model.inverse_mass[b] > 0
    rows = [
        ("mass", f"{model.mass[b]:.4g} kg" if free else "fixed or prescribed"),
        ("position", f"{vector(place)} m"),
        ("angle" if dim == 2 else "quaternion", vector(np.atleast_1d(state.orientation[b]))),
        ("velocity", f"{vector(velocity)} m/s"),
        ("angular velocity", f"{vector(spin)} rad/s"),
        ("friction", f"{model.friction[b, 0]:.3g}"),
    ]
    if contacts is not None:
        mine = (contacts["bodies"] == model.names[b]).any(axis=1)
        first = contacts["bodies"][mine][:, 0] == model.names[b]
        force = np.where(first[:, None], 1.0, -1.0) * contacts["force"][mine]
        rows.append(("contacts", str(int(mine.sum()))))
        rows.append(("contact force", f"{vector(force.sum(axis=0))} N"))
        rows += [("forces", forces)] if forces else []
    return f"**{for_markdown(model.names[b])}**\n\n{table(rows)}"


def contact_text(contact: Any, forces: str = "") -> str:
    """forces: as there."""
    a, b = contact["bodies"]
    normal = float(contact["force"] @ contact["normal"])
    tangent = contact["force"] - normal * contact["normal"]
    rows = [
        ("state", str(contact["state"])),
        ("gap", f"{float(contact['gap']):.3e} m"),
        ("point", f"{vector(contact['point'])} m"),
        ("normal", vector(contact["normal"])),
        ("normal force", f"{normal:.4g} N"),
        ("friction force", f"{float(np.linalg.norm(tangent)):.4g} N"),
        ("friction bound", f"{float(contact['friction']) * normal:.4g} N"),
        *([("forces", forces)] if forces else []),
        ("slip", f"{vector(contact['velocity'])} m/s"),
        ("island", str(int(contact["island"]))),
    ]
    return f"**{for_markdown(a)}** on **{for_markdown(b)}**\n\n{table(rows)}"


def vector(values: Any) -> str:
    return ", ".join(f"{0.0 if abs(v) < SHOWN_AS_ZERO else v:.4g}" for v in np.atleast_1d(values))


def by_island(model: Model, colours: palette.Bytes, contacts: Any) -> palette.Bytes:
    """(nb, 3): dynamic bodies in the colour of their island."""
    out = colours.copy()
    place = {name: i for i, name in enumerate(model.names)}
    for pair, island in zip(contacts["bodies"], contacts["island"], strict=True):
        for name in pair:
            b = place.get(str(name))
            if b is not None and model.inverse_mass[b] > 0:
                out[b] = palette.ISLANDS[int(island) % len(palette.ISLANDS)]
    return out


# Sliders for the parameters that a scene declares.

SLIDERS = ("gravity", "friction", "motion", "motor")


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
        if item.get("what") not in SLIDERS:
            raise OptionError(
                f"slider {k}: what = {item.get('what')!r}: expected {', '.join(SLIDERS)}"
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


GRAPHS = (  # title, whether its logarithm is drawn, curves of ``sources.CURVES`` with their colours
    (
        "Energy [J]",
        False,
        ((0, "kinetic", palette.ORANGE), (1, "potential", palette.BLUE), (2, "total", palette.INK)),
    ),
    ("Residual, log10", True, ((3, "residual", palette.BLUE),)),
    ("Penetration [m], log10", True, ((4, "penetration", palette.RED),)),
)
TIME_AXIS: Any = {"label": "time [s]", "size": 34, "labelSize": 18, "labelFont": "12px sans-serif"}
CURVE_FLOOR = 1e-17  # floor of logarithms: smaller values, zero among them, are drawn there


class Curves:
    """A panel of three graphs, with a dot at the present time."""

    def __init__(self, gui: Any) -> None:
        self._handles: list[Any] = []
        self._drawn: tuple[Any, ...] | None = None
        panel = gui.add_panel()
        with panel.add_tab("Curves"):
            for title, _, lines in GRAPHS:
                self._handles.append(self._graph(gui, title, lines))
        panel.dock_left()
        panel.set_width(310)

    def _graph(self, gui: Any, title: str, lines: tuple[Any, ...]) -> Any:
        from viser import uplot

        series = [uplot.Series(label="t")]
        for _, label, colour in lines:
            stroke = "#{:02x}{:02x}{:02x}".format(*colour)
            series.append(uplot.Series(label=label, stroke=stroke, width=1.6))
        dot: Any = {"show": True, "size": 8, "fill": style.RED}
        series.append(uplot.Series(label="now", stroke=style.RED, width=0, points=dot))
        several = len(lines) > 1
        return gui.add_uplot(
            tuple(np.zeros(1) for _ in series), tuple(series), title=title,
            scales=_scales(np.zeros(1), np.zeros(1)), legend=uplot.Legend(show=several, live=False),
            axes=(TIME_AXIS, {"size": 66}), height=196 if several else 170, padding=(4, 14, 0, 0),
        )  # fmt: skip

    def draw(self, curves: tuple[Floats, ...], now: float) -> None:
        """curves: time, then those of ``sources.CURVES``."""
        time, values = curves[0], curves[1:]
        at = int(np.argmin(np.abs(time - now)))
        key = (len(time), float(time[0]), float(time[-1]), at)
        if key == self._drawn:
            return
        self._drawn = key
        for handle, (title, logarithm, lines) in zip(self._handles, GRAPHS, strict=True):
            drawn = [np.asarray(values[k], float) for k, _, _ in lines]
            if logarithm:
                drawn = [np.log10(np.maximum(v, CURVE_FLOOR)) for v in drawn]
            else:
                drawn, handle.title = _scaled(drawn, title)
            dot = np.full(len(time), np.nan)
            dot[at] = drawn[-1][at]
            handle.data = (np.asarray(time, float), *drawn, dot)
            handle.scales = _scales(time, np.concatenate(drawn))


def _scaled(curves: list[Floats], title: str) -> tuple[list[Floats], str]:
    """Curves in a multiple of their unit whose numbers are short enough for the axis."""
    most = max(float(np.nanmax(np.abs(values), initial=0.0)) for values in curves)
    factor, name = unit(most, "J")
    return [factor * values for values in curves], title.replace("[J]", f"[{name}]")


def _scales(time: Floats, values: Floats) -> Any:
    """Ranges: uPlot would find none by itself among gaps."""
    first, last = float(time[0]), max(float(time[-1]), float(time[0]) + 1e-3)
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    pad = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return {"x": {"time": False, "range": (first, last)}, "y": {"range": (low - pad, high + pad)}}
