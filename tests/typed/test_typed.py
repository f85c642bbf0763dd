"""The public interface as a type checker sees it: mypy on what users write, right and wrong.

The settings are those of ``mypy --strict`` (pyproject), the cache is the one that ``make check``
has just filled: alone and from nothing this takes a minute.
"""

import re
from pathlib import Path

import pytest

import drystone

api = pytest.importorskip("mypy.api")
HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture(scope="module")
def complaints():
    """{file: {line: first message}}."""
    names = [str(HERE / f"typed_{name}.py") for name in ("script", "mistakes")]
    settings = [
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--cache-dir",
        str(ROOT / ".mypy_cache"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setenv("MYPYPATH", str(ROOT))
        out, trouble, _ = api.run([*settings, "--no-error-summary", *names])
    assert not trouble
    found: dict[str, dict[int, str]] = {}
    for line in out.splitlines():
        where = re.match(r"(?:.*[/\\])?(\w+)\.py:(\d+): error: (.*)", line)
        if where:
            found.setdefault(where[1], {}).setdefault(int(where[2]), where[3])
    return found


def test_a_script_without_mistakes(complaints):
    assert complaints.get("typed_script", {}) == {}


def test_every_mistake_is_found(complaints):
    lines = (HERE / "typed_mistakes.py").read_text().splitlines()
    wrong = {k for k, line in enumerate(lines, 1) if "# wrong" in line}
    assert len(wrong) > 40
    assert set(complaints["typed_mistakes"]) == wrong


def test_nothing_but_these_scripts_is_complained_of(complaints):
    """The package itself is checked with them, as it is by ``make check``."""
    assert set(complaints) <= {"typed_script", "typed_mistakes"}


def test_the_package_says_that_it_has_types():
    """PEP 561; without the file type checkers take everything for Any."""
    assert (Path(drystone.__file__).parent / "py.typed").is_file()
    text = (ROOT / "pyproject.toml").read_text()
    assert re.search(r'^drystone = \["py.typed"\]', text, re.M)
