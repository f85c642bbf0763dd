"""Figures of the papers again, for the page ``reproducing``: ``python docs/paper_pictures.py``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import drystone as ds
from drystone.plots import style
from drystone.plots.planar_picture import draw_planar

PICTURES = Path(__file__).parent / "pictures"
SPRINGS = ds.Penalty(dt=0.01, stiffness=600.0, damping=60.0)


def frames(name: str, times: list[float], size: tuple[float, float], limits: Any) -> None:
    """Moments of a planar scene side by side, saved under the scene's name."""
    sim = ds.scene(name).simulation()
    with style.figure(*size) as fig:
        for k, moment in enumerate(times):
            if moment > sim.time:
                sim.run(moment - sim.time)
            axes = fig.add_axes((k / len(times), 0.0, 0.98 / len(times), 0.88))
            draw_planar(axes, sim.model, sim.state, limits=limits)
            axes.set_title(f"{moment:g} s", fontsize=8, fontweight="normal")
        style.save(fig, PICTURES / f"{name.replace('-', '_')}_frames.png")


def ellipse_frames() -> None:
    """Figure 1 of 2003: ten frames of the ellipse, in one picture as there."""
    sim = ds.scene("ellipse-drop").simulation()
    with style.figure(4.0, 4.2) as fig:
        axes = fig.add_axes((0.0, 0.0, 1.0, 1.0))
        kept = sim.run(3.0, record=True)
        for k, moment in enumerate(np.linspace(0.0, 3.0, 10)):
            state = kept.state(int(np.argmin(np.abs(kept.time - moment))))
            level = round(232 - 11 * k)
            shade = f"#{level:02x}{level - 8:02x}{level - 24:02x}"
            draw_planar(
                axes, sim.model, state, limits=((-8, 8), (-0.6, 16)), colours={"ellipse": shade}
            )
        style.save(fig, PICTURES / "ellipse_drop_frames.png")


def disks_frames() -> None:
    """Figures 3 to 6 of 2003."""
    frames("disks-21", [0.0, 3.0, 6.0, 20.0], (8.4, 1.25), ((-90, 90), (-6, 44)))


def brazil_nut_frames() -> None:
    """Figure 9 of 2003."""
    frames("brazil-nut", [0.0, 25.0, 50.0, 75.0], (8.4, 2.0), ((-24, 24), (-4, 36)))


def disks_depth() -> None:
    """Figure 8 of 2003: penetration of the disks with and without stabilisation."""
    with style.figure(7.0, 2.4) as fig:
        for k, stabilize in enumerate((False, True)):
            sim = ds.scene("disks-21").simulation(stabilize=stabilize)
            kept = sim.run(20.0, record=True)
            axes = fig.add_axes((0.1 + 0.5 * k, 0.2, 0.39, 0.66))
            axes.plot(kept.time[1:], kept.series("penetration"), color=style.BLUE, lw=1.0)
            axes.set_title("stabilised" if stabilize else "not stabilised")
            axes.set_xlabel("time [s]")
            axes.set_ylim(0, None)
        fig.axes[0].set_ylabel("penetration [m]")
        style.save(fig, PICTURES / "disks_21_depth.png")


def brazil_nut_cost() -> None:
    """Figure 7 of 2003: time to solve a step, and contacts."""
    sim = ds.scene("brazil-nut").simulation()
    sim.profile = True
    sim.step()
    kept = sim.run(74.8, record=True)
    seconds = np.array([sum(report.seconds.values()) for report in kept.reports])
    with style.figure(7.0, 2.4) as fig:
        for k, (value, title, label) in enumerate(
            (
                (1e3 * seconds, "time of a step", "[ms]"),
                (kept.series("contacts"), "contacts", ""),
            )
        ):
            axes = fig.add_axes((0.08 + 0.5 * k, 0.2, 0.4, 0.66))
            axes.plot(kept.time[1:], value, color=style.BLUE, lw=0.8)
            axes.set_title(title)
            axes.set_xlabel("simulated time [s]")
            axes.set_ylabel(label)
            axes.set_ylim(0, None)
        style.save(fig, PICTURES / "brazil_nut_cost.png")
    print(f"steps: {1e3 * np.median(seconds):.1f} ms, at most {1e3 * seconds.max():.1f} ms")
    contacts = kept.series("contacts")
    print(f"contacts: {contacts.min()} to {contacts.max()}, median {np.median(contacts):g}")


def penalty_sinkage() -> None:
    """Figure 2 of 1989: springs let heavier bodies sink deeper, constraints do not."""
    masses = (1.0, 4.0, 16.0)
    with style.figure(5.6, 2.0) as fig:
        for k, method in enumerate((SPRINGS, ds.TimeStepping())):
            world = ds.World(planar=True)
            world.add_ground(friction=0.5)
            for i, mass in enumerate(masses):
                world.add_body(
                    ds.Rectangle(0.5, 0.5), name=f"{mass:g}", mass=mass, position=(0.8 * i, 0.25)
                )
            sim = ds.Simulation(world, method=method)
            sim.run(6.0)
            axes = fig.add_axes((0.5 * k, 0.0, 0.49, 0.84))
            draw_planar(axes, sim.model, sim.state, limits=((-0.5, 2.1), (-0.3, 0.75)))
            for name, place in zip(sim.bodies[1:], sim.state.position[1:], strict=True):
                axes.annotate(f"{name} kg", place, ha="center", va="center", fontsize=7)
            depths = [1e3 * (0.25 - y) for y in sim.state.position[1:, 1]]
            print(method.name, "depths [mm]:", np.round(depths, 4))
            axes.set_title("springs" if k == 0 else "constraints")
        style.save(fig, PICTURES / "penalty_sinkage.png")


ALL = {
    f.__name__: f
    for f in (
        ellipse_frames,
        disks_frames,
        disks_depth,
        brazil_nut_frames,
        brazil_nut_cost,
        penalty_sinkage,
    )
}

if __name__ == "__main__":
    for name in sys.argv[1:] or ALL:
        ALL[name]()
