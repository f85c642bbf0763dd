"""The house in numbers: how often one thing is written, and what options cost.

    python -m benchmarks.house            counts, times the options, rewrites results/house.md
    python -m benchmarks.house --counts   counts alone
    python -m benchmarks.house --before   keeps what it finds as the column "before"
    python -m benchmarks.house --places   lists every place that was counted

Everything but the speed of options is counted in the sources (the syntax tree, or the tokens), so
that a figure can be had again of any commit. How each row is counted is said where it is counted.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from time import process_time
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "drystone"
RESULTS = Path(__file__).parent / "results"
KEPT, TABLE = RESULTS / "house.json", RESULTS / "house.md"
MANY_ARGUMENTS = 12
SLOT_COLUMN = 6  # columns below it are coordinates of points, quaternions and twists


@dataclass(frozen=True)
class Module:
    path: Path
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """drystone.a.b"""
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def inside(self, *rooms: str) -> bool:
        return any(f"{self.name}.".startswith(f"drystone.{room}.") for room in rooms)

    def place(self, node: Any, what: str) -> str:
        return f"{self.path.relative_to(ROOT)}:{node.lineno} {what}"


@cache
def modules() -> tuple[Module, ...]:
    """All modules of the package."""
    out = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        out.append(Module(path, text, ast.parse(text)))
    return tuple(out)


def functions(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


# Ways through one scheme.
#
# A way is (a) a loop in Python over the stages of a step, or over steps: a for or while in
# ``TimeStepper``, or in a class derived from it, that calls the compiled loop or a method of WALK;
# (b) a class derived from it with a method of WALK of its own. Not ways of their own: the class
# that has the loop; a run that calls ``Simulation.step`` again and again, for callbacks and for
# every method alike, since each of these steps is the loop (a); threads, which share out the
# islands of one stage that asks for them.
WALK = ("step", "_step", "_advance", "_attempt", "_walk", "_steps", "_one", "_halved", "loop")
BASE = "TimeStepper"


def ways() -> list[str]:
    here = [m for m in modules() if m.inside("steppers.time_stepping")]
    classes = [(m, n) for m in here for n in ast.walk(m.tree) if isinstance(n, ast.ClassDef)]
    stepping = {BASE}
    for _ in classes:  # until no more are derived
        for _module, node in classes:
            if any(isinstance(b, ast.Name) and b.id in stepping for b in node.bases):
                stepping.add(node.name)
    out = []
    for module, node in classes:
        if node.name not in stepping:
            continue
        own = [n for n in node.body if isinstance(n, ast.FunctionDef)]
        if node.name != BASE and {n.name for n in own} & set(WALK):
            out.append(module.place(node, f"class {node.name}"))
        out += [module.place(n, f"loop in {node.name}.{n.name}") for n in own if walks(n)]
    return out


def walks(function: ast.AST) -> bool:
    """Whether a loop of this function, and of none within it, calls a method of WALK."""
    for loop in ast.walk(function):
        if not isinstance(loop, ast.For | ast.While):
            continue
        for call in ast.walk(loop):
            if isinstance(call, ast.Call):
                name = getattr(call.func, "attr", getattr(call.func, "id", ""))
                if name in WALK:
                    return True
    return False


# Copies: functions of kernels and of the step, by what their docstring says, or by their name.
COPIES = {
    "contact solve": ("doc", r"[Ii]mpulse\b.*\bof (one |planar |a )*contact\b"),
    "sweep": ("doc", r"the step beyond the last sweep"),
    "residual": ("law", r"_?(contact_)?error(_planar|_spatial)?"),  # takes mu
    "policy": ("name", r"_where_it_pays|plan|_left"),
    "union-find": ("loop", ""),
}


def copies(kind: str) -> list[str]:
    """Places by module: one module is one copy, however many helpers it has."""
    how, marker = COPIES[kind]
    out: dict[str, str] = {}
    for module in modules():
        if not module.inside("kernels", "steppers.time_stepping", "constraints", "dynamics"):
            continue
        for node in functions(module):
            said = (ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ")
            found = {
                "doc": lambda said=said: re.search(marker, said, re.IGNORECASE),
                "name": lambda node=node: re.fullmatch(marker, node.name),
                "law": lambda node=node: re.fullmatch(marker, node.name) and takes(node, "mu"),
                "loop": lambda node=node: climbs(node),
            }[how]()
            if found:
                out.setdefault(module.name, module.place(node, node.name))
    return list(out.values())


def takes(function: ast.FunctionDef | ast.AsyncFunctionDef, argument: str) -> bool:
    return any(given.arg == argument for given in function.args.args)


def climbs(function: ast.AST) -> bool:
    """while root[i] != i: the loop of union-find."""
    for node in ast.walk(function):
        if isinstance(node, ast.While) and isinstance(node.test, ast.Compare):
            left, right = node.test.left, node.test.comparators[0]
            if isinstance(left, ast.Subscript) and ast.dump(left.slice) == ast.dump(right):
                return True
    return False


def naming(word: str) -> list[str]:
    """Files with a name, or a text that is no docstring, in which the word is (a pattern); scenes
    left out, and benchmarks that lie in the package."""
    wanted = re.compile(word)
    out = []
    for module in modules():
        if module.inside("scenes", "interop") or "bench" in module.path.name:
            continue
        docs = {id(n.value) for n in ast.walk(module.tree) if isinstance(n, ast.Expr)}
        for node in ast.walk(module.tree):
            for text in texts(node, docs):
                if wanted.search(text):
                    out.append(module.place(node, text[:40]))
                    break
            else:
                continue
            break
    return out


def texts(node: ast.AST, docs: set[int]) -> tuple[str, ...]:
    """Names in a node."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
        return (node.value,)
    kinds = (("name", ast.ClassDef | ast.FunctionDef | ast.alias), ("id", ast.Name))
    for field, kind in (*kinds, ("attr", ast.Attribute), ("arg", ast.arg)):
        if isinstance(node, kind):
            return (getattr(node, field).replace("_", " "),)
    return ()


# Slots: uses of names that stand for places in an array (modules called ...names, under whatever
# alias), and columns given as bare numbers: constants from SLOT_COLUMN on, or a choice of two by
# the dimension, as the last index of an array of two dimensions or more.
def slots() -> list[str]:
    out = []
    for module in modules():
        if not module.inside("kernels", "steppers", "constraints", "dynamics"):
            continue
        alias = set()
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom):
                alias |= {a.asname or a.name for a in node.names if a.name.endswith("names")}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if node.value.id in alias and node.attr.isupper():
                    out.append(module.place(node, f"{node.value.id}.{node.attr}"))
            elif isinstance(node, ast.Subscript) and bare(node.slice):
                out.append(module.place(node, ast.unparse(node)))
    return out


def bare(index: ast.expr) -> bool:
    if not (isinstance(index, ast.Tuple) and len(index.elts) > 1):
        return False
    last = index.elts[-1]
    if isinstance(last, ast.IfExp):
        return isinstance(last.body, ast.Constant) and isinstance(last.orelse, ast.Constant)
    if isinstance(last, ast.Slice):
        return any(numeric(n) for n in (last.lower, last.upper))
    return numeric(last)


def numeric(node: ast.expr | None) -> bool:
    """Whether it is a number from SLOT_COLUMN on, or a sum with one."""
    if isinstance(node, ast.BinOp):
        return numeric(node.left) or numeric(node.right)
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value >= SLOT_COLUMN


def long_argument_lists() -> list[str]:
    out = []
    for module in modules():
        for node in functions(module):
            given = node.args
            count = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
            if count >= MANY_ARGUMENTS:
                out.append(module.place(node, f"{node.name}: {count}"))
    return out


def constants() -> dict[str, list[tuple[Module, ast.stmt]]]:
    """{name: where} of numbers, and tuples of numbers, that modules define in capitals."""
    out: defaultdict[str, list[tuple[Module, ast.stmt]]] = defaultdict(list)
    for module in modules():
        for node in module.tree.body:
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                values = getattr(node.value, "elts", None) if len(names) > 1 else [node.value]
                for name, value in zip(names, values or (), strict=False):
                    if isinstance(name, ast.Name) and name.id.isupper() and number(value):
                        out[name.id].append((module, node))
    return out


def number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return number(node.operand)
    if isinstance(node, ast.BinOp):
        return number(node.left) and number(node.right)
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(number(e) for e in node.elts)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def defined_twice() -> list[str]:
    out = []
    for name, found in sorted(constants().items()):
        if len({m.name for m, _ in found}) > 1:
            out += [module.place(node, name) for module, node in found]
    return out


def without_reason() -> list[str]:
    """Constants without a comment on their line, and without one above."""
    out = []
    for name, found in constants().items():
        for module, node in found:
            lines = module.text.splitlines()
            above = lines[max(node.lineno - 2, 0)].lstrip()
            own = lines[node.lineno - 1 : node.end_lineno]
            if not above.startswith("#") and not any("#" in line for line in own):
                out.append(module.place(node, name))
    return out


def imported_once() -> list[str]:
    """Modules that exactly one other module of the package imports, wherever it does so."""
    known = {m.name: m for m in modules()}
    users = defaultdict(set)
    for module in modules():
        for node in ast.walk(module.tree):
            named: list[str] = []
            if isinstance(node, ast.Import):
                named = [a.name for a in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                named = [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
            for name in named:
                if name in known and name != module.name:
                    users[name].add(module.name)
    alone = [name for name, found in users.items() if len(found) == 1]
    return [f"{known[n].path.relative_to(ROOT)} {next(iter(users[n]))}" for n in sorted(alone)]


def code_lines() -> list[str]:
    """Lines that hold more than a comment or a docstring, one entry a module."""
    return [f"{m.path.relative_to(ROOT)} {lines_of(m)}" for m in modules()]


def lines_of(module: Module) -> int:
    docs = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docs |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    skipped = (
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
        tokenize.ENDMARKER,
    )  # fmt: skip
    used = set()
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type not in skipped:
            used |= set(range(token.start[0], token.end[0] + 1))
    return len(used - docs)


# What options cost: microseconds of processor time a step, in one compiled run.
OPTIONS: dict[str, Callable[[], dict[str, Any]]] = {
    "default": dict,
    'formulation="convex"': lambda: {"formulation": "convex"},
    "order=2": lambda: {"order": 2},
    "cone=4": lambda: {"cone": 4},
    'solver="nsgs"': lambda: {"solver": "nsgs"},
    "sleeping": lambda: {"sleeping": _ds().Sleeping()},
    "soft finger": lambda: {"cone": _ds().SoftFingerCone(0.01)},
    'mass="end"': lambda: {"mass": "end"},
    'joints="velocity"': lambda: {"joints": "velocity"},
    'joints="stabilize"': lambda: {"joints": "stabilize"},
    'joints="project"': lambda: {"joints": "project"},
}
SUBJECTS = ("sliding sphere", "double pendulum", "double pendulum in space")
LEAST, ROUNDS = 0.03, 5  # [s] of one measurement, and how many of each, by turns


def _ds() -> Any:
    import drystone

    return drystone


def subject(name: str, option: str) -> Any:
    """A simulation of one of the subjects."""
    ds = _ds()
    method = ds.TimeStepping(**OPTIONS[option]())
    if name.startswith("double pendulum"):
        planar = not name.endswith("in space")
        return ds.Simulation(ds.scene("double-pendulum", planar=planar).world, method)
    world = ds.World()
    world.add_ground(friction=0.5)
    world.add_body(ds.Sphere(0.1), name="ball", position=(0, 0, 0.1), velocity=(3, 0, 0))
    return ds.Simulation(world, method)


def speeds(name: str) -> dict[str, float]:
    """{option: microseconds a step}: the least of several measurements, taken by turns; without
    those that the subject refuses (soft fingers in the plane)."""
    sims, counts, best = {}, {}, {}
    for option in OPTIONS:
        try:
            sim = subject(name, option)
            sim.run(20 * sim.method.dt, on_failure="ignore")  # kernels are loaded
        except _ds().DrystoneError:
            continue
        sims[option] = sim
        counts[option], spent = 16, 0.0
        while spent < LEAST:
            counts[option] *= 2
            spent = timed(sim, counts[option])
        best[option] = spent / counts[option]
    for _ in range(ROUNDS):
        for option, sim in sims.items():
            best[option] = min(best[option], timed(sim, counts[option]) / counts[option])
    return {option: 1e6 * value for option, value in best.items()}


def timed(sim: Any, steps: int) -> float:
    sim.reset()
    begin = process_time()
    sim.run(steps * sim.method.dt, on_failure="ignore")
    return process_time() - begin


TOUCHED = {
    "shape": r"(?i)(?<![a-z])cylinder(?![a-z])",
    "joint": r"(?i)\buniversal\b",
    "solver": r"(?i)\bapgd\b",
    "stepper": r"\bPenalty\b|\bpenalty\b",
    "format": r"(?i)\bglb\b",
}

# (title, what is wanted, {part: places})
ROWS: tuple[tuple[str, str, dict[str, Callable[[], list[str]]]], ...] = (
    ("ways through one scheme", "1", {"": ways}),
    (
        "copies of contact solve / sweep / residual / policy",
        "1 each",
        {kind: partial(copies, kind) for kind in COPIES if kind != "union-find"},
    ),
    ("copies of union-find", "1", {"": lambda: copies("union-find")}),
    ("files that name `Cylinder` outside scenes, docs, tests", "4 or fewer",
     {"": lambda: naming(TOUCHED["shape"])}),
    ("slot constants (names of slots, bare columns)", "0", {"": slots}),
    ("functions with 12 arguments or more", "under 15", {"": long_argument_lists}),
    ("numeric module constants / names / defined in two modules or more", "none defined twice",
     {"all": lambda: [f"{n}" for n, f in constants().items() for _ in f],
      "names": lambda: list(constants()), "twice": defined_twice}),
    ("numeric module constants without a comment", "0", {"": without_reason}),
    ("modules imported by exactly one other", "under 60", {"": imported_once}),
    ("modules in the package", "", {"": lambda: [m.name for m in modules()]}),
    ("files that name a shape / joint / solver / stepper / format", "2 / 2 / 2 / 3 / 2",
     {kind: partial(naming, word) for kind, word in TOUCHED.items()}),
)  # fmt: skip
LINES = "code lines in the package"
SLOW = "options more than 3 / 100 times slower than the default, in any row below"


def counted(places: bool) -> dict[str, str]:
    """{row: figure}; places: print what was counted."""
    out = {}
    for title, _, parts in ROWS:
        figures = []
        for part, find in parts.items():
            found = find()
            figures.append(len(found))
            if places:
                print(f"\n## {title} {part}: {len(found)}", *found, sep="\n")
        out[title] = " / ".join(str(n) for n in figures)
    out[LINES] = f"{sum(lines_of(m) for m in modules()):,}"
    return out


def slower(speeds: dict[str, dict[str, float]]) -> str:
    """Options that cost more than 3 times the default, and more than 100 times."""
    worst: dict[str, float] = {}
    for times in speeds.values():
        for option, own in times.items():
            worst[option] = max(worst.get(option, 0.0), own / times["default"])
    return " / ".join(str(sum(w > limit for w in worst.values())) for limit in (3, 100))


def commit() -> str:
    """Of the sources that are counted."""
    asked = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def of(side: dict[str, Any]) -> str:
    return f" ({side['commit']})" if side.get("commit") else ""


def table(kept: dict[str, Any]) -> str:
    """The file that is written: counts, then the speed of options; before and now."""
    before, now = kept.get("before", {}), kept.get("now", {})
    wanted = {title: aim for title, aim, _ in ROWS} | {LINES: "about 42,000", SLOW: "0 / 0"}
    for side in (before, now):
        if side.get("speeds"):
            side["counts"][SLOW] = slower(side["speeds"])
    lines = [
        "# The house in numbers", "",
        "Written by `python -m benchmarks.house`, which says how each row is counted "
        "(`--places` lists what was counted).", "",
        f"| | before{of(before)} | now{of(now)} | wanted |", "|---|---|---|---|",
    ]  # fmt: skip
    for title, aim in wanted.items():
        was, found = (side.get("counts", {}).get(title, "") for side in (before, now))
        lines.append(f"| {title} | {was} | {found} | {aim} |")
    lines += ["", "Microseconds of processor time a step in one compiled run, and how many times "
              "the default; wanted: within 3 times.", "",
              "| | | before | | now | |", "|---|---|---|---|---|---|"]  # fmt: skip
    for name in SUBJECTS:
        for option in OPTIONS:
            cells = []
            for side in (before, now):
                times = side.get("speeds", {}).get(name, {})
                base, own = times.get("default"), times.get(option)
                cells += ["", ""] if own is None else [f"{own:.1f}", f"{own / base:.1f}"]
            lines.append(f"| {name} | {option} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house")
    parser.add_argument("--counts", action="store_true", help="do not time options")
    parser.add_argument("--before", action="store_true", help='keep it as the column "before"')
    parser.add_argument("--places", action="store_true", help="list what was counted")
    given = parser.parse_args()
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    side = kept.setdefault("before" if given.before else "now", {})
    side["commit"], side["counts"] = commit(), counted(given.places)
    if not given.counts:
        side["speeds"] = {
            name: {option: round(us, 2) for option, us in speeds(name).items()} for name in SUBJECTS
        }
    KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    TABLE.write_text(table(kept), encoding="utf-8")
    print(table(kept))


if __name__ == "__main__":
    main()
