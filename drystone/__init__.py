"""Drystone: rigid bodies, hard contact, exact Coulomb friction.

Everything public is here; names load when first used, so that the import itself stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from drystone.constraints.joints import ALSO as _ALSO
from drystone.constraints.joints import __all__ as _JOINTS
from drystone.constraints.joints import home as _home
from drystone.geometry.shapes import __all__ as _SHAPES
from drystone.solvers import __all__ as _SOLVERS
from drystone.steppers import __all__ as _STEPPERS

if TYPE_CHECKING:
    from drystone.comparison.compare import Comparison as Comparison
    from drystone.comparison.compare import compare as compare
    from drystone.constraints.force_ranges import ForceRange as ForceRange
    from drystone.constraints.joints import *
    from drystone.dynamics.drag import Drag as Drag
    from drystone.dynamics.forces import Callback as Callback
    from drystone.dynamics.forces import ConstantForce as ConstantForce
    from drystone.dynamics.forces import Damper as Damper
    from drystone.dynamics.motions import ConstantVelocity as ConstantVelocity
    from drystone.dynamics.motions import MotionFunction as MotionFunction
    from drystone.dynamics.motions import Oscillation as Oscillation
    from drystone.dynamics.motions import Rocking as Rocking
    from drystone.dynamics.motions import Waypoints as Waypoints
    from drystone.dynamics.springs import Spring as Spring
    from drystone.dynamics.springs import TorsionSpring as TorsionSpring
    from drystone.errors import ArgumentError as ArgumentError
    from drystone.errors import ArrayError as ArrayError
    from drystone.errors import CollidingContactsError as CollidingContactsError
    from drystone.errors import DescriptionError as DescriptionError
    from drystone.errors import DrystoneError as DrystoneError
    from drystone.errors import FrameError as FrameError
    from drystone.errors import IgnoredWarning as IgnoredWarning
    from drystone.errors import MissingExtraError as MissingExtraError
    from drystone.errors import ModelError as ModelError
    from drystone.errors import OptionError as OptionError
    from drystone.errors import ProblemError as ProblemError
    from drystone.errors import ProblemFileError as ProblemFileError
    from drystone.errors import QuantityError as QuantityError
    from drystone.errors import RecordingError as RecordingError
    from drystone.errors import RecordingWarning as RecordingWarning
    from drystone.errors import SceneFileError as SceneFileError
    from drystone.errors import ShapeError as ShapeError
    from drystone.errors import SimulationError as SimulationError
    from drystone.errors import SolverError as SolverError
    from drystone.errors import StepWarning as StepWarning
    from drystone.errors import UnitWarning as UnitWarning
    from drystone.errors import UnsupportedPairError as UnsupportedPairError
    from drystone.errors import UnsupportedProblemError as UnsupportedProblemError
    from drystone.errors import WriteError as WriteError
    from drystone.geometry.decomposition import decompose as decompose
    from drystone.geometry.decomposition import decompose_polygon as decompose_polygon
    from drystone.geometry.mass_properties import MassProperties as MassProperties
    from drystone.geometry.shapes import *
    from drystone.plots.figures import plot as plot
    from drystone.problems import LCP as LCP
    from drystone.problems import BoxedLCP as BoxedLCP
    from drystone.problems import CircularCone as CircularCone
    from drystone.problems import DelassusOperator as DelassusOperator
    from drystone.problems import EllipticCone as EllipticCone
    from drystone.problems import FrictionProblem as FrictionProblem
    from drystone.problems import GlobalFrictionProblem as GlobalFrictionProblem
    from drystone.problems import MixedLCP as MixedLCP
    from drystone.problems import PolyhedralCone as PolyhedralCone
    from drystone.problems import SoftFingerCone as SoftFingerCone
    from drystone.problems.convert import scaled as scaled
    from drystone.problems.convert import to_conic as to_conic
    from drystone.problems.convert import to_lcp as to_lcp
    from drystone.problems.files import read_problem as read_problem
    from drystone.problems.files import write_problem as write_problem
    from drystone.recording.reader import Recording as Recording
    from drystone.recording.reader import read_recording as read_recording
    from drystone.resuming import resume as resume
    from drystone.scenes import Scene as Scene
    from drystone.scenes import gallery as scenes
    from drystone.scenes import scene as scene
    from drystone.scenes.files import read_scene as read_scene
    from drystone.scenes.files import write_scene as write_scene
    from drystone.simulation import Simulation as Simulation
    from drystone.snapshots import Snapshot as Snapshot
    from drystone.solvers import *
    from drystone.solvers.base import Answer as Answer
    from drystone.solvers.base import Solver as Solver
    from drystone.solvers.registry import register_solver as register_solver
    from drystone.solvers.solve import solve as solve
    from drystone.steppers import *
    from drystone.sweeps.sweep import Sweep as Sweep
    from drystone.sweeps.sweep import sweep as sweep
    from drystone.trajectory import Trajectory as Trajectory
    from drystone.types import Solution as Solution
    from drystone.types import Status as Status
    from drystone.view.export_html import embed as embed
    from drystone.view.formats import ExportFormat as ExportFormat
    from drystone.view.formats import export as export
    from drystone.view.formats import register_exporter as register_exporter
    from drystone.world import BodyHandle as BodyHandle
    from drystone.world import ForceHandle as ForceHandle
    from drystone.world import World as World

__version__ = "0.2.0"

_HOMES: dict[str, str] = {
    "World": "world",
    "BodyHandle": "world",
    "ForceHandle": "world",
    "Simulation": "simulation",
    "ForceRange": "constraints.force_ranges",
    "Snapshot": "snapshots",
    "Trajectory": "trajectory",
    "Recording": "recording.reader",
    "read_recording": "recording.reader",
    "resume": "resuming",
    "plot": "plots.figures",
    "export": "view.formats",
    "ExportFormat": "view.formats",
    "register_exporter": "view.formats",
    "embed": "view.export_html",
    "compare": "comparison.compare",
    "Comparison": "comparison.compare",
    "sweep": "sweeps.sweep",
    "Sweep": "sweeps.sweep",
    "scene": "scenes",
    "Scene": "scenes",
    "read_scene": "scenes.files",
    "write_scene": "scenes.files",
    "decompose": "geometry.decomposition",
    "decompose_polygon": "geometry.decomposition",
    "MassProperties": "geometry.mass_properties",
    "Oscillation": "dynamics.motions",
    "ConstantVelocity": "dynamics.motions",
    "MotionFunction": "dynamics.motions",
    "Rocking": "dynamics.motions",
    "Waypoints": "dynamics.motions",
    "ConstantForce": "dynamics.forces",
    "Drag": "dynamics.drag",
    "Damper": "dynamics.forces",
    "Callback": "dynamics.forces",
    "Spring": "dynamics.springs",
    "TorsionSpring": "dynamics.springs",
    "ModelError": "errors",
    "DescriptionError": "errors",
    "SceneFileError": "errors",
    "RecordingError": "errors",
    "RecordingWarning": "errors",
    "WriteError": "errors",
    "ShapeError": "errors",
    "SimulationError": "errors",
    "StepWarning": "errors",
    "UnsupportedPairError": "errors",
    "ArgumentError": "errors",
    "ArrayError": "errors",
    "CollidingContactsError": "errors",
    "FrameError": "errors",
    "IgnoredWarning": "errors",
    "QuantityError": "errors",
    "UnitWarning": "errors",
    "DrystoneError": "errors",
    "MissingExtraError": "errors",
    "OptionError": "errors",
    "ProblemError": "errors",
    "ProblemFileError": "errors",
    "SolverError": "errors",
    "UnsupportedProblemError": "errors",
    "LCP": "problems",
    "MixedLCP": "problems",
    "BoxedLCP": "problems",
    "FrictionProblem": "problems",
    "GlobalFrictionProblem": "problems",
    "DelassusOperator": "problems",
    "CircularCone": "problems",
    "EllipticCone": "problems",
    "PolyhedralCone": "problems",
    "SoftFingerCone": "problems",
    "read_problem": "problems.files",
    "write_problem": "problems.files",
    "to_lcp": "problems.convert",
    "to_conic": "problems.convert",
    "scaled": "problems.convert",
    "Solution": "types",
    "Status": "types",
    "solve": "solvers.solve",
    "Solver": "solvers.base",
    "Answer": "solvers.base",
    "register_solver": "solvers.registry",
    **dict.fromkeys(_SHAPES, "geometry.shapes"),
    **{name: f"constraints.joints.{_home(name)}" for name in _JOINTS},
    **dict.fromkeys(_SOLVERS, "solvers"),
    **dict.fromkeys(_STEPPERS, "steppers"),
}

__all__ = ["__version__", "scenes", *_HOMES]


def _load(name: str) -> Any:
    if name.startswith("__"):  # asked for by tools: no hint
        raise AttributeError(f"module 'drystone' has no attribute {name!r}")
    from drystone.arguments import answering, wrong_name

    if name == "scenes":  # a module that can be called: its own import puts it here
        return import_module("drystone.scenes")
    if name not in _HOMES:
        # with its name, else Python asks for the module's, and suggests a second time
        raise AttributeError(wrong_name(name, __all__, _ALSO), name=name)
    value = getattr(import_module(f"drystone.{_HOMES[name]}"), name)
    value = answering(value)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # a type checker must see that a name does not exist
    __getattr__ = _load


def __dir__() -> list[str]:
    return __all__
