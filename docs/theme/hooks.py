"""What the site adds to the pages of the repository while it is built.

Formulas become MathML, which browsers draw themselves; pages that lie outside ``docs`` (changes,
benchmarks) are taken in; the reference is laid out by the sections of ``api.md``; the gallery
gets its replays, where they have been made.
"""

from __future__ import annotations

import ast
import html
import logging
import posixpath
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
LOG = logging.getLogger("mkdocs.hooks.drystone")
LINK = re.compile(r"""(\]\(|\b(?:src|href)=")([^)"#\s]+)((?:#[^)"\s]*)?[)"])""")
FENCE = re.compile(r"^(```\w+) [\w -]+$", re.MULTILINE)  # "```python no-run": words for the tests
# code is left alone; formulas may go over lines, stand in lists, and hold bars within tables
TEX = re.compile(
    r"(?P<code>^ *```.*?^ *```|`+[^`]+`+)|^(?P<heading>#+ [^\n]*)$"
    r"|\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^\s$](?:[^$]*[^\s$])?)\$(?!\d)",
    re.DOTALL | re.MULTILINE,
)
TOKEN = re.compile(r"zqm(\d+)zqm")
OUTSIDE = {
    "README.md": "readme.md", "CHANGELOG.md": "changes.md", "CONTRIBUTING.md": "contributing.md",
    "benchmarks": "benchmarks/index.md", "benchmarks/README.md": "benchmarks/index.md",
    "benchmarks/results": "benchmarks/index.md", "examples": "examples.md",
}  # fmt: skip
BAR = '<mo stretchy="false">&#x0007C;</mo>'  # of a norm: not a relation with space about it
NARROW = '<mo stretchy="false" lspace="0" rspace="0">&#x0007C;</mo>'
NAME = re.compile(r"`(\w+)((?:\([^`]*\))?)`")


def on_config(config: Any) -> Any:
    """Folders in the navigation stand for the pages in them that it does not name."""
    named = set(_named(config.nav))
    config.nav = _expanded(config.nav, named, Path(config.docs_dir))
    return config


def on_files(files: Any, config: Any) -> Any:
    """Pages from outside the folder, and the reference."""
    for source, text in {**_taken_in(), **reference()}.items():
        files.append(File.generated(config, source, content=text))
    results = ROOT / "benchmarks" / "results"
    for path in sorted([*results.glob("*.png"), *results.glob("*.csv")]):
        target = f"benchmarks/results/{path.name}"
        files.append(File.generated(config, target, content=path.read_bytes()))
    return files


def on_page_markdown(text: str, page: Any, config: Any, files: Any) -> str:
    """Links that leave ``docs``, words after the language of a block, replays."""
    place = page.file.src_uri
    text = FENCE.sub(r"\1", text)
    text = LINK.sub(lambda m: m[1] + _target(m[2], place) + m[3], text)
    if place == "gallery/index.md":
        text = _with_replays(text, Path(config.docs_dir) / "gallery" / "replays")
    if place == "api.md":
        text = _with_references(text)
    page.formulas = []
    return TEX.sub(lambda m: _token(m, page.formulas), text)


def on_page_content(text: str, page: Any, config: Any, files: Any) -> str:
    """Formulas as MathML, in the places that were kept for them."""
    return TOKEN.sub(lambda m: page.formulas[int(m[1])], text)


def _token(match: re.Match[str], formulas: list[str]) -> str:
    """A word in the place of a formula, which Markdown does not touch."""
    if match["code"]:
        return match[0]
    if match["heading"]:  # these are also anchors and entries of contents: letters only
        return re.sub(r"\$([^$]+)\$", r"*\1*", match["heading"])
    if match["block"]:
        found = f'<span class="formula">{mathml(match["block"], "block")}</span>'
    else:
        found = mathml(match["inline"], "inline")
    formulas.append(found)
    return f"zqm{len(formulas) - 1}zqm"


@lru_cache(maxsize=4096)
def mathml(tex: str, display: str) -> str:
    """A formula in TeX as MathML."""
    source = " ".join(tex.split())
    try:
        return convert(source, display=display).replace(BAR, NARROW)
    except Exception as error:  # whatever is wrong with it, strict builds end here
        LOG.warning("formula %r: %s", source, error or type(error).__name__)
        return f"<code>{html.escape(tex)}</code>"


def reference() -> dict[str, str]:
    """Pages of the reference: public names under the headings of ``api.md``, each once."""
    import drystone

    left = dict.fromkeys(name for name in drystone.__all__ if name != "__version__")
    out: dict[str, str] = {}
    for section in re.split(r"^## ", (ROOT / "docs" / "api.md").read_text(), flags=re.MULTILINE)[
        1:
    ]:
        title = section.splitlines()[0].strip()
        found = [m[1] for m in NAME.finditer(section) if m[1] in left]
        found = [name for name in dict.fromkeys(found) if left.pop(name, True) is None]
        if found:
            slug = re.sub(r"\W+", "_", title.lower())
            out[f"reference/{slug}.md"] = _entries(title, found)
    if left:
        out["reference/other.md"] = _entries("Other names", list(left))
    return out


def _entries(title: str, names: list[str]) -> str:
    return f"# {title}\n\n" + "\n\n".join(f"::: drystone.{name}" for name in names) + "\n"


def _with_references(text: str) -> str:
    """Public names in tables lead to what their docstrings say."""
    import drystone

    known = set(drystone.__all__) - {"__version__"}
    lines = []
    for line in text.split("\n"):
        if line.startswith("| `"):
            head, rest = line[2:].split(" | ", 1)
            head = NAME.sub(lambda m: f"[{m[0]}][drystone.{m[1]}]" if m[1] in known else m[0], head)
            line = f"| {head} | {rest}"
        lines.append(line)
    return "\n".join(lines)


def _with_replays(text: str, folder: Path) -> str:
    """A player below every picture whose replay has been made."""

    def played(match: re.Match[str]) -> str:
        name = match[1]
        if not (folder / f"{name}.html").exists():
            return match[0]
        place = f"replays/{name}.html"
        return (
            f'{match[0]}\n\n<details class="replay"><summary>Replay</summary>'
            f'<iframe src="{place}" title="replay of {name}" loading="lazy" '
            f'sandbox="allow-scripts allow-downloads"></iframe>'
            f'<a href="{place}">on a page of its own</a></details>\n'
        )

    return re.sub(r"^!\[[^]]*\]\(pictures/([\w-]+)\.webp\)$", played, text, flags=re.MULTILINE)


def _taken_in() -> dict[str, str]:
    """Pages of the site by place, from files that lie elsewhere in the repository."""
    out = {"changes.md": _changes(), "examples.md": _examples()}
    for file in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md"):
        out[OUTSIDE[file]] = (ROOT / file).read_text()
    for path in sorted((ROOT / "benchmarks" / "results").glob("*.md")):
        wide = "---\nhide: [toc]\n---\n\n"  # room for tables of many columns
        out[f"benchmarks/results/{path.name}"] = wide + path.read_text()
    return out


def _examples() -> str:
    """The examples, each with what it says of itself."""
    out = ["# Examples\n\nScripts that check themselves, in the folder `examples`.\n"]
    for path in sorted((ROOT / "examples").glob("*.py")):
        module = ast.parse(path.read_text())
        said = ast.get_docstring(module) or ""
        body = path.read_text().split('"""', 2)[2].strip()
        title = path.stem[3:].replace("_", " ").capitalize()
        out.append(f"## {title}\n\n{said}\n\n`python examples/{path.name}`\n")
        out.append(f"```python\n{body}\n```\n")
    return "\n".join(out)


def _changes() -> str:
    """The log of changes with the fragments that wait for the next release."""
    head, *rest = (ROOT / "CHANGELOG.md").read_text().split("\n## ")
    waiting = [
        "* " + " ".join(path.read_text().split())
        for path in sorted((ROOT / "changelog.d").glob("*.md"))
        if path.name != "README.md"
    ]
    return "\n## ".join([head, "Since then\n\n" + "\n".join(waiting) + "\n", *rest])


def _target(link: str, place: str) -> str:
    """Where a link of the page at `place` leads on the site."""
    if ":" in link or link.startswith("/"):
        return link
    homes = {site: file for file, site in OUTSIDE.items() if file.endswith(".md")}
    inside = place.startswith("benchmarks/results/")
    home = place if inside else homes.get(place, f"docs/{place}")  # where the text lies
    goal = posixpath.normpath(posixpath.join(posixpath.dirname(home), link))
    if goal in OUTSIDE or goal.startswith("examples/"):
        goal = OUTSIDE.get(goal, "examples.md")
    elif goal.startswith("docs/"):
        goal = goal.removeprefix("docs/")
    elif not goal.startswith("benchmarks/results/"):
        LOG.warning("%s: %s is not part of the site", place, link)
    return posixpath.relpath(goal, posixpath.dirname(place) or ".")


def _named(nav: Any) -> list[str]:
    """All pages that the navigation names."""
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [name for part in parts for name in _named(part)]


def _expanded(nav: list[Any], named: set[str], docs: Path) -> list[Any]:
    made = [*_taken_in(), *reference()]  # in their own order
    out: list[Any] = []
    for item in nav:
        if isinstance(item, str) and item.endswith("/"):
            pages = sorted(p.relative_to(docs).as_posix() for p in (docs / item).glob("*.md"))
            pages += [p for p in made if posixpath.dirname(p) + "/" == item]
            out += [p for p in pages if p not in named]
        elif isinstance(item, dict):
            out += [
                {title: part if isinstance(part, str) else _expanded(part, named, docs)}
                for title, part in item.items()
            ]
        else:
            out.append(item)
    return out
