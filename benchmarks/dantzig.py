"""``python -m benchmarks dantzig``: against one Gaussian elimination and against a QP library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dgesv

import drystone as ds
from benchmarks import options, tables
from benchmarks.clock import in_turn, one_thread
from drystone.plots import style

MU = 0.5
PYRAMIDS = {10: 2, 20: 3, 50: 5, 100: 7, 200: 10, 400: 14}  # rows: 2 rows^2 contacts
WALLS = {10: (1, 2), 20: (2, 2), 50: (3, 2), 100: (4, 3), 200: (6, 4), 400: (8, 6)}


def scene(kind: str, n: int) -> ds.Scene:
    if kind == "tower":
        return ds.scene("mass-ratio", n=n // 2, factor=1.0, planar=True, mu=MU)
    if kind == "pyramid":
        return ds.scene("pyramid", rows=PYRAMIDS[n], planar=True, mu=MU)
    courses, columns = WALLS[n]
    return ds.scene("wall", courses=courses, columns=columns, mu=MU)


def from_scene(kind: str, n: int) -> tuple[np.ndarray, np.ndarray, int]:
    """(W, q, rows of a contact) of a scene's first instant, in units of 1/m and m/s^2."""
    sim = scene(kind, n).simulation(method=ds.EventDriven())
    sim.step()
    problem = sim.problem()
    assert problem is not None
    W, d = problem.dense, problem.d
    values, vectors = np.linalg.eigh(W)  # W = J M^-1 J': q = J a is V sqrt(values) M^1/2 a
    jolt = 0.3 * np.random.default_rng(n).normal(size=values.size)
    real = values > 1e-10 * values[-1]  # the others are rounding, and would leave W's range
    q = problem.q + vectors[:, real] @ (np.sqrt(values[real]) * jolt[real])
    return W, q, d


def by_chance(kind: str, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    rows = d * n
    freedoms = rows if kind == "random" else max(1, rows // 2)
    J = rng.normal(size=(rows, freedoms))
    q = rng.normal(size=rows) if kind == "random" else J @ rng.normal(size=freedoms)
    return J @ J.T / freedoms + (0.1 * np.eye(rows) if kind == "random" else 0.0), q


def problem(kind: str, n: int, friction: bool) -> ds.LCP | ds.FrictionProblem:
    if kind in ("random", "redundant"):
        W, q = by_chance(kind, n, 2 if friction else 1)
        return ds.FrictionProblem(W, q, MU, dim=2) if friction else ds.LCP(W, q)
    W, q, d = from_scene(kind, n)
    if friction:
        return ds.FrictionProblem(W, q, MU, dim=d)
    return ds.LCP(W[::d, ::d], q[::d])


def quadratic_program(A: np.ndarray, b: np.ndarray, bound: np.ndarray) -> Any:
    """min 1/2 f'Af + b'f with f_N >= 0, |f_T| <= bound (nan marks the normal rows): Clarabel."""
    n = b.size
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    P = sp.triu(sp.csc_matrix(A), format="csc")
    normal = np.isnan(bound)
    below = -sp.eye(n, format="csc")
    above = sp.eye(n, format="csc")[~normal]
    G = sp.vstack([below, above], format="csc")
    h = np.concatenate([np.where(normal, 0.0, bound), bound[~normal]])
    cone = [clarabel.NonnegativeConeT(h.size)]
    return clarabel.DefaultSolver(P, b, G, h, cone, settings).solve()


def measure(kind: str, n: int, friction: bool, repeats: int) -> dict[str, Any]:
    stated = problem(kind, n, friction)
    method = ds.Dantzig(tol=1e-9)
    solution = method.solve(stated)
    A, b = stated.dense + 1e-9 * np.eye(stated.size), -stated.q
    bound = np.full(stated.size, np.nan)
    if friction:
        bound[1::2] = MU * solution.value[0::2]
    answer = quadratic_program(stated.dense, stated.q, bound)
    away = stated.dense @ (np.asarray(answer.x) - solution.value)
    turns = {
        "dantzig": lambda: lambda: method.solve(stated),
        "elimination": lambda: lambda: dgesv(A, b),
        "qp": lambda: lambda: quadratic_program(stated.dense, stated.q, bound),
    }
    took = {name: one.seconds for name, one in in_turn(turns, repeats=repeats, enough=2.0).items()}
    return {
        "kind": kind, "friction": "static" if friction else "none",
        "contacts": stated.nc if isinstance(stated, ds.FrictionProblem) else stated.size,
        "rows": stated.size, "status": solution.status.name, "residual": solution.residual,
        "guesses": solution.info["guesses"], "drives": solution.info["drives"],
        "pivots": solution.info["pivots"],
        **{f"{name}_us": 1e6 * seconds for name, seconds in took.items()},
        "per_elimination": took["dantzig"] / took["elimination"],
        "qp_per_dantzig": took["qp"] / took["dantzig"],
        "qp_away": float(np.abs(away).max() / np.abs(stated.q).max()),
    }  # fmt: skip


HEADS = (
    "problem", "friction", "contacts", "dantzig", "elimination", "QP", "dantzig / elimination",
    "QP / dantzig",
)  # fmt: skip
METHODS = {
    "qp_us": ("--", "QP"),
    "dantzig_us": ("-", "dantzig"),
    "elimination_us": (":", "elimination"),
}


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Colours tell problems, dashes methods; both are named where a reader looks for them."""
    from matplotlib.lines import Line2D

    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    colours = dict(
        zip(kinds, (style.BLUE, style.ORANGE, style.RED, style.INK, "#5a9e6f"), strict=False)
    )
    with style.figure(8.4, 3.9, layout="constrained") as fig:
        panels = fig.subplots(1, 2, sharey=True)
        for axes, friction in zip(panels, ("none", "static"), strict=True):
            for kind in kinds:
                mine = [r for r in rows if r["kind"] == kind and r["friction"] == friction]
                for column, (line, _) in METHODS.items():
                    n, y = [r["contacts"] for r in mine], [1e-3 * r[column] for r in mine]
                    axes.loglog(n, y, line, color=colours[kind], lw=1.3)
            axes.set_title("without friction" if friction == "none" else "static friction, plane")
            axes.set(xlabel="contacts", xticks=[10, 100], xlim=(7, 500))
            axes.xaxis.set_major_formatter("{x:.0f}")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.grid(alpha=0.25, lw=0.5)
        panels[0].set_ylabel("time of a solve [ms]")
        shown = [Line2D([], [], color=colours[kind], lw=2.5, label=kind) for kind in kinds]
        dashes = [
            Line2D([], [], color=style.INK, ls=line, label=name) for line, name in METHODS.values()
        ]
        fig.legend(handles=shown + dashes, loc="outside lower center", ncols=8, frameon=False)
        style.save(fig, path)


def page(rows: list[dict[str, Any]]) -> list[str]:
    """What the table says, as Markdown."""
    cells = []
    for r in rows:
        ms = [f"{1e-3 * r[c]:.3g}" for c in ("dantzig_us", "elimination_us", "qp_us")]
        ratios_here = f"{r['per_elimination']:.1f}", f"{r['qp_per_dantzig']:.1f}"
        cells.append((r["kind"], r["friction"], r["contacts"], *ms, *ratios_here))
    out = [
        "# Dantzig's method against elimination and a QP library",
        "",
        "`python -m benchmarks dantzig`: contact problems of scenes and by chance (see its help),",
        "one thread, kernels warm, in turn, the fastest of several runs. Times in ms.",
        "",
        "![Time of a solve over contacts](dantzig_cost.png)",
        "",
        *tables.lines(HEADS, cells),
    ]
    ratios = [r["qp_per_dantzig"] for r in rows]
    slower = [
        f"{r['kind']} ({r['friction']}, {r['contacts']})" for r in rows if r["qp_per_dantzig"] < 1
    ]
    sparse = [r for r in rows if r["guesses"]]
    ahead = [r["qp_per_dantzig"] for r in sparse] or [0.0]
    large = [r["per_elimination"] for r in rows if r["contacts"] >= 90] or [0.0]
    out += [
        "",
        f"Against the QP: {min(ratios):.1f} to {max(ratios):.0f} times faster, median "
        f"{np.median(ratios):.0f}. Against one elimination of all rows, from 90 contacts on: "
        f"{min(large):.1f} to {max(large):.0f} times its cost, median {np.median(large):.1f}.",
        "",
        "The QP library works on sparse matrices and answers to about eight digits; Dantzig's "
        "answers are exact to rounding. Sparse problems of 64 rows and more are guessed as a whole "
        f"first, which answered {len(sparse)} of these {sum(r['rows'] >= 64 for r in rows)}, "
        f"{min(ahead):.1f} to {max(ahead):.0f} times as fast as the QP; the others "
        "are driven contact by contact, with a dense inverse. The library is faster in: "
        f"{', '.join(slower) or 'none of them'}.",
    ]
    return out


def dantzig(
    sizes: options.Sizes = "10,20,50,100,200,400",
    repeats: options.Repeats = 7,
    output: options.Output = None,
) -> None:
    """Cost of Dantzig's method against one Gaussian elimination and against a QP library.

    From scenes: towers and pyramids of planar blocks and walls of bricks in space, shaken a little
    (gravity, and accelerations of the bodies by chance, about 0.3 m/s^2), which are rank deficient
    as stacks are. By chance: "random" (about half of the contacts hold, full rank) and "redundant"
    (half as many freedoms as contacts). Without friction and, in the plane, with static friction.
    Elimination is LAPACK's gesv on a matrix of the same rows. The QP is convex, in Clarabel; with
    friction it is that of one step that knows its friction bounds already. "qp_away": how far its
    accelerations are from ours.
    """
    folder, numbers = options.folder(output), options.numbers(sizes)
    unknown = [str(n) for n in numbers if n not in PYRAMIDS]
    if unknown:
        known = ", ".join(map(str, PYRAMIDS))
        raise ds.OptionError(f"--sizes {','.join(unknown)}: expected some of {known}")
    cases = [(k, False) for k in ("tower", "pyramid", "wall", "random", "redundant")]
    cases += [(k, True) for k in ("tower", "pyramid", "random", "redundant")]
    rows = []
    with one_thread():
        for kind, friction in cases:
            for n in numbers:
                rows.append(measure(kind, n, friction, repeats))
                tables.show(tables.row_text(rows[-1]))
    if folder is not None:
        tables.write_csv(folder / "dantzig_cost.csv", rows)
        plot(rows, folder / "dantzig_cost.png")
        tables.write_page(folder / "dantzig_cost.md", page(rows))
