"""Draws the pictures of the documentation: ``python docs/make_pictures.py [NAME...]``."""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
from pathlib import Path

import numpy as np

import drystone as ds
from drystone.cli.demo import demo
from drystone.comparison.runs import ComparedRun, simulate
from drystone.plots.scene_picture import save_picture

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"


def brazil_nut() -> None:
    """What ``drystone demo`` draws."""
    with tempfile.TemporaryDirectory() as folder:
        demo(Path(folder))
        (PICTURES / "brazil_nut.png").write_bytes((Path(folder) / "brazil_nut.png").read_bytes())


def arch() -> None:
    """An arch at rest, with its line of thrust."""
    scene = ds.scene("arch", planar=True)
    sim = scene.simulation()
    sim.run(1.0)
    save_picture(sim, PICTURES / "arch.png", view=scene.view)


def card_house() -> None:
    """A house of cards that has stood for five seconds."""
    scene = ds.scene("card-house")
    sim = scene.simulation()
    sim.run(scene.duration)
    save_picture(sim, PICTURES / "card_house.png", view=scene.view)


def spheres() -> None:
    """A thousand spheres that have come to rest in a box."""
    scene = ds.scene("spheres")
    sim = scene.simulation()
    sim.run(1.5)
    save_picture(sim, PICTURES / "spheres.png", view=scene.view)


def ellipse_drop() -> None:
    """Figure 2 of Hart and Anitescu, by the example that draws it."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            runpy.run_path(str(ROOT / "examples" / "07_ellipse_drop.py"))
        finally:
            os.chdir(here)
        picture = (Path(folder) / "ellipse_drop.png").read_bytes()
    (PICTURES / "ellipse_drop.png").write_bytes(picture)


def ragdoll() -> None:
    """A figure of fifteen bodies on its way down."""
    _moment("ragdoll", 0.75)


def vehicle() -> None:
    """Front wheels on the second bump."""
    _moment("vehicle", 1.29)


def gripper() -> None:
    """A cube that friction alone holds."""
    _moment("gripper", 1.5)


def geneva() -> None:
    """The pin in a slot, with the force it exerts."""
    _moment("geneva", 0.95)


def chain_whip() -> None:
    """A chain with a heavy bob, let go from horizontal, ten times a second."""
    from drystone.plots import style

    scene = ds.scene("chain-whip", planar=True)
    sim = scene.simulation(dt=1 / 1000)
    with style.figure(7.0, 4.4) as fig:
        axes = fig.add_axes((0, 0, 1, 1))
        axes.set_aspect("equal")
        axes.axis("off")
        for k in range(17):
            x = np.vstack([(0, 0), sim.state.position])
            shade = str(0.75 - 0.7 * k / 16)
            axes.plot(*x.T, color=shade, lw=1.0)
            axes.plot(*x[-1], "o", color=shade, ms=7)
            sim.run(0.1)
        style.save(fig, PICTURES / "chain_whip.png")


def penalty_rods() -> None:
    """Figures 12.1 to 12.3 of the thesis: normal force over time, for stiffer and stiffer springs
    and for depths at the start."""
    from drystone.plots import style

    with style.figure(8.0, 3.0) as fig:
        axes = fig.add_axes((0.08, 0.17, 0.4, 0.72))
        for k, colour in ((1e4, style.QUIET), (1e5, style.ORANGE), (1e6, style.RED)):
            t, f = _pressed("rod-inconsistent", k, 0.1, 100)
            axes.plot(1e3 * t, f, color=colour, label=f"$k = 10^{{{round(np.log10(k))}}}$ N/m")
        axes.set_title("no force: an impulse")
        axes.set_xlabel("time [ms]")
        axes.set_ylabel("$f_N$ [N]")
        axes.set_xlim(0, 40)
        axes.legend(frameon=False)
        axes = fig.add_axes((0.58, 0.17, 0.4, 0.72))
        for depth, colour in ((0.0, style.INK), (0.9, style.BLUE), (1.0, style.ORANGE)):
            t, f = _pressed("rod-indeterminate", 1e6, 0.1, 90, depth=depth / 1e6)
            axes.plot(1e3 * t, f, color=colour, label=f"$d_0 = {depth:g}\\,m/k$")
        t, f = _pressed("rod-indeterminate", 1e6, 0.1, 90, depth=1.5e-6)
        axes.plot(1e3 * t, f, color=style.RED, label="$d_0 = 1.5\\,m/k$")
        axes.set_title("two forces: the initial penetration decides")
        axes.set_xlabel("time [ms]")
        axes.set_ylim(-0.1, 5)
        axes.legend(frameon=False)
        style.save(fig, PICTURES / "penalty_rods.png")


def _pressed(name: str, k: float, dt: float, steps: int, **settings: float) -> tuple:
    """Times and normal forces of a rod on springs, every dt / sqrt(k)."""
    method = ds.Penalty(dt=dt / np.sqrt(k), stiffness=k, slip_speed=1e-2)
    sim = ds.scene(name, **settings).simulation(method=method)
    out = []
    for _ in range(steps):
        sim.step()
        out.append((sim.time, sim.contacts["force"][:, 1].sum()))
    return tuple(np.array(out).T)


def rocking() -> None:
    """Figures 6.6 to 6.8 of the thesis: the reaction R(t) over the weight, and how it diverges."""
    from drystone.plots import style

    names = ("ellipsoid-rock", "eccentric-ellipsoid-rock", "superquadric-rock")
    with style.figure(8.0, 4.9) as fig:
        for k, name in enumerate(names):
            axes = fig.add_axes((0.08 + 0.315 * k, 0.6, 0.255, 0.33))
            times = np.arange(1, 401) / 160
            crossings = _crossings(name) if k == 2 else []
            for t0 in crossings:
                times = np.append(times, t0 + np.outer((-1, 1), np.geomspace(1e-7, 3e-2, 40)))
            t, R, _ = _reactions(name, np.unique(times))
            axes.plot(t, R, color=style.BLUE, lw=1.0)
            axes.set_title(name)
            axes.set_xlabel("time [s]")
            axes.set_yscale("log" if k == 2 else "linear")
            axes.set_ylim(None if k == 2 else 0, None)
            axes.set_xlim(0, 2.5)
            if k == 0:
                axes.set_ylabel("$R / (m g)$")
        _divergence(fig, crossings[0])
        style.save(fig, PICTURES / "rocking.png")


def _divergence(fig, t0: float) -> None:
    """Force before a flat spot, and impulse across it, over the distance in time."""
    from drystone.plots import style

    distance = np.geomspace(1e-8, 1e-2, 25)
    _, R, speed = _reactions(
        "superquadric-rock", np.concatenate([t0 - distance[::-1], t0 + distance])
    )
    n = distance.size
    impulse = (speed[n:] - speed[:n][::-1]) + 9.81 * 2 * distance
    for k, (values, power, title) in enumerate(
        (
            (R[:n][::-1], -2 / 3, "force at $t_0 - \\delta$, over the weight"),
            (
                impulse,
                1 / 3,
                "impulse within $\\delta$ of $t_0$, over the mass [m/s]",
            ),
        )
    ):
        axes = fig.add_axes((0.08 + 0.48 * k, 0.1, 0.4, 0.35))
        line = values[0] * (distance / distance[0]) ** power
        axes.loglog(distance, line, color=style.QUIET, lw=2.5, alpha=0.5)
        axes.loglog(distance, values, "o", color=style.BLUE, ms=3)
        axes.annotate(
            f"$\\delta^{{{'-2/3' if k == 0 else '1/3'}}}$", (distance[12], line[12]),
            textcoords="offset points", xytext=(6, 6 if k == 0 else -12),
        )  # fmt: skip
        axes.set_title(title)
        axes.set_xlabel("$\\delta$ [s]")


def _crossings(name: str) -> list[float]:
    """Instants within 2.5 s at which a rocking body is upright, to rounding: by Newton's method, as
    its angle is nearly linear there."""
    method = ds.EventDriven(dt=5e-3, rtol=1e-10, atol=1e-12)
    sim = ds.scene(name).simulation(method=method)
    out, before = [], 1.0
    while sim.time < 2.5:
        start = sim.state
        sim.step()
        angle, speed = _turned(sim.state)
        if angle * before < 0:
            t = sim.time - angle / speed
            for _ in range(5):
                near, speed = _turned(sim.stepper.step(start, t - start.time)[0])
                t -= near / speed
            out.append(t)
        before = angle
    return out


def _turned(state) -> tuple[float, float]:
    """Angle and speed of the rocking body."""
    w, _, y, _ = state.orientation[1]
    return 2 * np.arctan2(y, w), state.velocity[1, 4]


def _reactions(name: str, times: np.ndarray) -> tuple:
    """Times, R / (m g) and the body's vertical velocity, by events."""
    sim = ds.scene(name).simulation(method=ds.EventDriven(rtol=1e-10, atol=1e-12))
    state, out = sim.state, []
    for t in times:
        state, _ = sim.stepper.step(state, t - state.time)
        force = sim.stepper.contact_table()["force"][:, 2].sum()
        out.append((state.time, force / 9.81, state.velocity[1, 2]))
    return tuple(np.array(out).T)


def chains_1989() -> None:
    """Figure 14 c to f, three moments of each."""
    moments = {
        "destructive-chain": (0.3, 0.72, 1.2),
        "chain-pivot": (0.3, 0.62, 0.8),
        "blocks-chain": (0.2, 0.5, 2.0),
        "many-blocks-chain": (0.1, 0.5, 2.0),
    }
    _panels("chains_1989", moments, 1e-3)


def mechanisms_1994() -> None:
    """The double-action jack and the feeder, three moments of each."""
    moments = {"double-action-jack": (0.1, 1.5, 3.5), "block-feeder": (0.9, 3.2, 7.4)}
    _panels("mechanisms_1994", moments, 1 / 240)


def _panels(picture: str, moments: dict[str, tuple[float, ...]], dt: float) -> None:
    """Planar scenes, a row each, at some times [s]."""
    from drystone.plots import style
    from drystone.plots.planar_picture import draw_planar

    rows, columns = len(moments), 3
    with style.figure(7.0, 2.35 * rows) as fig:
        for i, (name, times) in enumerate(moments.items()):
            scene = ds.scene(name, **({"n": 4} if name == "block-feeder" else {}))
            sim = scene.simulation(method=ds.TimeStepping(dt=dt))
            for k, time in enumerate(times):
                sim.run(time - sim.time)
                place = (k / columns, 1 - (i + 1) / rows, 0.99 / columns, 0.88 / rows)
                axes = fig.add_axes(place)
                draw_planar(axes, sim.model, sim.state, limits=scene.view["limits"])
                axes.set_title(f"{name}, {time:g} s", fontsize=7.5)
        style.save(fig, PICTURES / f"{picture}.png")


def bricks() -> None:
    """Figure 14a: the stack on its way down."""
    _moment("bricks", 0.3)


def jack_stairs() -> None:
    """Figure D.1 of the thesis."""
    _moment("jack-stairs", 0.9, "jack_stairs")


def dice_lattice() -> None:
    """Figure D.2 of the thesis."""
    _moment("dice-lattice", 0.45, "dice_lattice")


def collapse() -> None:
    """Figure D.3 of the thesis."""
    _moment("collapse", 0.65)


def _moment(name: str, time: float, file: str = "") -> None:
    """A scene of the gallery after `time` seconds."""
    scene = ds.scene(name)
    sim = scene.simulation()
    sim.run(round(time / sim.method.dt) * sim.method.dt)
    save_picture(sim, PICTURES / f"{file or name}.png", view=scene.view)


def plot_energy() -> None:
    """The ledger of the Brazil nut, as ``drystone plot`` draws it."""
    ds.plot(_kept("brazil-nut", 30.0), "energy", path=PICTURES / "plot_energy.png")


def plot_chains() -> None:
    """Grains as the box throws them, and bricks in running bond."""
    ds.plot(_kept("brazil-nut", 29.0), "chains", path=PICTURES / "plot_chains.png")
    ds.plot(_kept("wall", 1.0), "chains", path=PICTURES / "plot_chains_wall.png")


def comparison() -> None:
    """The falling ellipse by steps of three sizes and from event to event; an arch's thrust."""
    steps = [f"time-stepping:dt=1/{n}" for n in (20, 80, 1280)]
    found = ds.compare("ellipse-drop", [*steps, "event-driven"], duration=6.0)
    found.plot(PICTURES / "comparison.png")
    arch = ds.scene("arch", planar=True)
    found = ds.compare(arch, ["time-stepping", "event-driven"], duration=0.5)
    found.plot_states(PICTURES / "comparison_states.png")


def _kept(name: str, seconds: float) -> ComparedRun:
    """The run of a scene, with its contacts."""
    scene = ds.scene(name)
    return simulate(scene.simulation(), seconds, title=name, view=scene.view)


GALLERY = (brazil_nut, arch, card_house, spheres, ellipse_drop)
MECHANISMS = (ragdoll, vehicle, gripper, geneva, chain_whip)
PAPERS = (bricks, chains_1989, jack_stairs, dice_lattice, collapse, rocking, mechanisms_1994)
PLOTS = (plot_energy, plot_chains, comparison)
ALL = {f.__name__: f for f in (*GALLERY, *MECHANISMS, *PAPERS, *PLOTS, penalty_rods)}

if __name__ == "__main__":
    for name in sys.argv[1:] or ALL:
        ALL[name]()
