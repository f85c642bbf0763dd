"""Methods and their options as texts, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from drystone.errors import ArgumentError, DescriptionError, DrystoneError, OptionError
from drystone.scene_files.kinds import CONES, METHODS, kind_of
from drystone.scene_files.plain import fixed_numbers, is_usual, plain, said
from drystone.solvers.base import Solver
from drystone.solvers.registry import METHODS as SOLVERS
from drystone.solvers.registry import by_name
from drystone.steppers.event_driven.guards import EventGuards
from drystone.steppers.event_driven.impulses import CollisionLaw
from drystone.steppers.time_stepping.options import Sleeping
from drystone.steppers.time_stepping.policy import IslandPolicy


def method_document(method: Any) -> dict[str, Any]:
    """Name, dt, and the options that differ from the defaults, in JSON's types."""
    name = kind_of(method, METHODS)
    if name is None:
        raise DescriptionError(f"method {method!r} cannot be described: expected a method of ours")
    out: dict[str, Any] = {"name": name, "dt": float(method.dt)}
    for field in fields(method):
        value = getattr(method, field.name)
        if field.name != "dt" and not is_usual(field, value):
            out[field.name] = option_document(f"{name}: {field.name}", value)
    return out


def option_document(owner: str, value: Any) -> Any:
    """An option that may be a solver, a cone, sleeping, a policy, guards or a law of collisions."""
    if isinstance(value, Solver):
        name = next((n for n in SOLVERS if type(by_name(n)) is type(value)), None)
        if name is None:
            raise DescriptionError(f"{owner}: {value!r} cannot be described")
        out = {"name": name} | said(owner, value, ("inner",))
        inner = getattr(value, "inner", None)
        if inner not in (None, "lemke"):
            out["inner"] = option_document(owner, inner)
        return out
    cone = kind_of(value, CONES)
    if cone is not None:
        return {"kind": cone} | said(owner, value)
    if isinstance(value, Sleeping):
        return {"speed": float(value.speed), "duration": float(value.duration)}
    if isinstance(value, IslandPolicy | EventGuards):
        return said(owner, value)
    if isinstance(value, CollisionLaw):
        out = said(owner, value, ("solver",)) | {"law": value.law}
        if value.solver != "dantzig":
            out["solver"] = option_document(owner, value.solver)
        return out
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict):
        return {"method": option_document(owner, value[0])} | plain(owner, value[1])
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
    for key, read in READERS.items():
        if isinstance(options.get(key), dict):
            options[key] = read(options[key])
    return _made(kind, options)


def _made(kind: Any, options: dict[str, Any]) -> Any:
    try:
        return kind(**options)
    except ArgumentError as error:
        raise OptionError(str(error)) from None
    except DrystoneError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"{kind.__name__}: {error}") from None


def solver_from(document: Any) -> Any:
    """A solver's name, or a solver with options."""
    if not isinstance(document, dict):
        return document
    entry = SOLVERS.find(document.get("name"))
    options = {key: value for key, value in document.items() if key != "name"}
    if isinstance(options.get("inner"), dict):
        options["inner"] = solver_from(options["inner"])
    return _made(entry.kind, {**entry.options, **options})


def cone_from(document: dict[str, Any]) -> Any:
    """A cone from its kind and numbers."""
    options = {key: value for key, value in document.items() if key != "kind"}
    if document.get("kind") not in CONES:
        raise OptionError(f"cone {document.get('kind')!r}: expected one of {', '.join(CONES)}")
    return _made(CONES[document["kind"]], options)


def _forces_from(document: dict[str, Any]) -> Any:
    """Contact forces: a solver, or a method with options of its own."""
    if "method" not in document:
        return solver_from(document)
    options = {key: value for key, value in document.items() if key != "method"}
    return solver_from(document["method"]), options


def _law_from(document: dict[str, Any]) -> Any:
    return _made(
        CollisionLaw, document | {"solver": solver_from(document.get("solver", "dantzig"))}
    )


READERS: dict[str, Any] = {
    "cone": cone_from,
    "solver": solver_from,
    "sleeping": lambda document: _made(Sleeping, document),
    "policy": lambda document: _made(IslandPolicy, document),
    "guards": lambda document: _made(EventGuards, document),
    "contact_forces": _forces_from,
    "collisions": _law_from,
}
