"""Memory asked for ahead of its turn.

A sweep over a large heap waits for memory, not for arithmetic: the bodies of a contact lie where
no hardware guesses them. Asked for some contacts before, they are there. It changes no number.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from drystone.kernels._jit import MODE, stage

AHEAD = 8  # contacts before its turn that one is asked for
PREFETCH_FROM = 4096  # contacts in the plane from which on that pays; in space it always does


def _fetch_nothing(array: Any, row: int, column: int) -> None:
    """Without a compiler there is nothing to win."""


@intrinsic
def _fetch(typing_context, array, row, column):  # type: ignore[no-untyped-def]
    """Ask for array[row, column] and what shares its 64 bytes, to be read and written soon."""

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        made = context.make_array(signature.args[0])(context, builder, values[0])
        whole, address = ir.IntType(32), made.data.type
        kind = ir.FunctionType(ir.VoidType(), [address, whole, whole, whole])
        callee = builder.module.declare_intrinsic("llvm.prefetch", [address], kind)
        wide = builder.extract_value(made.shape, 1)
        at = builder.gep(made.data, [builder.add(builder.mul(values[1], wide), values[2])])
        builder.call(callee, [at, whole(1), whole(3), whole(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate


fetch: Any = _fetch_nothing if MODE == "off" else _fetch


@stage
def fetch_line(i, body, contact, wide, motion, broad):
    """Ask for the line of contact i, of `wide` numbers, and those of its bodies, of `broad`."""
    for e in range(0, wide, 8):
        fetch(contact, i, e)
    for s in range(2):
        for e in range(0, broad, 8):
            fetch(motion, body[i, s], e)


@stage
def fetch_bodies(i, body, v, position):
    """Ask for velocities and positions of the bodies of the contact AHEAD of contact i."""
    ahead = min(i + AHEAD, body.shape[0] - 1)
    for s in range(2):
        fetch(v, body[ahead, s], 0)
        fetch(position, body[ahead, s], 0)
