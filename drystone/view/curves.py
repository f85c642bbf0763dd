"""Energy, residual and penetration over time, beside the scene."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.plots import style
from drystone.plots.axes import unit
from drystone.types import Floats
from drystone.view import look

GRAPHS = (  # title, whether its logarithm is drawn, curves of ``sources.CURVES`` with their colours
    (
        "Energy [J]",
        False,
        ((0, "kinetic", look.ORANGE), (1, "potential", look.BLUE), (2, "total", look.INK)),
    ),
    ("Residual, log10", True, ((3, "residual", look.BLUE),)),
    ("Penetration [m], log10", True, ((4, "penetration", look.RED),)),
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
