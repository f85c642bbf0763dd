"""A solver, a stepper and an export format take two files each: done here to a copy."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FORMAT = """
def write_names(replay, path):
    path.write_text(" ".join(replay.names))
"""
RECORD = '    ExportFormat("names", "names of bodies", "drystone.view.export_names:write_names"),\n'
USE = """
import numpy as np, drystone as ds
from typer.testing import CliRunner
from drystone.cli.main import app

world = ds.World()
world.add_body(ds.Sphere(1), name="ball", velocity=(1, 0, 0))
sim = ds.Simulation(world, "inertia")
sim.run(0.5)
print(ds.Inertia().name, sim.body("ball").position[0])
problem = ds.LCP(2.0 * np.eye(6), -np.ones(6))
print(ds.Guess.__name__, *ds.solve(problem, "guess").methods, *ds.solve(problem).methods)
try:
    ds.solve(ds.MixedLCP(np.eye(6), np.ones(6), 1), ds.Guess())
except ds.UnsupportedProblemError as error:
    print(error)
try:
    ds.solve(problem, "gues")
except ds.OptionError as error:
    print(error)
class Replay:
    names = ["a", "b"]
ds.export(Replay(), "out.names")
print(open("out.names").read())
for command in ("solve", "export", "run"):
    print(CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "300"}).output)
"""


def test_a_solver_a_stepper_and_a_format_take_two_files_each(tmp_path):
    """The solver and the stepper are the examples of the architecture page."""
    package = tmp_path / "drystone"
    shutil.copytree(ROOT / "drystone", package, ignore=shutil.ignore_patterns("__pycache__"))
    page = (ROOT / "docs" / "architecture.md").read_text()
    (solver, record), (stepper, name) = (
        re.findall(r"```(?:python|text)\n(.*?)```", page.split(title)[1], re.DOTALL)[:2]
        for title in ("## Adding a solver", "## Adding a stepper")
    )
    (package / "steppers" / "inertia").mkdir()
    (package / "steppers" / "inertia" / "options.py").write_text(stepper)
    table = package / "steppers" / "__init__.py"
    known = table.read_text().replace("OURS = {", f"OURS = {{\n{name}", 1)
    table.write_text(known.replace("__all__ = [", '__all__ = [\n    "Inertia",', 1))
    (package / "solvers" / "guess.py").write_text(solver)
    (package / "view" / "export_names.py").write_text(FORMAT)
    for table, line in (
        (package / "solvers" / "__init__.py", f"    {record}"),
        (package / "view" / "formats.py", RECORD),
    ):
        text = table.read_text()
        head, rest = text.split("\nOURS = (\n")
        entries, tail = rest.split("\n)\n", 1)
        table.write_text(f"{head}\nOURS = (\n{entries}\n{line})\n{tail}")
    table = package / "solvers" / "__init__.py"
    table.write_text(table.read_text().replace('    "Ramp",\n]', '    "Ramp",\n    "Guess",\n]'))
    done = subprocess.run(
        [sys.executable, "-c", USE], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    moved, first, refused, unknown, names, *helped = done.stdout.splitlines()
    assert moved.split()[0] == "inertia"
    assert abs(float(moved.split()[1]) - 0.5) < 1e-12
    assert first == "Guess guess guess"
    assert refused.startswith("guess: takes LCPs, not mixed-lcp (use lemke, newton")
    assert "did you mean 'guess'" in unknown
    assert names == "a b"
    assert "inertia" in "".join(helped)
    assert "guess" in "".join(helped)
    assert "names" in "".join(helped)
