"""The controls beside the scene: time, what is shown, what is picked, and curves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drystone.view import look

SPEEDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
SHOWN = (  # toggle, label, hint
    ("points", "Contact points", "Click one to read its numbers"),
    ("normals", "Normals", "From the second body of a contact to the first"),
    ("forces", "Contact forces", "On the first body; the longest arrow is the strongest force"),
    ("cones", "Friction cones", "Where the force may lie, as high as its normal part"),
    ("joints", "Joints", "Anchors, and arms to the centres of mass"),
    ("boxes", "Bounding boxes", "Along the axes of the world"),
)
GRAPHS = (  # title, curves of ``sources.CURVES``, with labels and colours
    (
        "Energy [J]",
        ((0, "kinetic", look.ORANGE), (1, "potential", look.BLUE), (2, "sum", look.INK)),
    ),
    ("Residual", ((3, "residual", look.BLUE),)),
    ("Depth [m]", ((4, "deepest overlap", look.RED),)),
)


def hexed(colour: look.RGB) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


class Panel:
    """GUI elements. What users do is handed to `do(name, value)` of the viewer's queue."""

    def __init__(self, server: Any, live: bool, do: Callable[..., None]) -> None:
        self.gui, self.live, self._do = server.gui, live, do
        self._past = 0.0
        self._controls()
        self._shows()
        self.picked = self._folder("Picked", "*Click a body or a contact point.*")
        self.message = self.gui.add_markdown("", visible=False)
        self._plots()

    def _controls(self) -> None:
        gui = self.gui
        self.play = gui.add_button("Pause", icon="player-pause")
        self.play.on_click(lambda _: self._do("toggle"))
        self.keys = gui.add_button_group("Go", ("Step", "Reset"))
        self.keys.on_click(lambda event: self._do(event.target.value.lower()))
        self.time = gui.add_slider("Time [s]", min=0.0, max=1.0, step=0.001, initial_value=0.0)
        self.time.on_update(self._scrubbed)
        self.speed = gui.add_slider(
            "Speed", min=0, max=len(SPEEDS) - 1, step=1, initial_value=SPEEDS.index(1.0),
            marks=tuple((k, f"{s:g}") for k, s in enumerate(SPEEDS) if k in (0, 2, 4, 6)),
            hint="Seconds of the scene in a second of yours",
        )  # fmt: skip
        self.speed.on_update(lambda event: self._do("speed", SPEEDS[int(event.target.value)]))
        self.status = gui.add_markdown("")

    def _scrubbed(self, event: Any) -> None:
        if event.client is not None:  # not our own writing of the present time
            self._do("seek", float(event.target.value))

    def _shows(self) -> None:
        gui = self.gui
        with gui.add_folder("Show"):
            for kind, label, hint in SHOWN:
                box = gui.add_checkbox(label, False, hint=hint)
                box.on_update(self._switch(kind))
            islands = gui.add_checkbox(
                "Islands by colour", False, hint="Bodies that push each other"
            )
            islands.on_update(self._switch("islands"))
            self.grid = gui.add_checkbox("Grid", True)
            self.grid.on_update(self._switch("grid"))
            self.length = gui.add_slider(
                "Arrow length", min=0.2, max=5.0, step=0.1, initial_value=1.0
            )
            self.length.on_update(lambda event: self._do("length", float(event.target.value)))

    def _switch(self, kind: str) -> Callable[[Any], None]:
        return lambda event: self._do("switch", kind, bool(event.target.value))

    def _folder(self, label: str, text: str) -> Any:
        with self.gui.add_folder(label):
            return self.gui.add_markdown(text)

    def _plots(self) -> None:
        import viser.uplot as uplot

        panel = self.gui.add_panel()
        self.curves = []
        with panel.add_tab("Curves"):
            for title, lines in GRAPHS:
                series = [uplot.Series(label="t [s]")]
                series += [
                    uplot.Series(label=label, stroke=hexed(colour), width=1.6)
                    for _, label, colour in lines
                ]
                series.append(
                    uplot.Series(
                        label="now", stroke=hexed(look.FORCE), points={"show": True, "size": 7}
                    )
                )
                none = np.zeros(1)
                scales = {"x": uplot.Scale(time=False)}
                if title == "Residual":
                    scales["y"] = uplot.Scale(distr=3)
                self.curves.append(
                    self.gui.add_uplot(
                        tuple(none for _ in series), tuple(series), title=title, scales=scales,
                        legend=uplot.Legend(show=False), height=170, padding=(4, 14, 0, 0),
                    )
                )  # fmt: skip
        panel.dock_left()
        panel.set_width(310)
        self.gui.main_panel.dock_right()
        self.gui.main_panel.set_width(300)

    def say(self, playing: bool, source: Any) -> None:
        """The present time, and how the run is doing."""
        low, high = source.span
        label = "Pause" if playing else "Play"
        if self.play.label != label:
            self.play.label = label
            self.play.icon = "player-pause" if playing else "player-play"
        high = max(high, low + 1e-3)
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
            rows.append(("runs at", f"{source.pace:.2g} of real time"))
        if report is not None:
            rows += [
                ("contacts", f"{report.contacts} in {report.islands} islands"),
                ("residual", f"{report.residual:.1e}, {report.status.value}"),
                ("deepest overlap", f"{report.infeasibility:.2e} m"),
                ("energy", f"{report.energy.total:.4g} J"),
            ]
        return table(rows)

    def complain(self, text: str | None) -> None:
        """A message that stays until the next reset or play; None takes it away."""
        self.message.visible = text is not None
        if text is not None:
            self.message.content = f"**The simulation stopped.** {text}"

    def plot(self, curves: tuple[Any, ...], now: float) -> None:
        time, values = curves[0], curves[1:]
        at = int(np.argmin(np.abs(time - now)))
        for handle, (title, lines) in zip(self.curves, GRAPHS, strict=True):
            floor = 1e-16 if title == "Residual" else -np.inf
            drawn = [np.maximum(values[k], floor) for k, _, _ in lines]
            mark = np.full(len(time), np.nan)
            mark[at] = drawn[-1][at]
            handle.data = (time.astype(float), *(np.asarray(d, float) for d in drawn), mark)


def table(rows: list[tuple[str, str]]) -> str:
    """Two columns in Markdown, without a head."""
    return "\n".join(["| | |", "|:--|:--|", *(f"| {a} | {b} |" for a, b in rows)])
