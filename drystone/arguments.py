"""Answers to calls that do not fit: which word is meant, where it belongs, what is missing.

``drystone.__getattr__`` passes every public class and function through `answering` when it is
first used, so that a new one needs nothing of its own. A call that fits costs one more frame;
everything else happens after Python has refused the call.
"""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import FrozenInstanceError, fields
from difflib import get_close_matches
from enum import Enum
from functools import wraps
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from drystone.errors import ArgumentError, DrystoneError
from drystone.escaping import for_lines

HERE = str(Path(__file__).parent)
MARK, MISSING, SETTING = "__answers__", "__getattr__", "__setattr__"
T = TypeVar("T")
WITHIN = ("__init__", "__call__")  # besides public methods
FROZEN = "__dataclass_params__"  # of a class whose objects never change

# What other engines, papers and habit call it, and our words for it, the likeliest first.
_ROWS = (
    ("pos xyz location place translation centre origin p xpos", "position anchor point target"),
    ("rot rotation quat quaternion q theta euler attitude", "orientation"),
    ("angle", "orientation position rest_angle"),
    ("pivot origin location position pos", "anchor"),
    ("vel v linear_velocity linvel speed qvel", "velocity speed"),
    ("velocity", "speed"),
    ("omega angvel ang_vel angular_speed spin w", "angular_velocity speed"),
    ("mu mus friction_coefficient coefficient_of_friction static_friction dynamic_friction "
     "lateral_friction coulomb_friction", "friction"),
    ("friction", "mu"),
    ("e eps epsilon bounce bounciness elasticity cor", "restitution tol"),
    ("rho", "density"),
    ("m weight", "mass"),
    ("i moment moment_of_inertia inertia_tensor", "inertia"),
    ("com cog centre_of_gravity", "centre_of_mass"),
    ("static is_static immovable immobile kinematic dynamic fix_base use_fixed_base locked",
     "fixed"),
    ("label id tag", "name"),
    ("group mask category collision_group", "layer"),
    ("geometry geom collider mesh", "shape vertices points"),
    ("r diameter d rad", "radius"),
    ("height h depth l half_length half_height halfheight", "length height lz"),
    ("length", "height lx width"),
    ("size sizes dimensions dims extents half_extents sides lengths half_size halfextents side "
     "edge", "lx width length radius a"),  # where they are not lengths along axes: see SIZES
    ("width sx dx", "lx"),
    ("depth sy dy breadth", "ly"),
    ("sz dz", "lz"),
    ("semi_axes radii axes rx radius", "a"),
    ("corners verts vertices coordinates", "points vertices"),
    ("triangles indices tris", "faces"),
    ("shapes children geoms", "parts"),
    ("timestep time_step step h delta_t step_size stepsize", "dt"),
    ("g", "gravity"),
    ("dimension dim two_d is_planar", "planar dim"),
    ("torque force max_torque effort max_effort limit strength max_motor_torque",
     "max_force force"),
    ("target target_position target_angle setpoint", "position"),
    ("target_velocity motor_speed rate", "speed"),
    ("kp p_gain", "gain stiffness"),
    ("k spring_constant ks", "stiffness"),
    ("c kd viscosity damping_ratio", "damping"),
    ("l0 natural_length free_length rest", "rest_length rest_angle"),
    ("parent body_b body_2 body2 bodyb", "b"),
    ("child body_a body_1 body1 bodya body", "a"),
    ("range limit lower upper min max bounds joint_limits", "limits"),
    ("direction dir normal", "axis"),
    ("dir axis", "direction"),
    ("up plane_normal direction axis", "normal"),
    ("t time t_end tend end end_time stop", "until duration time"),
    ("until seconds total_time sim_time n steps n_steps num_steps frames", "duration"),
    ("file filename output out save log", "record path"),
    ("tolerance accuracy rtol precision ftol", "tol"),
    ("max_iter maxiter max_iterations iterations n_iter num_iter nmax",
     "max_iterations max_sweeps max_pivots max_steps"),
    ("timeout max_time time", "time_limit"),
    ("x0 initial initial_guess start warm_start", "guess"),
    ("method algorithm", "solver integrator"),
    ("solver stepper integrator scheme", "method integrator"),
    ("a matrix", "M W J"),
    ("b rhs vector", "q"),
    ("freq f hz", "frequency"),
    ("amp", "amplitude"),
    ("func f fn callable", "function callback"),
    ("params parameters values over", "grid settings"),
    ("infeasibility overlap", "penetration"),
)  # fmt: skip
SYNONYMS: dict[str, tuple[str, ...]] = {}
for _words, _rights in _ROWS:
    for _word in _words.split():
        SYNONYMS[_word] = (*SYNONYMS.get(_word, ()), *_rights.split())

CALLED = {"_Gallery": "scenes"}  # what users call an object that can be called

SIZES = frozenset(
    ("size", "sizes", "dimensions", "dims", "extents", "half_extents", "sides", "lengths", "side",
     "half_size", "halfextents", "edge", "radii", "semi_axes", "axes")
)  # fmt: skip
HINTS = {
    "Simulation.step": "; Simulation.run(duration) makes many steps",
    "scenes": "; ds.scene(name, **settings) is one of them",
}

NOTES: dict[str, str] = {
    **dict.fromkeys(
        ("color", "colour", "rgba", "colors"),
        "a body has no colour of its own: ds.export(..., colours={name: '#rrggbb'}) takes them",
    ),
    "diameter": "radius is half of the diameter",
    **dict.fromkeys(
        ("half_extents", "halfextents", "half_size"), "sizes are full lengths, not halves"
    ),
    **dict.fromkeys(("half_length", "half_height", "halfheight"), "lengths are full, not halves"),
    **dict.fromkeys(
        ("rot", "rotation", "euler", "theta", "angle"),
        "an orientation is an angle [rad] in the plane, a quaternion (w, x, y, z) in space",
    ),
    **dict.fromkeys(("dynamic", "kinematic"), "a body that is not fixed and has no motion= moves"),
    "weight": "a mass [kg]",
    **dict.fromkeys(("steps", "n_steps", "num_steps"), "a duration is in seconds: steps * dt"),
    **dict.fromkeys(("lower", "upper", "min", "max"), "limits=(lowest, highest)"),
}  # fmt: skip


def answering(value: T) -> T:
    """The public class (changed in place) or function whose wrong calls are answered."""
    if isinstance(value, FunctionType):
        name = value.__name__
        wrapped: T = _answered(value, name)
        home = import_module(value.__module__)
        if getattr(home, name, None) is value:
            setattr(home, name, wrapped)  # the one that pickle finds by its name
        return wrapped
    if isinstance(value, type) and not issubclass(value, BaseException | Enum):
        for base in reversed(value.__mro__):
            if base.__module__.partition(".")[0] == __package__ and MARK not in vars(base):
                _answer_class(base)
    return value


def _answer_class(cls: type) -> None:
    setattr(cls, MARK, True)
    if not any(MISSING in vars(base) for base in cls.__mro__):
        setattr(cls, MISSING, _no_attribute)
    if SETTING in vars(cls) and getattr(vars(cls).get(FROZEN), "frozen", False):
        setattr(cls, SETTING, _no_setting)
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name not in WITHIN:
            continue
        label = cls.__name__ if name == "__init__" else f"{cls.__name__}.{name}"
        if name == "__call__":
            label = CALLED.get(cls.__name__, label)
        kind = type(member)
        if kind is FunctionType:
            setattr(cls, name, _answered(member, label, owned=True))
        elif isinstance(member, staticmethod | classmethod):
            owned = kind is classmethod
            setattr(cls, name, kind(_answered(member.__func__, label, owned=owned)))


class NoAttribute(AttributeError):
    """That an object has no attribute of a name; the hint is made when somebody reads it, as most
    of those who ask only want to know."""

    def __init__(self, cls: type, wanted: str) -> None:
        super().__init__(cls, wanted, name=wanted)  # else Python looks, and suggests, once more
        self.cls, self.wanted = cls, wanted

    def __str__(self) -> str:
        kind, plain = self.cls.__name__, normal(self.wanted)
        known = [word for word in dir(self.cls) if not word.startswith("_")]
        known = [word for word in known if not _only_refused(getattr(self.cls, word))]
        right = ATTRIBUTES.get((kind, plain)) or next(
            (word for word in (plain, *SYNONYMS.get(plain, ())) if word in known), None
        )
        if right is None:
            right = next(iter(get_close_matches(plain, known, 1)), None)
        hint = f": did you mean {right!r}?" if right and not self.wanted.startswith("_") else ""
        return f"{kind!r} object has no attribute {self.wanted!r}{hint}"


def _only_refused(member: object) -> bool:
    """A name that is there so that it cannot be set."""
    return isinstance(member, property) and member.fget is None


def _no_attribute(self: Any, name: str) -> Any:
    raise NoAttribute(type(self), name)


def _no_setting(self: Any, name: str, value: object) -> None:
    """Objects that never change, whatever the name: of slots Python says another thing than of
    fields, and neither what to do."""
    cls = type(self)
    where = SETTINGS.get((cls.__name__, normal(name)))
    if where is None:
        own = any(field.name == name and field.init for field in fields(cls))
        another = f"; dataclasses.replace(it, {name}=...) is another one" if own else ""
        where = f"it never changes{another}"
    raise FrozenInstanceError(f"{cls.__name__}: {name} cannot be set: {where}")


def _answered(function: Callable[..., Any], label: str, *, owned: bool = False) -> Any:
    """The function, whose refused calls raise ArgumentError. owned: its first argument is self."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            trace = error.__traceback__
            if isinstance(error, DrystoneError) or trace is None or trace.tb_next is not None:
                raise  # it was entered: not the call is wrong
            own = args[:1] if owned else ()
            given = args[len(own) :]
            of_class = own and "." not in label and label not in CALLED.values()
            name = type(own[0]).__name__ if of_class else label
            parameters = _parameters(function, owned)
            answer = _sizes(own, given, kwargs, parameters)
            if answer is None:
                sized = bool(own) and getattr(type(own[0]), "takes_sizes", False)
                text = wrong_call(name, parameters, given, kwargs, sized) or str(error)
                raise ArgumentError(text) from None
        return function(*own, *answer)

    return called


def _parameters(function: Callable[..., Any], owned: bool) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())[1 if owned else 0 :]


def _sizes(
    own: tuple[Any, ...], given: tuple[Any, ...], kwargs: Mapping[str, Any], parameters: list[Any]
) -> tuple[Any, ...] | None:
    """Sizes that were given as one sequence, to a class that is made of them alone."""
    if not own or not getattr(type(own[0]), "takes_sizes", False) or len(given) + len(kwargs) != 1:
        return None
    word, value = next(iter(kwargs.items())) if kwargs else ("size", given[0])
    if normal(word) not in SIZES or normal(word).startswith("half"):
        return None
    try:
        values = tuple(value)
    except TypeError:
        return None
    needed = [p for p in parameters if p.default is p.empty]
    return values if len(values) == len(needed) else None


def wrong_call(
    name: str,
    parameters: list[inspect.Parameter],
    given: tuple[Any, ...],
    kwargs: Iterable[str],
    sized: bool = False,
) -> str | None:
    """What is wrong with a call, and the right word; None if it cannot be told. sized: its
    arguments are lengths along axes."""
    kwargs = list(kwargs)
    known = [p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    usage = f"{name}({', '.join(_shown(parameters))})"
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
    for word in kwargs:
        if word not in known and not open_ended:
            if sized and normal(word) in SIZES:
                hint = f"; {NOTES[normal(word)]}" if normal(word) in NOTES else ""
                return f"{name} has no argument {word!r}: its sizes are {', '.join(known)}{hint}"
            short = f" ({usage})" if 0 < len(known) <= 4 else ""
            return f"{name} has no argument {word!r}: {_advice(name, word, known)}{short}"
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(given) > len(places) and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        by_name = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
        if not places and by_name:
            return f"{name} takes its arguments by name: {', '.join(by_name)}"
        takes = f"{len(places)} argument{'s' * (len(places) != 1)}" if places else "no argument"
        rest = f"; by name: {', '.join(by_name)}" if by_name else ""
        return f"{usage} takes {takes}, got {len(given)}{rest}{HINTS.get(name, '')}"
    for p in places[: len(given)]:
        if p.name in kwargs:
            return f"{usage}: {p.name} is given twice, by position and by name"
    filled = {p.name for p in places[: len(given)]} | set(kwargs)
    required = [p.name for p in parameters if p.default is p.empty and p.name in known]
    missing = [word for word in required if word not in filled]
    if missing:
        alike = ""
        if sized and len(given) == 1 and isinstance(given[0], int | float):
            alike = f"; all alike: {name}({', '.join([repr(given[0])] * len(required))})"
        verb = "is" if len(missing) == 1 else "are"
        words = " and ".join([", ".join(missing[:-1]), missing[-1]] if missing[1:] else missing)
        return f"{usage}: {words} {verb} missing{alike}"
    return None


def _shown(parameters: list[inspect.Parameter]) -> list[str]:
    """Names as in a call, the optional ones with '=...'; long lists are cut."""
    stars: dict[Any, str] = {
        inspect.Parameter.VAR_KEYWORD: "**",
        inspect.Parameter.VAR_POSITIONAL: "*",
    }
    out = [
        stars.get(p.kind, "") + p.name + ("" if p.default is p.empty else "=...")
        for p in parameters
    ]
    return out if len(out) <= 8 else [*out[:7], "..."]


def _advice(name: str, word: str, known: list[str]) -> str:
    """Which word was meant, or where it is at home, or which there are."""
    plain = normal(word)
    note = NOTES.get(plain) or NOTES.get(word)
    if note is not None and plain.startswith(("color", "colour", "rgba")):
        return note
    hint, aside = (f"; {note}", f" {note}") if note else ("", "")
    if plain in known:
        return f"did you mean {plain!r}?{aside}"
    own = next((right for right in SYNONYMS.get(plain, ()) if right in known), None)
    if own is None:
        home = _home(name, plain)
        if home is not None:
            return f"it is an argument of {home}"
        near = get_close_matches(plain, known, 1) or [
            k for k in known if min(len(k), len(plain)) > 3 and (k in plain or plain in k)
        ]
        own = near[0] if near else None
    if own is not None:
        return f"did you mean {own!r}?{aside}"
    for right in SYNONYMS.get(plain, ()):
        home = _home(name, right)
        if home is not None:
            return f"{right!r} is an argument of {home}{hint}"
    return f"it takes {', '.join(known)}" if known else "it takes none"


def normal(word: str) -> str:
    """linVel, lin-vel, Lin_Vel: lin_vel; British spelling."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word).lower().replace("-", "_")
    return snake.replace("center", "centre")


def homes() -> tuple[str, ...]:
    """Where a word may be at home that the call at hand has no place for; the first is named."""
    methods = import_module(f"{__package__}.steppers").OURS.values()
    return (
        "World.add_body", *methods, "Motor", "Hinge", "World", "Simulation.run", "Simulation"
    )  # fmt: skip


def _home(name: str, word: str) -> str | None:
    """The public call that has an argument of this name, as users write it."""
    package = import_module("drystone")
    for path in homes():
        first, _, method = path.partition(".")
        found = getattr(package, first)
        target = getattr(found, method) if method else found
        if path != name and word in inspect.signature(target).parameters:
            return f"ds.{path}(...)"
    return None


def wrong_name(name: str, known: Iterable[str], also: Mapping[str, str]) -> str:
    """That the package has no such name, and which was probably meant; also: other words for some
    of those known."""
    known, words = list(known), {**also, **NAMES}
    lower = {word.lower(): word for word in known}
    plain = normal(name).replace("_", "")
    near = (
        [words[plain]] if plain in words else
        [lower[plain]] if plain in lower else
        get_close_matches(name, known, 1)
    )  # fmt: skip
    hint = f": did you mean {near[0]!r}?" if near else ""
    return f"module 'drystone' has no attribute {name!r}{hint}"


NAMES: dict[str, str] = {
    **dict.fromkeys(("cube", "cuboid", "brick"), "Box"),
    **dict.fromkeys(("circle", "disc"), "Disk"),
    "rect": "Rectangle",
    **dict.fromkeys(("ball", "particle"), "Sphere"),
    **dict.fromkeys(("plane", "ground", "floor", "halfplane2d"), "HalfSpace"),
    **dict.fromkeys(("mesh", "trimesh"), "TriangleMesh"),
    **dict.fromkeys(("convex", "convexhull", "convexmesh", "polyhedron"), "ConvexPolyhedron"),
    "convexpolygon": "Polygon",
    **dict.fromkeys(("sim", "simulate", "simulator", "engine"), "Simulation"),
    **dict.fromkeys(("space", "scenegraph"), "World"),
    **dict.fromkeys(("load", "open", "read", "loadrecording"), "read_recording"),
    **dict.fromkeys(("loadscene",), "read_scene"),
    **dict.fromkeys(("gallery", "listscenes", "scenenames"), "scenes"),
    "force": "ConstantForce",
    **dict.fromkeys(("moreau", "timestepper"), "TimeStepping"),
    **dict.fromkeys(("eventdetection",), "EventDriven"),
    **dict.fromkeys(("gaussseidel",), "NSGS"),
    **dict.fromkeys(("error",), "DrystoneError"),
}


OF_BODIES = ("position", "orientation", "velocity", "angular_velocity", "mass")

# What is tried on objects and has another name here, or another home.
ATTRIBUTES: dict[tuple[str, str], str] = {
    ("World", "add"): "add_body", ("World", "add_box"): "add_body", ("World", "step"): "Simulation",
    ("World", "add_sphere"): "add_body", ("World", "add_plane"): "add_ground",
    ("World", "add_floor"): "add_ground", ("World", "run"): "Simulation(world).run",
    ("World", "simulate"): "Simulation(world).run", ("World", "create_body"): "add_body",
    ("World", "add_constraint"): "add_joint", ("World", "remove"): "remove_body",
    ("Scene", "run"): "simulation().run", ("Scene", "step"): "simulation().step",
    ("Scene", "simulate"): "simulation().run", ("Scene", "sim"): "simulation",
    ("Simulation", "simulate"): "run", ("Simulation", "dt"): "method.dt",
    ("Simulation", "t"): "time", ("Simulation", "gravity"): "world.gravity",
    ("Simulation", "positions"): "state.position", ("Simulation", "position"): "state.position",
    ("Simulation", "velocity"): "state.velocity", ("Simulation", "velocities"): "state.velocity",
    ("Simulation", "add_body"): "world.add_body", ("Simulation", "save"): "record",
    ("Simulation", "get_body"): "body", ("Simulation", "forces"): "contacts",
    ("Simulation", "view"): "show", ("Simulation", "plot"): "ds.plot(sim.run(..., record=True))",
    ("Simulation", "export"): "ds.export(sim.run(..., record=True), path)",
    ("BodyView", "inertia"): "mass", ("BodyView", "rotation"): "orientation",
    ("BodyView", "x"): "position", ("BodyView", "apply_force"): "sim.world.add_force",
    ("BodyView", "force"): "sim.world.add_force", ("BodyView", "add_force"): "sim.world.add_force",
    ("Solution", "z"): "value", ("Solution", "x"): "value", ("Solution", "r"): "value",
    ("Trajectory", "body"): "position", ("Recording", "body"): "position",
    **{("BodyHandle", word): f"sim.body(handle).{word}" for word in OF_BODIES},
}  # fmt: skip

# What cannot be set on objects that never change, and where it can.
SETTINGS: dict[tuple[str, str], str] = {
    **{
        ("BodyHandle", word): f"a handle is a name; sim.body(handle).{word} = ... in a simulation"
        for word in ("position", "orientation", "velocity", "angular_velocity")
    },
    **{
        ("BodyHandle", word): f"a handle is a name; world.change_body(handle, {word}=...)"
        for word in ("friction", "restitution", "motion")
    },
}


def warn_user(text: str, category: type[Warning]) -> None:
    """Warn of the line outside this package that led here: once for each such line."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(for_lines(text), category, stacklevel=level)
