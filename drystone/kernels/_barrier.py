"""A meeting point for kernels on several threads: atomics in LLVM, nothing of the interpreter.

``meet(state, n)`` returns when all n threads have called it; what each wrote before is then seen
by all. It spins: the phases between two meetings are shorter than waking a thread takes. A thread
whose fellows do not run yields its core.
"""

from __future__ import annotations

import sys
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from drystone.kernels._jit import MODE, kernel

SPINS = 4000  # reads before the core is offered to others
WAITING_PLACE, PHASE_PLACE = 0, 8  # places in the state, on cache lines of their own
STATE_SIZE = 16  # of the state, int64, zeros


@intrinsic
def _add(typing_context, array, place, value):  # type: ignore[no-untyped-def]
    """array[place] += value in one go; returns what was there."""

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        start = context.make_array(signature.args[0])(context, builder, values[0]).data
        at = builder.gep(start, [values[1]])
        return builder.atomic_rmw("add", at, values[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), generate


@intrinsic
def _look(typing_context, array, place):  # type: ignore[no-untyped-def]
    """array[place], as the other threads left it."""

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        start = context.make_array(signature.args[0])(context, builder, values[0]).data
        return builder.load_atomic(builder.gep(start, [values[1]]), "seq_cst", 8)

    return types.int64(array, types.int64), generate


@intrinsic
def _yield(typing_context):  # type: ignore[no-untyped-def]
    """Offer the core to another thread."""

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        kind = ir.FunctionType(ir.IntType(32), [])
        found = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        return builder.sext(builder.call(found, []), ir.IntType(64))

    return types.int64(), generate


@kernel
def _meet(state, n):
    """Wait until n threads are here. state (STATE_SIZE,): int64, zeros at first."""
    if n == 1:
        return
    current = _look(state, PHASE_PLACE)
    if _add(state, WAITING_PLACE, 1) == n - 1:
        _add(state, WAITING_PLACE, -n)
        _add(state, PHASE_PLACE, 1)
        return
    spins = 0
    while _look(state, PHASE_PLACE) == current:
        spins += 1
        if spins > SPINS:
            _yield()


def _meet_alone(state: Any, n: int) -> None:
    """Without a compiler there is one thread."""


meet: Any = _meet_alone if MODE == "off" else _meet
