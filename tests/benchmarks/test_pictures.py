"""Pictures of benchmarks: ticks that can be read, what fell is shown, looks are told apart."""

import math
from itertools import pairwise
from types import SimpleNamespace

import pytest

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

from benchmarks.scenes import picture
from drystone.plots import performance_profile


def row(engine, wall, error, dt=1 / 240):
    return SimpleNamespace(
        case="stop",
        engine=engine,
        world="2D",
        dt=dt,
        wall=wall,
        error=error,
        label="off",
        unit="mm",
    )


def panel(rows):
    """The panel as drawn, with its ticks laid out."""
    figure = Figure(figsize=(3.1, 2.7), layout="constrained")
    axis = figure.subplots()
    looks = {"A": ("o", "#aa0000"), "B": ("s", "#00aa00")}
    picture._panel(axis, rows, looks)
    figure.draw_without_rendering()
    return figure, axis


@pytest.mark.parametrize(
    "rows",
    [
        [row("drystone", 1.1e-3, 0.2), row("A", 4e-4, 4.1), row("B", 4e-4, 0.23)],
        [row("drystone", 1e-3, 0.0), row("A", 0.9e-3, 3e-16)],
        [row("drystone", 2.0, 1e-12), row("A", 3e-5, 2e3), row("B", 1.0, math.inf)],
    ],
)
def test_tick_labels_do_not_overlap(rows):
    """Products of small numbers and powers used to be written over each other."""
    figure, axis = panel(rows)
    renderer = figure._get_renderer()
    for side in (axis.xaxis, axis.yaxis):
        low, high = sorted(side.get_view_interval())
        shown = [
            (where, label)
            for where, label in zip(
                side.get_majorticklocs(), side.get_majorticklabels(), strict=True
            )
            if low <= where <= high
        ]
        assert len(shown) >= 2
        boxes = [label.get_window_extent(renderer) for _, label in shown]
        assert not any(a.overlaps(b) for a, b in pairwise(boxes))
        assert not side.get_minorticklocs().size


def test_who_lets_it_fall_stands_right_of_the_others():
    _, axis = panel([row("drystone", 1e-3, 1e-6), row("A", 1e-3, 5.0), row("B", 1e-3, math.inf)])
    assert "falls" in [text.get_text() for text in axis.texts]
    at = {
        line.get_label(): line.get_xdata()[0] for line in axis.lines if len(line.get_xdata()) == 1
    }
    assert at["B"] > at["A"] > at["drystone, default step"]
    assert axis.get_xlim()[1] > at["B"]


def test_solvers_of_a_panel_never_look_alike_and_keep_their_looks():
    known = {}
    first = performance_profile._looks(["auto", *"abcdefg"], known)
    second = performance_profile._looks(["auto", "g", "h", "a", "i", "j", "k", "l"], known)
    for looks in (first, second):
        assert len({(look["color"], str(look.get("ls"))) for look in looks.values()}) == len(looks)
    assert second["a"] == first["a"]
    assert second["g"] == first["g"]
