"""The table of methods in the documentation is what the code says, and what it says is true."""

import importlib.util
import sys
from pathlib import Path

import pytest

import drystone as ds
from drystone.solvers.registry import SOLVERS, by_name

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def support():
    spec = importlib.util.spec_from_file_location("support_table", DOCS / "support_table.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["choosing_a_solver.md", "api.md", "sharing.md", "joints.md"])
def test_the_page_equals_the_code(page, support):
    text = support.PAGE.with_name(page).read_text()
    assert support.page_with(page, text) == text, "run: python docs/support_table.py"


def test_what_the_table_of_solvers_says_they_take_is_what_they_take(support):
    kinds = {
        "LCPs": ("LCP", "mixed", "boxed"),
        "friction": ("plane", "space", "convex", "static", "polyhedral", "sliding"),
    }
    for name, found in support.support().items():
        taken = tuple(kind for kind, some in kinds.items() if any(found[one] for one in some))
        assert SOLVERS[name].takes == taken, name


def test_every_method_is_described(support):
    text = support.PAGE.read_text().rsplit(support.END)[-1]
    for name in SOLVERS:
        assert f"`{name}`" in text


@pytest.mark.parametrize("name", SOLVERS)
def test_a_refusal_is_a_sentence_and_the_rest_runs(name, support):
    """What a method takes, it ends with a judged answer; what it refuses, it refuses in words."""
    method = by_name(name)
    for problems in support.samples().values():
        for problem in problems:
            reason = method.refuses(problem)
            if reason is None:
                solution = ds.solve(problem, name, time_limit=10.0)
                assert solution.value.shape == (problem.size,)
                if solution.ok:
                    assert max(problem.residuals(solution.value)) <= 1e-8
            else:
                assert len(reason.split()) > 3
                with pytest.raises(ds.UnsupportedProblemError, match=f"^{name}: "):
                    ds.solve(problem, name)


@pytest.mark.parametrize(
    "name", ["auto", "lemke", "dantzig", "enumerative", "newton", "nsgs", "interior-point"]
)
def test_the_exact_methods_solve_what_they_take(name, support):
    method = by_name(name)
    for kind, problems in support.samples().items():
        for problem in problems:
            if method.refuses(problem) is None:
                solution = ds.solve(problem, name)
                assert solution.ok, f"{kind}: {problem} {solution}"
