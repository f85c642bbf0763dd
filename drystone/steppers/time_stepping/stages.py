"""The stages of a time step: one list, in which options and joints add and exchange stages.

A stage is a compiled function of the record of the step that answers with a code
(``kernels.step.codes``); those of joints get their record, too. ``kernels.step.loop`` runs it. A
function of Python, of (s, scan, j), may stand in the list: only this stage leaves compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from drystone.kernels._jit import MODE
from drystone.kernels.detect import detect
from drystone.kernels.step import (
    begin,
    blocks,
    choose,
    codes,
    end_mass,
    find,
    finish,
    joint_aim,
    joint_close,
    joint_divide,
    joint_end_mass,
    joint_finish,
    joint_laws,
    joint_newton,
    joint_places,
    joint_project,
    joint_rows,
    joint_sleep,
    joint_soft,
    joint_solve,
    joint_spare,
    kicks,
    packed,
    policy,
    sleep,
)
from drystone.kernels.step.loop import record
from drystone.problems.cones import PolyhedralCone, SoftFingerCone
from drystone.steppers.time_stepping.options import TimeStepping

Run = Callable[..., Any]
Stage = tuple[str, Run]
KINDS = {2: "planar", 3: "spatial", 4: "finger"}


def stages(options: TimeStepping, dim: int, jointed: bool, end_gaps: bool = False) -> list[Stage]:
    """The stages of a step, with the names under which their time is reported.

    Steps whose contacts change begin again with the first of the rows, and where friction does, of
    the solve. With joints the list runs for parts of the step where they need it, see
    ``kernels.step.joint_divide``, and stages of the solve are repeated until joints are closed.
    end_gaps: whether gaps where the drift leads are judged before it.
    """
    sleeps, twice = options.sleeping is not None, options.order == 2
    solve, ended = (_joint_solve, _joint_finish) if jointed else (_solve, _finish)
    return [
        *_some("forces", jointed, joint_divide.enter),
        ("forces", begin.begin),
        ("contacts", find.reach),
        *_some("contacts", jointed, joint_divide.widen),
        ("contacts", detect),
        ("contacts", find.admit),
        *_some("rows", sleeps, sleep.wake),
        *_some("rows", twice, kicks.reached),
        *(_joint_rows(dim) if jointed else _rows(options, dim)),
        *[("solve", stage) for stage in solve(options, dim)],
        *ended(options, dim, end_gaps),
        ("report", record),
    ]


def _rows(options: TimeStepping, dim: int) -> list[Stage]:
    """Of contacts, and whether one of them collides."""
    made = packed if options.packs(dim) else blocks
    return [("rows", made.rows), ("impacts", choose.impacts)]


def _joint_rows(dim: int) -> list[Stage]:
    """Of contacts and joints."""
    of = partial(stage_of, dim)
    return [
        ("rows", of(joint_places, "enter")),
        ("rows", joint_places.places),
        ("rows", joint_rows.order),
        ("rows", of(joint_rows, "touch")),
        ("rows", joint_rows.tie),
        ("rows", joint_rows.respond),
        ("impacts", choose.impacts),
        ("rows", joint_spare.split),
    ]


def _solve(options: TimeStepping, dim: int) -> list[Run]:
    packs, cone = options.packs(dim), options.shape
    sweep: Run = packed.sweep
    if not packs:
        sweep = blocks.sweep_4 if isinstance(cone, SoftFingerCone) else blocks.sweep_3
        sweep = blocks.sweep_polyhedral if isinstance(cone, PolyhedralCone) else sweep
    rest = [policy.hold] if options.smooth(dim) else []
    tried = [sweep, *rest, policy.plan, policy.choose_rest, sweep, policy.judge_rest]
    again = [choose.missed]
    again += [sleep.touched] if options.sleeping is not None else []
    if _ends(options, dim):
        again.append(end_mass.packed if packs else end_mass.stored)
    return [
        packed.prepare if packs else blocks.prepare,
        *([blocks.ask] if options.asks(dim) else tried),
        policy.restrain,
        *again,
    ]


def _joint_solve(options: TimeStepping, dim: int) -> list[Run]:
    """Rounds of Newton's method around the step's friction problem, that close joints at its end;
    without laws it is linear, and solved by sparse factors."""
    # stages that differ by the rows of a block: of soft fingers there are four
    block = partial(stage_of, 4 if isinstance(options.shape, SoftFingerCone) else dim)
    sweep = block(joint_laws, "sweep")
    newton = [joint_laws.plan_newton, block(joint_newton, "newton"), policy.choose_rest, sweep]
    judged = [policy.judge_rest, policy.restrain, joint_laws.conclude]
    tried = [joint_laws.begin, sweep, *newton, *judged]
    if options.sweeps_beside_joints(dim):
        tried = [joint_laws.begin, sweep, *judged]
    elif options.asks_beside_joints(dim) or options.pivots_beside_joints(dim):
        tried = [joint_laws.ask]
    return [
        joint_soft.load,
        joint_aim.rows,
        joint_aim.aim,
        joint_solve.assemble,
        block(joint_solve, "factor"),
        joint_solve.refine,
        block(joint_solve, "back"),
        *tried,
        joint_soft.load,
        joint_close.arrive,
        stage_of(dim, joint_close, "drift"),
        joint_places.places,
        joint_close.judge,
        choose.missed_with_joints,
        *([sleep.touched] if options.sleeping is not None else []),
        *([joint_end_mass.again] if _ends(options, dim) else []),
        joint_finish.least,
    ]


def _finish(options: TimeStepping, dim: int, end_gaps: bool) -> list[Stage]:
    """Contacts that broke loose, positions, the report."""
    made = packed if options.packs(dim) else blocks
    return [
        ("report", made.slip),
        *_some("report", _ends(options, dim), end_mass.book),
        *_some("solve", end_gaps, kicks.end_gaps),
        ("drift", finish.drift),
        *_some("report", options.order == 2, kicks.again),
        *_some("drift", options.sleeping is not None, sleep.put_to_sleep),
    ]


def _joint_finish(options: TimeStepping, dim: int, end_gaps: bool) -> list[Stage]:
    """Whether a part of the step is good; positions, what joints bore, the report."""
    of = partial(stage_of, dim)
    block = partial(stage_of, 4 if isinstance(options.shape, SoftFingerCone) else dim)
    return [
        *_some("drift", options.joints == "project", block(joint_project, "project")),
        *_some("report", _ends(options, dim), end_mass.book),
        *_some("solve", end_gaps, kicks.end_gaps),
        ("drift", of(joint_finish, "finish")),
        *_some("report", options.on_failure != "report", joint_divide.verdict),
        ("drift", joint_finish.commit),
        ("report", joint_finish.bear),
        *_some("report", options.order == 2, kicks.again_with_joints),
        ("drift", of(joint_finish, "take_back")),
        *_some("drift", options.sleeping is not None, of(joint_sleep, "put_to_sleep")),
        ("report", joint_divide.next_part),
    ]


def _some(name: str, wanted: bool, run: Run) -> list[Stage]:
    """A stage that only some steps have."""
    return [(name, run)] if wanted else []


def _ends(options: TimeStepping, dim: int) -> bool:
    """Whether M is that of the end of the step: in the plane it is the same."""
    return options.mass == "end" and dim == 3


def stage_of(dim: int, module: Any, name: str) -> Run:
    """The stage of this name for worlds in the plane or in space; 4: for blocks of soft fingers."""
    found: Run = getattr(module, f"{name}_{KINDS[dim]}")
    return found


def gets(run: Run) -> int:
    """What a stage gets, by its arguments."""
    if run is detect:
        return codes.DETECTOR
    if MODE != "off" and not hasattr(run, "py_func"):
        return codes.HOST
    arguments = getattr(run, "py_func", run).__code__.co_argcount
    return codes.STEP_AND_JOINTS if arguments == 3 else codes.STEP_ALONE


def numbers(made: list[Stage]) -> dict[str, int]:
    """Numbers of stages that others go on with."""
    names = [name for name, _ in made]
    return {"rows_stage": names.index("rows"), "solve_stage": names.index("solve")}


def joint_numbers(made: list[Stage]) -> dict[str, int]:
    """The same of those that joints go on with."""
    runs = [run for _, run in made]
    aimed, left = runs.index(joint_aim.rows), runs.index(joint_close.arrive)
    return {
        "aim_stage": aimed, "refine_stage": runs.index(joint_solve.refine),
        "laws_stage": runs.index(joint_solve.refine) + 2, "load_stage": left - 1,
        "least_stage": runs.index(joint_close.judge) + 1,
    }  # fmt: skip
