"""The picture that moves in the README: a dry tower struck by a ball, drawn by Drystone itself."""

from __future__ import annotations

import math
from pathlib import Path

import drystone as ds
from drystone.view.export_video import write_animation

HERE = Path(__file__).parent
COURSES, AROUND, RADIUS, HEIGHT, DEPTH = 12, 14, 0.62, 0.13, 0.17
VIEW = {
    "camera": (-2.2, -5.2, 2.4), "target": (0, 0, 0.6),
    "bounds": ((-1.7, -1.0, 0), (2.0, 1.0, 1.6)),
}  # fmt: skip


def tower() -> ds.World:
    """Rings of bricks, each turned by half a brick against the one below, and a ball."""
    world = ds.World()
    world.add_ground(friction=0.6)
    length = 2 * (RADIUS - 0.5 * DEPTH) * math.tan(math.pi / AROUND) - 0.004
    brick = ds.Box(length, DEPTH, HEIGHT)
    for course in range(COURSES):
        for k in range(AROUND):
            angle = 2 * math.pi * (k + 0.5 * (course % 2)) / AROUND
            half = 0.5 * angle + 0.25 * math.pi
            world.add_body(
                brick, name=f"brick {course}.{k}", density=2000, friction=0.6,
                position=(
                    RADIUS * math.cos(angle), RADIUS * math.sin(angle), (course + 0.5) * HEIGHT,
                ),
                orientation=(math.cos(half), 0, 0, math.sin(half)),
            )  # fmt: skip
    world.add_body(
        ds.Sphere(0.24), name="ball", density=7800, friction=0.4,
        position=(-2.6, -0.9, 0.62), velocity=(11.0, 3.4, 1.0),
    )  # fmt: skip
    return world


def main() -> None:
    sim = ds.Simulation(tower(), method=ds.TimeStepping(dt=1 / 240))
    replay = sim.run(2.6, record=True, every=2)
    write_animation(
        replay, HERE / "pictures" / "tower.webp", size=(720, 420), fps=25, speed=0.6,
        view=VIEW, colours={"ball": "#3d4f5e"},
    )  # fmt: skip


if __name__ == "__main__":
    main()
