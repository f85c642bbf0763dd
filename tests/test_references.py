"""Sources and pages cite papers by author, year and section, not by numbers of a private list."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = [
    path
    for folder in ("drystone", "docs", "tests", "examples", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".md") and path != Path(__file__)
]
# numbers of a list of the papers' contents that is not in this repository: "(G14)", "DESIGN 5"
PRIVATE = re.compile(
    r"\((?:[GKIFTNPXSVU]\d{1,2}(?:, | to |; )?)+\)|\b(?:DESIGN|SEEDS|HOUSE) \d|\b00[0-4]:\d"
    r'|"""[GKIFTNPXSVU]\d{1,2}[:,] |\b[Ss]eed 00'
)


def test_no_page_refers_to_documents_that_are_not_here():
    found = []
    for path in TEXTS:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if PRIVATE.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert found == []


@pytest.mark.parametrize(
    ("line", "private"),
    [
        ("solved island by island (G14).", True),
        ("the index set (F6; 001:13.3)", True),
        ("I7 to I10 are (I7 to I10)", True),
        ('"""S12: the world against the matrix', True),
        ("One error measure (DESIGN 5)", True),
        ("solved island by island (Anitescu et al. 1998, 2.4).", False),
        ("w[V1 + c] = dot(w, V1)", False),
    ],
)
def test_what_counts_as_such_a_reference(line, private):
    assert bool(PRIVATE.search(line)) == private
