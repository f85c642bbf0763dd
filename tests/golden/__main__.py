"""Goldens on the command line.

    python -m tests.golden PATTERN ...            compares; says what is otherwise, and by how much
    python -m tests.golden --bits PATTERN ...     the same, to the bit
    python -m tests.golden --update PATTERN ...   rewrites what is otherwise, and says what it was
    python -m tests.golden --list PATTERN ...

A pattern is a scene or world (chain-2d), a case (chain-2d/order 2), or has wildcards ("*/default").
Bits hang on the processor: on another one than the goldens were written on, write goldens of the
code before into a folder of their own (--update --data FOLDER), and compare with those.
"""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatch
from pathlib import Path
from time import process_time
from typing import Any

from tests.golden.cases import Case, cases, groups
from tests.golden.measure import measured, trusted
from tests.golden.store import DATA, differences, machine, read, record, write

MACHINE = "machine.txt"
SLOW = 10.0  # [s] of an update, which makes four runs of a case


def matches(case: Case, patterns: list[str]) -> bool:
    return any(fnmatch(str(case), p) or fnmatch(case.group, p) for p in patterns)


def update(case: Case, old: dict[str, Any] | None) -> tuple[dict[str, Any], list[str]]:
    """The golden of a case, as it was where nothing changed to the bit; what changed."""
    if old is not None:
        run = measured(case)
        found = differences(old, run, bits=True)
        if not found:
            return old, []
        beyond = {str(d) for d in differences(old, run)}
        said = [f"{d}" + ("" if str(d) in beyond else " (within tolerance)") for d in found]
    else:
        said = ["new"]
    return record(*trusted(case)), said


def updated(folder: Path, patterns: list[str]) -> None:
    changed = 0
    for group in groups():
        all_cases = cases(group)
        if not any(matches(case, patterns) for case in all_cases):
            continue
        old = read(group, folder)
        new = {}
        for case in all_cases:
            if not matches(case, patterns):
                if case.name in old:
                    new[case.name] = old[case.name]
                continue
            begin = process_time()
            new[case.name], said = update(case, old.get(case.name))
            spent = process_time() - begin
            if spent > SLOW:
                print(f"{case}: took {spent:.0f} s of processor time", flush=True)
            changed += bool(said)
            for line in said:
                print(f"{case}: {line}", flush=True)
        for name in old.keys() - {case.name for case in all_cases}:
            print(f"{group}/{name}: gone")
        if new != old:
            write(group, new, folder)
    print(f"{changed} cases rewritten")
    if changed:
        (folder / MACHINE).write_text(machine() + "\n", encoding="utf-8")


def compared(folder: Path, patterns: list[str], bits: bool) -> int:
    """How many cases are otherwise."""
    wrong = count = 0
    for group in groups():
        old = None
        for case in cases(group):
            if not matches(case, patterns):
                continue
            old = read(group, folder) if old is None else old
            count += 1
            if case.name not in old:
                print(f"{case}: has no golden")
                wrong += 1
                continue
            found = differences(old[case.name], measured(case), bits)
            wrong += bool(found)
            for difference in found:
                print(f"{case}: {difference}", flush=True)
    print(f"{wrong} of {count} cases are otherwise")
    return wrong


def main() -> int:
    shown = {"prog": "python -m tests.golden", "description": __doc__}
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(**shown, formatter_class=plain)
    parser.add_argument("patterns", nargs="+", metavar="PATTERN")
    parser.add_argument("--update", action="store_true", help="rewrite goldens on purpose")
    parser.add_argument("--bits", action="store_true", help="compare to the bit")
    parser.add_argument("--list", action="store_true", help="names of the cases")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the goldens")
    given = parser.parse_args()
    if given.list:
        for group in groups():
            for case in cases(group):
                if matches(case, given.patterns):
                    print(case)
        return 0
    if given.update:
        updated(given.data, given.patterns)
        return 0
    if given.bits:
        written = given.data / MACHINE
        if written.exists() and written.read_text(encoding="utf-8").strip() != machine():
            print(f"written on {written.read_text(encoding='utf-8').strip()}; this is {machine()}")
    return 1 if compared(given.data, given.patterns, given.bits) else 0


if __name__ == "__main__":
    sys.exit(main())
