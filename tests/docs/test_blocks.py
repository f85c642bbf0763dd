"""Every Python block of the README and the documentation runs; every link leads somewhere."""

import re
from pathlib import Path

import pytest

from drystone.solvers.registry import SOLVERS
from drystone.steppers.registry import METHODS as STEPPERS
from drystone.view.formats import FORMATS

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text())], ids=name)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    """The blocks of one page run in order and share their names, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for table in (SOLVERS, FORMATS, STEPPERS):  # what a page registers is gone with it
        monkeypatch.setattr(table, "_added", dict(table._added))
    text = page.read_text()
    names = {"__name__": "__main__"}
    blocks = len(BLOCK.findall(text))
    assert blocks == len(re.findall(r"^ *```python$", text, re.MULTILINE)), "one that would not run"
    for block in BLOCK.finditer(text):
        line = text[: block.start()].count("\n") + 1
        source = "\n" * line + block.group(1)
        exec(compile(source, str(page), "exec"), names)
        assert len(names) > 2, f"line {line}: defines nothing"  # beside __name__, __builtins__


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if not target.startswith(("http://", "https://", "#")):
            assert (page.parent / target.split("#")[0]).exists(), target


def test_the_newcomer_needs_two_commands():
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"^```sh newcomer\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks == ["make demo\nmake test\n"]


def test_every_method_is_in_the_readme():
    from drystone.solvers.registry import SOLVERS

    text = (ROOT / "README.md").read_text()
    for method in SOLVERS:
        assert f"`{method}`" in text
