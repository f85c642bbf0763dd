"""Values as users give them, converted in one place: None where they are not what was asked for.

Those who ask raise errors of their own, with the owner, the field and the value in them. Numbers
that no float can hold become infinite, and so are refused as infinite ones are.
"""

from __future__ import annotations

import inspect
import math
import operator
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from drystone.errors import DrystoneError, FrameError, ModelError, OptionError
from drystone.types import Floats, own

NAME_CHARACTERS = 500  # of the name of a body or joint: what scene files and recordings keep
MAX_INTEGER = 2**62  # of whole numbers: kernels count in 64 bits
REALS = (int, float, np.integer, np.floating)


def real(value: Any) -> float | None:
    """A real number as a float, whatever its size; None for texts, bools, complex numbers, arrays
    of one and more dimensions."""
    if type(value) is float:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, REALS):
        return None
    try:
        with np.errstate(over="ignore"):
            return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except TypeError:  # to NumPy a duration is an integer
        return None


def whole(value: Any) -> int | None:
    """An integer; None for anything else, True and False among it."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        out = operator.index(value)
    except TypeError:
        return None
    return out if abs(out) < MAX_INTEGER else None


def finite(value: Any) -> float | None:
    """The number, or None (JSON null) where JSON has no word for it."""
    return float(value) if math.isfinite(value) else None


def reals(values: Any) -> Floats | None:
    """An array of floats of its own, in C order; None for ragged lists, texts, dates, complex
    numbers and arrays of which entries are masked."""
    if isinstance(values, str | bytes | set | frozenset | Mapping) or np.ma.is_masked(values):
        return None
    try:
        out = np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        return None
    if out.dtype.kind in "biuf":
        with np.errstate(over="ignore"):
            made: Floats = own(out)
            return made
    if out.dtype.kind != "O":
        return None
    numbers = [float(v) if isinstance(v, bool) else real(v) for v in out.ravel().tolist()]
    if None in numbers:
        return None
    return np.array(numbers, dtype=np.float64).reshape(out.shape)


def frame_number(k: Any, n: int, owner: str, what: str = "frame") -> int:
    """The place of frame k of n, counted from the end where it is negative."""
    number = whole(k)
    if number is None or not -n <= number < n:
        raise FrameError(f"{what} {text(k)}: {owner} has {n}")
    return number % n


def text(value: Any, limit: int = 80) -> str:
    """What a value looks like, in one short line."""
    if isinstance(value, int) and abs(value) >= 10**25:
        size = real(value) or 0.0
        return "a whole number too large for a float" if math.isinf(size) else f"{size:g}"
    words = " ".join(repr(value).split())
    return words if len(words) <= limit else words[: limit - 3] + "..."


def meant(name: Any, known: Iterable[str], otherwise: str = "", before: str = "") -> str:
    """Which of the names known was probably meant, as a question after `before`; otherwise: what
    is said where none is near."""
    near = get_close_matches(str(name), list(known), n=1)
    return f"{before}did you mean {near[0]!r}?" if near else otherwise


def new_name(kind: str, value: Any, known: Any, taken: str | None = None) -> str:
    """The name of a new body or joint, which files can keep and no other has; taken: a name that
    means something else."""
    try:
        size = len(value.encode()) if isinstance(value, str) and value != taken else 0
    except UnicodeEncodeError:  # half of a surrogate pair is no character
        size = 0
    if not size or len(value) > NAME_CHARACTERS or "\0" in value:
        other = "" if taken is None else f" other than {taken!r}"
        raise ModelError(
            f"{kind} name {text(value)}: expected a string{other}, of up to {NAME_CHARACTERS} "
            "characters, none of them NUL"
        )
    if value in known:
        raise ModelError(f"{kind} {value!r}: another {kind} has this name")
    return str(value)


def as_path(owner: str, value: Any, error: type[DrystoneError] = OptionError) -> Path:
    """The path of a file."""
    if not isinstance(value, str | os.PathLike):
        raise error(f"{owner}: {text(value)} is not the name of a file")
    name = os.fspath(value)
    if not isinstance(name, str) or "\0" in name or not name:
        raise error(f"{owner}: {text(name)} is not the name of a file")
    return Path(name)


@contextmanager
def writing(place: Path, option: str = "") -> Iterator[Path]:
    """While it is entered a file is written, in a folder that is made; what the system refuses is
    an OptionError that names the file, after the option by which it was given."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        yield place
    except OSError as error:
        raise OptionError(f"{option} {place}: {error.strerror or error}".lstrip()) from None


def function(owner: str, field: str, value: Any, *words: str) -> None:
    """OptionError unless it can be called with these arguments, or is None."""
    if value is not None and not callable(value):
        raise OptionError(f"{owner}: {field} = {text(value)}: expected a function")
    refused = None if value is None else refused_call(value, *words)
    if refused is not None:
        raise OptionError(f"{owner}: {field}: {refused}")


def refused_call(function: Any, *words: str, **options: Any) -> str | None:
    """Why a user's function cannot be called with these arguments; None if it can."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions have none
        return None
    try:
        signature.bind(*words, **options)
    except TypeError as error:
        call = ", ".join((*words, *(f"{name}=..." for name in options)))
        whose = getattr(function, "__name__", type(function).__name__)
        return f"cannot call {whose}({call}): {error}"
    return None


def switch(owner: str, field: str, value: Any, error: type[DrystoneError] = OptionError) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise error(f"{owner}: {field} = {text(value)}: expected True or False")
    return bool(value)


def among(value: Any, known: Any) -> bool:
    """Whether a text is one of those known; False for what is no text."""
    return isinstance(value, str) and value in known


_CONVERT = {float: real, int: whole, bool: lambda v: v if isinstance(v, bool) else None,
            str: lambda v: v if isinstance(v, str) else None}  # fmt: skip
_WORDS = {float: "a number", int: "a whole number", bool: "True or False", str: "a text"}


def _literal(part: Any) -> bool:
    return get_origin(part) is Literal


def parts_of(hint: Any) -> tuple[Any, ...]:
    """The types of which a value of this annotation may be."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


@cache
def _kinds(cls: Hashable) -> dict[str, tuple[Any, ...]]:
    """Fields of a dataclass whose values are of plain types or other options, and these types."""
    kind: Any = cls
    hints, out = get_type_hints(kind), {}
    for item in fields(kind):
        parts = parts_of(hints[item.name])
        others = [part for part in parts if not (part in _CONVERT or part is NoneType)]
        open_ended = item.default is None and NoneType not in parts  # whatever the annotation says
        if all(_literal(part) or _options(part) for part in others) and not (others and open_ended):
            out[item.name] = parts
    return out


def _options(part: Any) -> bool:
    return isinstance(part, type) and is_dataclass(part)


def check_options(options: Any, name: str, dot: str = ": ", floats: bool = False) -> None:
    """Bring the fields of a frozen dataclass to the types that they are annotated with: float, int,
    bool, str, one of several texts, other options, or None. OptionError where that cannot be.
    Integers that are given for floats are as good, and stay; floats: they are made into floats."""
    kind: Any = type(options)
    for field, parts in _kinds(kind).items():
        value = getattr(options, field)
        for part in parts:
            if part is NoneType:
                found = value is None
            elif _literal(part):
                found = any(
                    type(value) is type(known) and value == known for known in get_args(part)
                )
            elif _options(part):
                found = isinstance(value, part)
            else:
                made = _CONVERT[part](value)
                found = made is not None
                integer = type(value) is int and abs(value) < MAX_INTEGER
                if found and type(value) is not part and (floats or not integer):
                    object.__setattr__(options, field, made)
            if found:
                break
        else:
            raise OptionError(f"{name}{dot}{field} = {text(value)}: expected {_expected(parts)}")


def check_positive(options: Any, name: str, *names: str, zero: bool = False) -> None:
    """OptionError unless these fields, where they are numbers, are finite and positive; zero: or
    zero."""
    for field in names:
        value = getattr(options, field)
        if not isinstance(value, int | float):
            continue
        if not math.isfinite(value) or value < 0 or (value == 0 and not zero):
            expected = "zero or more" if zero else "a positive number"
            raise OptionError(f"{name}.{field} = {value!r}: expected {expected}")


def _expected(parts: tuple[Any, ...]) -> str:
    words: list[str] = []
    for part in parts:
        if _literal(part):
            words += [str(choice) for choice in get_args(part)]
        elif _options(part):
            words.append(f"ds.{part.__name__}(...)")
        else:
            words.append("None" if part is NoneType else _WORDS[part])
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
