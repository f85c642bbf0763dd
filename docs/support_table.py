"""Tables of the documentation that are made from the code: which solver takes which problem
and what `auto` asks (``choosing_a_solver.md``), solvers (``api.md``), export formats
(``sharing.md``), joints (``joints.md``).

``python docs/support_table.py`` rewrites them in the pages; a test compares the two.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import drystone as ds
from drystone.constraints.joints.registry import JOINTS
from drystone.solvers import PROBLEMS, in_order
from drystone.solvers.registry import SOLVERS, by_name
from drystone.view.formats import FORMATS

PAGE = Path(__file__).with_name("choosing_a_solver.md")
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
YES, NO = "yes", "·"


def samples() -> dict[str, list[object]]:
    """Small problems of each kind. A method takes the kind if it takes one of them.

    The last columns are features, which a method may know for some laws only: so they list
    the laws.
    """
    n = 6
    M = np.eye(n) + 0.1
    q = -np.ones(n)
    plane, space = {"dim": 2}, {"dim": 3}
    laws = [
        {**plane, "law": "coulomb"},
        {**plane, "law": "static"},
        {**space, "law": "coulomb"},
        {**space, "law": "convex"},
        {**space, "law": "static"},
        {**plane, "law": "coulomb", "mu": 0.0},
    ]

    def friction(W: object = M, mu: float = 0.5, **statement: object) -> ds.FrictionProblem:
        rows = W.shape[0]  # type: ignore[attr-defined]
        return ds.FrictionProblem(W, -np.ones(rows), mu, **statement)  # type: ignore[arg-type]

    def jointed(law: dict[str, object]) -> ds.FrictionProblem:
        size = n + 1
        return friction(np.eye(size) + 0.1, **{**law, "bilateral": 1})

    def sliding(law: dict[str, object]) -> ds.FrictionProblem:
        d = int(str(law["dim"]))
        return friction(**{**law, "slip": np.ones((n // d, d - 1))})

    def matrix_free(law: dict[str, object]) -> ds.FrictionProblem:
        return friction(ds.DelassusOperator(np.eye(n), M), **law)

    def whole(law: dict[str, object]) -> ds.GlobalFrictionProblem:
        options = {key: value for key, value in law.items() if key != "mu"}
        mu = law.get("mu", 0.5)
        return ds.GlobalFrictionProblem(M, np.eye(n), q, np.zeros(n), mu, **options)

    return {
        "LCP": [ds.LCP(M, q)],
        "mixed": [ds.MixedLCP(M, q, 1)],
        "boxed": [ds.BoxedLCP(M, q, 0.0, 1.0)],
        "no friction": [friction(mu=0.0, **plane), friction(mu=0.0, **space)],
        "plane": [friction(**plane)],
        "space": [friction(**space)],
        "convex": [friction(law="convex")],
        "static": [friction(law="static")],
        "polyhedral": [friction(cone=4), friction(cone=4, law="convex")],
        "elliptic": [friction(cone=ds.EllipticCone((1.0, 0.5)), law=x["law"]) for x in laws],
        "soft finger": [
            friction(np.eye(8) + 0.1, cone=ds.SoftFingerCone(1.0), law=x["law"]) for x in laws
        ],
        "bilateral": [jointed(x) for x in laws],
        "sliding": [sliding(x) for x in laws if x["law"] != "convex" and "mu" not in x],
        "operator": [matrix_free(x) for x in laws],
        "global": [whole(x) for x in laws],
    }


def support() -> dict[str, dict[str, bool]]:
    """For each registered method, the kinds it takes."""
    kinds = samples()
    return {
        name: {
            kind: any(by_name(name).refuses(problem) is None for problem in problems)  # type: ignore[arg-type]
            for kind, problems in kinds.items()
        }
        for name in SOLVERS.ours
    }


def table() -> str:
    found = support()
    kinds = list(next(iter(found.values())))
    lines = ["| method | " + " | ".join(kinds) + " |", "|---|" + ":-:|" * len(kinds)]
    for name, taken in found.items():
        cells = " | ".join(YES if taken[kind] else NO for kind in kinds)
        lines.append(f"| `{name}` | {cells} |")
    return "\n".join(lines)


def order_table() -> str:
    """What `auto` asks for each kind of problem."""
    lines = ["| problem | methods, in order | in `auto` of a record |", "|---|---|---|"]
    for name, about in PROBLEMS.items():
        methods = ", ".join(f"`{entry.name}`" for entry in in_order(name))
        lines.append(f"| {about} | {methods} | `{name}` |")
    return "\n".join(lines)


def solver_table() -> str:
    """Classes with their names and what they do."""
    rows: dict[tuple[str, str], list[str]] = {}
    for entry in SOLVERS.ours.values():
        rows.setdefault((entry.class_name, entry.about), []).append(f"`{entry.name}`")
    lines = ["| class | name | method |", "|---|---|---|"]
    return "\n".join(
        [
            *lines,
            *(
                f"| `{kind}` | {', '.join(names)} | {about} |"
                for (kind, about), names in rows.items()
            ),
        ]
    )


def format_table() -> str:
    """Export formats."""
    lines = ["| format | what it is | options of the command | needs |", "|---|---|---|---|"]
    for entry in FORMATS.ours.values():
        options = ", ".join(f"`--{name}`" for name in entry.options)
        lines.append(f"| `{entry.name}` | {entry.about} | {options} | {entry.needs or 'nothing'} |")
    return "\n".join(lines)


def joint_table() -> str:
    """Kinds of joints: where, what they hold, what they leave free."""
    worlds = {(2,): "plane", (3,): "space", (2, 3): "both"}
    head = ["joint", "in scene files", "world", "rows", "free coordinates", "constraint"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, entry in JOINTS.ours.items():
        joint = entry.joint
        dims = sorted(joint.rows)
        rows = ", ".join(
            f"{'planar ' if dim == 2 and len(dims) > 1 else ''}{len(joint.rows[dim])}"
            for dim in dims[::-1]
        )
        free = {key: "" for dim in dims for key in joint.free[dim]} | dict(joint.sometimes)
        groups: dict[str, list[str]] = {}
        for key, when in free.items():
            groups.setdefault(when, []).append(f"`{key}`")
        left = "; ".join(
            ", ".join(keys) + (f" ({when})" if when else "") for when, keys in groups.items()
        )
        where = worlds[tuple(dims)]
        called = f"`{joint.__name__}` | `{name}`"
        lines.append(f"| {called} | {where} | {rows} | {left} | {joint.keeps} |")
    return "\n".join(lines)


TABLES = {
    "choosing_a_solver.md": (table, order_table),
    "api.md": (solver_table,),
    "sharing.md": (format_table,),
    "joints.md": (joint_table,),
}


def page_with(name: str, text: str) -> str:
    """The page with the tables between its marks replaced."""
    out, *rest = text.split(BEGIN)
    for made, part in zip(TABLES[name], rest, strict=True):
        out += f"{BEGIN}\n{made()}\n{END}{part.split(END)[1]}"
    return out


if __name__ == "__main__":
    for name in TABLES:
        page = PAGE.with_name(name)
        page.write_text(page_with(name, page.read_text()))
