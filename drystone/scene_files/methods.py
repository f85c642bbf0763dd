"""Methods and their options as texts, and back.

What an option may be is said by its annotation: numbers, texts, a solver, a cone, or a dataclass of
further options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

from drystone.errors import ArgumentError, DescriptionError, DrystoneError, OptionError
from drystone.scene_files.json_values import fixed_numbers, is_usual, non_defaults, plain
from drystone.scene_files.kinds import CONES, kind_of
from drystone.solvers.base import Solver
from drystone.solvers.registry import SOLVERS, by_name
from drystone.steppers.registry import METHODS
from drystone.values import parts_of

FORCE_METHOD = "method"  # key of the solver, beside the options of its use


def method_document(method: Any) -> dict[str, Any]:
    """Name, dt, and the options that differ from the defaults, in JSON's types."""
    name = str(getattr(method, "name", ""))
    if name not in METHODS or type(method) is not METHODS[name]:
        raise DescriptionError(
            f"method {method!r} cannot be described: expected one of {', '.join(METHODS)}"
        )
    return {"name": name, "dt": float(method.dt)} | _options_document(name, method, ("dt",))


def _options_document(owner: str, options: Any, but: tuple[str, ...] = ()) -> dict[str, Any]:
    """Those that differ from their defaults."""
    return {
        field.name: option_document(f"{owner}: {field.name}", getattr(options, field.name))
        for field in fields(options)
        if field.name not in but and not is_usual(field, getattr(options, field.name))
    }


def option_document(owner: str, value: Any) -> Any:
    """An option that may be a solver, a cone, or options of its own."""
    if isinstance(value, Solver):
        name = next((n for n in SOLVERS if type(by_name(n)) is type(value)), None)
        if name is None:
            raise DescriptionError(f"{owner}: {value!r} cannot be described")
        out = {"name": name} | non_defaults(owner, value, ("inner",))
        inner = getattr(value, "inner", None)
        if inner not in (None, "lemke"):
            out["inner"] = option_document(owner, inner)
        return out
    cone = kind_of(value, CONES)
    if cone is not None:
        return {"kind": cone} | non_defaults(owner, value)
    if is_dataclass(value):
        return _options_document(owner, value)
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict):
        return {FORCE_METHOD: option_document(owner, value[0])} | plain(owner, value[1])
    return plain(owner, value)


def method_from(document: Mapping[str, Any]) -> Any:
    """The method of a document; OptionError says what is wrong with it."""
    if not isinstance(document, Mapping) or document.get("name") not in METHODS:
        raise OptionError(f"method {document!r}: expected a name, one of {', '.join(METHODS)}")
    options = {key: fixed_numbers(value) for key, value in document.items() if key != "name"}
    kind = METHODS[document["name"]]
    known = {field.name for field in fields(kind)}
    for key in options:
        if key not in known:
            raise OptionError(f"{key} = {options[key]!r}: {document['name']} has no such option")
    return _made(kind, options)


def _made(kind: Any, document: Mapping[str, Any]) -> Any:
    """Options of a class, from a document."""
    hints = get_type_hints(kind)
    options = {
        key: _option_from(parts_of(hints.get(key)), value) if isinstance(value, dict) else value
        for key, value in document.items()
    }
    try:
        return kind(**options)
    except ArgumentError as error:
        raise OptionError(str(error)) from None
    except DrystoneError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"{kind.__name__}: {error}") from None


def _option_from(parts: tuple[Any, ...], document: dict[str, Any]) -> Any:
    """An option of one of these types."""
    if Solver in parts:
        if FORCE_METHOD not in document:
            return solver_from(document)
        options = {key: value for key, value in document.items() if key != FORCE_METHOD}
        return solver_from(document[FORCE_METHOD]), options
    if any(cone in parts for cone in CONES.values()):
        return cone_from(document)
    own = next((part for part in parts if is_dataclass(part)), None)
    return document if own is None else _made(own, document)


def solver_from(document: Any) -> Any:
    """A solver's name, or a solver with options."""
    if not isinstance(document, dict):
        return document
    entry = SOLVERS.find(document.get("name"))
    options = {key: value for key, value in document.items() if key != "name"}
    return _made(entry.kind, {**entry.options, **options})


def cone_from(document: dict[str, Any]) -> Any:
    """A cone from its kind and numbers."""
    options = {key: value for key, value in document.items() if key != "kind"}
    if document.get("kind") not in CONES:
        raise OptionError(f"cone {document.get('kind')!r}: expected one of {', '.join(CONES)}")
    return _made(CONES[document["kind"]], options)
