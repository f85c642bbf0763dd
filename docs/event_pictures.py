"""Draws the pictures of the event-driven method: ``python docs/event_pictures.py [NAME...]``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import drystone as ds
from drystone.plots import style
from drystone.plots.planar_picture import draw_planar
from drystone.plots.scene_picture import save_picture
from drystone.steppers.event_driven.forces import ContactState
from drystone.steppers.event_driven.impulses import collide

PICTURES = Path(__file__).parent / "pictures"
EXACT = ds.EventDriven(dt=0.01, rtol=1e-10, atol=1e-12)


def side_by_side() -> None:
    """Time stepping at several steps against the event-driven method."""
    drop, fall = ds.scene("ellipse-drop"), ds.scene("bricks", planar=True)
    with style.figure(8.6, 3.0) as fig:
        axes = fig.add_axes((0.07, 0.17, 0.26, 0.7))
        _paths(axes, drop, 4.0, "ellipse", (0.1, 0.05, 0.02), lambda body: body.position[1])
        axes.set_title("ellipse-drop")
        axes.set_ylabel("height of the centre [m]")
        axes.legend(frameon=False, fontsize=7.5)
        axes = fig.add_axes((0.4, 0.17, 0.26, 0.7))
        _paths(axes, fall, 0.24, "brick5", (0.04, 0.02, 0.01), lambda body: body.position[1])
        axes.set_title("bricks, the topmost")
        axes.set_ylabel("height [m]")
        axes.legend(frameon=False, fontsize=7.5)
        axes = fig.add_axes((0.74, 0.17, 0.25, 0.7))
        _slopes(axes, "ellipse-drop, 2 s", drop, 2.0, (4e-3, 2e-3, 1e-3, 5e-4), style.BLUE)
        _slopes(axes, "bricks, 0.16 s", fall, 0.16, (4e-3, 2e-3, 1e-3, 5e-4), style.ORANGE)
        h = np.array([4e-3, 5e-4])
        axes.loglog(h, 2 * h, ":", color=style.QUIET, lw=1.0, label="slope 1")
        axes.set_xticks([5e-4, 1e-3, 2e-3, 4e-3], ["0.5", "1", "2", "4"])
        axes.set_xticks([], minor=True)
        axes.set_title("error of positions")
        axes.set_xlabel("step $h$ [ms]")
        axes.set_ylabel("[m]")
        axes.legend(frameon=False, fontsize=7.5)
        style.save(fig, PICTURES / "side_by_side.png")


def _paths(axes, scene, duration: float, name: str, steps: tuple[float, ...], value) -> None:
    shades = (style.QUIET, style.ORANGE, style.RED)
    for h, colour in zip(steps, shades, strict=True):
        t, x = _path(scene.simulation(method=ds.TimeStepping(dt=h)), duration, name, value)
        axes.plot(t, x, color=colour, lw=1.0, label=f"$h$ = {h:g} s")
    t, x = _path(scene.simulation(method=EXACT), duration, name, value)
    axes.plot(t, x, color=style.INK, lw=1.2, label="events")
    axes.set_xlabel("time [s]")


def _path(sim, duration: float, name: str, value) -> tuple[list[float], list[float]]:
    times, values = [0.0], [value(sim.body(name))]
    while sim.time < duration - 1e-9:
        sim.step()
        times.append(sim.time)
        values.append(value(sim.body(name)))
    return times, values


def _slopes(axes, label: str, scene, until: float, steps: tuple[float, ...], colour: str) -> None:
    exact = scene.simulation(method=EXACT)
    exact.run(until)
    errors = []
    for h in steps:
        sim = scene.simulation(method=ds.TimeStepping(dt=h))
        sim.run(until)
        errors.append(np.abs(sim.state.position - exact.state.position).max())
    axes.loglog(steps, errors, "o-", color=colour, lw=1.2, ms=3.5, label=label)


def heavy_ball() -> None:
    """Figure 12 of 1989: all contacts at once, or one after the other."""
    scene = ds.scene("heavy-ball")
    speed, ratio = scene.settings["speed"], scene.settings["ratio"]
    J = np.zeros((2, 2, 2, 3))  # the light ball on the floor, the heavy one on the light one
    J[0, 0, 0, 1] = J[1, 0, 0, 1] = 1.0
    J[1, 0, 1, 1] = -1.0
    J[0, 1, 0, 0] = J[1, 1, 0, 0] = 1.0
    J[1, 1, 1, 0] = -1.0
    state = ContactState(
        body=[[0, -1], [1, 0]], J=J, u=[[0, 0], [-speed, 0]], mu=0.0,
        inverse_mass=[1.0, 1 / ratio], inverse_inertia=[1.0, 1.0],
    )  # fmt: skip
    left = [0.5 * ratio * speed**2]
    for impact in collide(state, order="propagation").impacts:
        left.append(left[-1] + impact.energy)
    speeds = np.sqrt(np.maximum(2 * np.array(left[::2]) / ratio, 0.0))  # after the floor's turn
    with style.figure(7.0, 2.8) as fig:
        axes = fig.add_axes((0.0, 0.0, 0.33, 1.0))
        sim = scene.simulation()
        limits = ((-0.35, 0.35), (-0.08, 0.62))
        draw_planar(axes, sim.model, sim.state, limits=limits)
        axes.annotate("9 kg", sim.body("heavy").position, ha="center", va="center")
        axes.annotate("1 kg", sim.body("light").position, ha="center", va="center")
        arrow = {"arrowstyle": "->", "color": style.RED, "lw": 1.6}
        axes.annotate("", (0.16, 0.22), (0.16, 0.38), arrowprops=arrow)
        axes.annotate("$v$", (0.2, 0.29), color=style.RED)
        axes = fig.add_axes((0.45, 0.2, 0.52, 0.68))
        n = np.arange(speeds.size)
        axes.plot(n, speed * 0.9**n, "-", color=style.QUIET, lw=1.0, label="$0.9^n v$")
        axes.plot(n, speeds, "o", color=style.ORANGE, ms=3.0, label="one after the other")
        axes.plot([0, 1], [speed, 0.0], "s-", color=style.BLUE, ms=4.0, lw=1.0, label="all at once")
        axes.set_xlim(-0.5, 40)
        axes.set_xlabel("rounds of impacts")
        axes.set_ylabel("speed of the heavy ball [m/s]")
        axes.legend(frameon=False)
        style.save(fig, PICTURES / "heavy_ball.png")


def struck_block() -> None:
    """Figure 13 of 1989: before, at and after the blow."""
    scene = ds.scene("struck-block")
    sim = scene.simulation(dt=1e-3)
    with style.figure(8.4, 2.5) as fig:
        for k, time in enumerate((0.0, 0.023, 0.12)):
            sim.run(time - sim.time) if time else None
            axes = fig.add_axes((k / 3, 0.0, 0.33, 0.88))
            limits = ((-1.2, 1.2), (-0.05, 1.5))
            draw_planar(axes, sim.model, sim.state, limits=limits)
            for name in ("A", "C"):
                place, v = sim.body(name).position, sim.body(name).velocity
                axes.annotate(name, place, ha="center", va="center", fontsize=8)
                if abs(v[1]) > 1e-6:
                    tip = (place[0] + 0.17, place[1] + 0.2 * v[1])
                    arrow = {"arrowstyle": "->", "color": style.RED, "lw": 1.5}
                    axes.annotate("", tip, (tip[0], place[1]), arrowprops=arrow)
                    text = (tip[0] + 0.04, place[1] + 0.03)
                    axes.annotate(f"{v[1]:.2f} m/s", text, color=style.RED, fontsize=7)
            axes.set_title(f"{sim.time:.3f} s", fontsize=9)
        style.save(fig, PICTURES / "struck_block.png")


def dominoes() -> None:
    """Figure 14b of 1989: the front on its way."""
    scene = ds.scene("dominoes", n=40)
    sim = scene.simulation()
    sim.run(240 * sim.method.dt)
    view = {"camera": (1.0, -3.2, 2.0), "target": (3.6, 0.0, 0.1)}
    save_picture(sim, PICTURES / "dominoes.png", view=view)


def puzzles() -> None:
    """Figures 11.3 and 12.4 of the thesis, with the ways on from where they stand."""
    with style.figure(8.4, 3.2) as fig:
        for k, name in enumerate(("subset-sum", "indeterminate-impulse")):
            scene = ds.scene(name)
            sim = scene.simulation()
            axes = fig.add_axes((0.5 * k, 0.16, 0.49, 0.74))
            draw_planar(axes, sim.model, sim.state, limits=scene.view["limits"])
            axes.set_title(name, fontsize=9)
            ways = [
                f"{way.kind}: {', '.join(f'{f:.3g}' for f in way.f[:, 0])}"
                for way in sim.solutions()
            ]
            text = "normal " + "\n".join(ways[:3])
            fig.text(0.5 * k + 0.245, 0.08, text, ha="center", va="center", fontsize=7.5)
        style.save(fig, PICTURES / "puzzles.png")


ALL = {f.__name__: f for f in (side_by_side, heavy_ball, struck_block, dominoes, puzzles)}

if __name__ == "__main__":
    for name in sys.argv[1:] or ALL:
        ALL[name]()
