"""``drystone demo --solvers``: a pile by several methods, and a rod with two answers or none."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from drystone.errors import MissingExtraError
from drystone.kernels._jit import compile_seconds
from drystone.plots import demos, style
from drystone.problems import classic
from drystone.problems.convert import fold
from drystone.problems.friction import FrictionProblem
from drystone.problems.generated import Pile, disk_pile
from drystone.solvers import FRICTION, LARGE_FRICTION, in_order
from drystone.solvers.solve import solve
from drystone.types import Floats, Solution

ASKED = (*in_order(FRICTION)[:2], *in_order(LARGE_FRICTION))  # by auto: at first, on large piles
METHODS = tuple(dict.fromkeys(("auto", *(entry.name for entry in ASKED))))
TIME_LIMIT = 4.0  # [s] a method gets on the pile: slow ones show how far they came


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("demo"),
) -> None:
    """Solve a pile of disks by several methods and draw its force chains; draw Baraff's rod."""
    console = Console()
    pile = disk_pile(12, base=18, friction=0.5, disturbance=0.35, seed=3, formed=True)
    console.print(
        f"\nA pile of {pile.radii.size} disks with {pile.problem.nc} frictional contacts. "
        "Which impulses hold it\nfor one step of 5 ms?"
    )
    best = compare(console, pile)
    console.print(
        "\nOne residual judges all answers: how far they are from obeying Coulomb's law.\n"
        "A rod that slides on its tip shows why that law is hard: it may allow two\n"
        "forces, or none."
    )
    spinning, falling = rods(console)
    try:
        pictures = (
            draw_pile(pile, best, output / "force_chains.png"),
            draw_rods(spinning, falling, output / "rod.png"),
        )
    except MissingExtraError as error:
        console.print(f"\nNo pictures: {error}")
        return
    console.print("\nPictures, worth a look:")
    for path in pictures:
        console.print(f"  {path}", style="bold", soft_wrap=True)


def compare(console: Console, pile: Pile) -> Solution:
    """Solve the pile by each method, print the table, return the solution to draw."""
    table = Table(title=None, header_style="bold", pad_edge=False)
    for name, side in (("method", "left"), ("status", "left"), ("residual", "right")):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    table.add_column("iterations", justify="right")
    table.add_column("time", justify="right")
    found: list[Solution] = []
    for name in METHODS:  # compiles; the kernels' own progress line needs the terminal
        solve(disk_pile(2, formed=True).problem, name, time_limit=TIME_LIMIT)
    with console.status("solving") as status:
        for name in METHODS:
            status.update(f"solving by {name}")
            compiling = compile_seconds()
            solution = solve(pile.problem, name, time_limit=TIME_LIMIT)
            seconds = solution.seconds - (compile_seconds() - compiling)
            colour = "green" if solution.ok else "yellow"
            table.add_row(
                name if len(solution.methods) == 1 else f"{name} ({'+'.join(solution.methods)})",
                f"[{colour}]{solution.status.name.lower().replace('_', ' ')}[/]",
                f"{solution.residual:.1e}",
                str(solution.iterations),
                f"{seconds:.3f} s",
            )
            found.append(solution)
    console.print(table)
    # a pile has many answers: draw the first good one, so that the picture is always the same
    return next((s for s in found if s.ok), min(found, key=lambda s: s.residual_unit))


def rods(console: Console) -> tuple[tuple[FrictionProblem, Solution], ...]:
    """The rod of figure 10.2 by enumeration, and that of 10.3 by Lemke's method."""
    spinning, falling = classic.rod(), classic.inconsistent_rod(gravity=1.0)
    every = solve(spinning, "enumerative")
    forces = ", ".join(f"{f:g} N" for f in sorted(normal_forces(every)))
    console.print(f"  spinning rod, mass 1 kg: every solution by enumeration: f_N = {forces}")
    none = solve(falling, "lemke")
    pull = "" if none.ray is None else f": (n, t) = (1, {none.ray[1] / none.ray[0]:.2f})"
    console.print("  rod without spin: no force is possible; Lemke's method ends on a ray,")
    console.print(f"  the direction of the impulse that stops the tip{pull}")
    return (spinning, every), (falling, none)


def normal_forces(solution: Solution) -> Floats:
    return np.array([float(r[0]) for r in solution.solutions or ()])


def draw_pile(pile: Pile, solution: Solution, path: Path) -> Path:
    with style.figure(9.0, 5.2) as fig:
        axes = fig.add_axes((0.01, 0.01, 0.98, 0.87))
        legend = fig.add_axes((0.03, 0.88, 0.5, 0.11))
        demos.draw_pile(axes, legend, pile, solution.value, thickest=8.0)
        return style.save(fig, path)


def draw_rods(
    spinning: tuple[FrictionProblem, Solution],
    falling: tuple[FrictionProblem, Solution],
    path: Path,
) -> Path:
    titles = (
        "Indeterminate: the rod spins, and two forces are right",
        "Inconsistent: no spin, and no force is right, only an impulse",
    )
    with style.figure(9.0, 6.4) as fig:
        for row, (problem, solution) in enumerate((spinning, falling)):
            y = 0.53 - 0.48 * row
            fig.text(0.03, y + 0.415, titles[row], fontsize=11, fontweight="bold")
            demos.draw_rod(fig.add_axes((0.02, y - 0.02, 0.46, 0.40)), spinning=row == 0)
            folded = fold(problem)
            line = float(folded.A[0, 0]), float(folded.b[0])
            forces = np.sort(normal_forces(solution))
            place = fig.add_axes((0.56, y + 0.045, 0.42, 0.335))
            demos.draw_rod_conditions(place, *line, forces, solution.ray)
        return style.save(fig, path)
