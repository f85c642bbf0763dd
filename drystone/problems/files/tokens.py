"""A text file as a stream of words; every complaint names the file, the line and the word."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from drystone.errors import ProblemFileError
from drystone.plain_files import open_plain
from drystone.types import Floats, Ints

TEXT_BYTES = 2**30  # of a file


class Tokens:
    """The white-space separated words of a file, read front to back.

    `limit` is the number of words: nothing the file declares can need an array longer than
    that, so a size is checked against what is left before anything is allocated.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with open_plain(path) as file:
            if os.fstat(file.fileno()).st_size > TEXT_BYTES:
                raise ProblemFileError(f"{path}: more than {TEXT_BYTES // 2**20} MiB of text")
            self._data = file.read()
        self.words = self._data.split()
        self.at = 0

    @property
    def limit(self) -> int:
        return len(self.words)

    @property
    def left(self) -> int:
        return len(self.words) - self.at

    def error(self, message: str, at: int | None = None) -> ProblemFileError:
        """The error to raise, with the line of word number `at` (default: the next one)."""
        k = self.at if at is None else at
        if k >= len(self.words):
            return ProblemFileError(f"{self.path}: end of file (word {k + 1}): {message}")
        for index, found in enumerate(re.finditer(rb"\S+", self._data)):
            if index == k:
                line = self._data.count(b"\n", 0, found.start()) + 1
                return ProblemFileError(f"{self.path}: line {line}, word {k + 1}: {message}")
        return ProblemFileError(f"{self.path}: word {k + 1}: {message}")

    def shown(self, at: int) -> str:
        """A word as it may be printed: short, and without control characters."""
        return repr(self.words[at][:40].decode("ascii", "backslashreplace"))

    def word(self, what: str) -> bytes:
        self.need(1, what)
        self.at += 1
        return self.words[self.at - 1]

    def need(self, count: int, what: str) -> None:
        """Raise unless `count` more words are there."""
        if count > self.left:
            raise self.error(
                f"{what} needs {count} numbers, but the file holds only {self.left} more",
                len(self.words),
            )

    def integer(self, what: str, low: int = 0, high: int | None = None) -> int:
        """The next word as an integer in [low, high]; high defaults to the words in the file."""
        word = self.word(what)
        try:
            value = int(word)
        except ValueError:
            shown = self.shown(self.at - 1)
            raise self.error(f"{what} is {shown}: expected an integer", self.at - 1) from None
        high = self.limit if high is None else high
        if not low <= value <= high:
            shown = self.shown(self.at - 1)
            raise self.error(f"{what} is {shown}: expected {low} to {high}", self.at - 1)
        return value

    def integers(self, count: int, what: str, low: int = 0, high: int | None = None) -> Ints:
        """The next `count` words as integers in [low, high]."""
        self.need(count, what)
        begin = self.at
        self.at += count
        return self.as_integers(begin, self.at, 1, what, low, high)

    def as_integers(
        self, begin: int, end: int, step: int, what: str, low: int = 0, high: int | None = None
    ) -> Ints:
        """Every `step`-th word of begin..end as integers in [low, high]."""
        high = self.limit if high is None else high
        words = self.words[begin:end:step]
        try:
            values = np.fromiter(map(int, words), dtype=np.int64, count=len(words))
        except (ValueError, OverflowError):
            values = None
        if values is None or ((values < low) | (values > high)).any():
            raise self._blame(begin, end, step, what, low, high)
        return values

    def _blame(
        self, begin: int, end: int, step: int, what: str, low: int, high: int
    ) -> ProblemFileError:
        for k in range(begin, end, step):
            try:
                if low <= int(self.words[k]) <= high:
                    continue
            except ValueError:
                pass
            message = f"{what} is {self.shown(k)}: expected an integer from {low} to {high}"
            return self.error(message, k)
        raise AssertionError("called for a bad integer")

    def floats(self, count: int, what: str) -> Floats:
        """The next `count` words as finite numbers."""
        self.need(count, what)
        begin = self.at
        self.at += count
        return self.as_floats(begin, self.at, 1, what)

    def as_floats(self, begin: int, end: int, step: int, what: str) -> Floats:
        """Every `step`-th word of begin..end as finite numbers."""
        words = self.words[begin:end:step]
        try:
            values = np.fromiter(map(float, words), dtype=np.float64, count=len(words))
            bad = int(np.argmin(np.isfinite(values))) if words else 0
            if not words or np.isfinite(values[bad]):
                return values
        except ValueError:
            bad = next(k for k, word in enumerate(words) if not is_number(word))
        k = begin + step * bad
        raise self.error(f"{what}[{bad}] is {self.shown(k)}: expected a finite number", k)


def is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
