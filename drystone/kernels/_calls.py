"""Kernels called by their address: a loop that calls stages it was not compiled with.

A kernel that calls another is optimised together with it, and compiled anew for each combination.
A kernel that calls an address costs nothing to compile, and what it runs is data: the stages of a
step, or the pair kernels that a scene's kinds of shapes need. Functions of Python's, such as a
user's surface, are data in the same way: nothing of them is in compiled code on disk.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from drystone.kernels._compiler import Kernel
from drystone.kernels._jit import MODE

_FUNCTIONS: list[Callable[..., Any]] = []  # without a compiler, addresses are places in this list
_KNOWN: dict[Any, int] = {}  # addresses by kernel and kinds of arguments: to ask Numba takes longer


def address(function: Callable[..., Any], *args: Any) -> int:
    """Address of a kernel compiled for arguments like these; it must return an integer.

    The kernel stays loaded for as long as it is referenced, as those of modules always are.
    """
    if MODE == "off":
        if function not in _FUNCTIONS:
            _FUNCTIONS.append(function)
        return _FUNCTIONS.index(function)
    key = function, _kind(args)
    if key not in _KNOWN:
        _KNOWN[key] = _compiled_address(function, args)
    return _KNOWN[key]


def _kind(value: Any) -> Any:
    """What Numba's type of a value depends on."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num
    if isinstance(value, tuple):
        return type(value), *map(_kind, value)
    packed = getattr(value, "_numba_type_", None)
    return type(value) if packed is None else packed.name


def _compiled_address(kernel: Any, args: tuple[Any, ...]) -> int:
    kinds = tuple(numba.typeof(value) for value in args)
    place, returned = (kernel.address if isinstance(kernel, Kernel) else _plain(kernel))(kinds)
    if types.unliteral(returned) != types.int64:
        raise TypeError(f"{kernel.__name__} returns {returned}, expected int64")
    return int(place)


def _plain(dispatcher: Any) -> Callable[[tuple[Any, ...]], tuple[int, Any]]:
    """`Kernel.address` of what Numba's own decorator made."""

    def address(kinds: tuple[Any, ...]) -> tuple[int, Any]:
        dispatcher.compile(kinds)
        made = dispatcher.overloads[kinds]
        place = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
        return place, made.signature.return_type

    return address


def _call(at: int, args: tuple[Any, ...]) -> int:
    """Call the kernel at an address with a tuple of arguments of the types it was compiled for."""
    return int(_FUNCTIONS[at](*args))


@intrinsic
def _call_compiled(typing_context, at, args):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        kinds = list(signature.args[1].types)
        made = context.call_conv.get_function_type(types.int64, kinds)
        callee = builder.inttoptr(values[0], made.as_pointer())
        given = [builder.extract_value(values[1], i) for i in range(len(kinds))]
        status, result = context.call_conv.call_function(builder, callee, types.int64, kinds, given)
        with cgutils.if_unlikely(builder, status.is_error):  # index checks, where they are on
            context.call_conv.return_status_propagate(builder, status)
        return result

    return types.int64(types.int64, args), generate


call: Any = _call if MODE == "off" else _call_compiled


_ASKED: WeakValueDictionary[int, Any] = WeakValueDictionary()  # by the number that data holds
_NUMBERS = count(1)


def enter(function: Any) -> int:
    """A number for a function of Python's: kernels `ask` it by that for as long as it lives."""
    which = next(_NUMBERS)
    _ASKED[which] = function
    return which


def answer(which: int, point: int, out: int) -> None:
    """Call the function `which` with the 3 doubles at `point`; what it gives goes to `out`."""
    function = _ASKED.get(which)
    if function is None:
        raise ReferenceError("a function that a surface was given by is gone: keep the surface")
    values = function(*(ctypes.c_double * 3).from_address(point))
    (ctypes.c_double * len(values)).from_address(out)[:] = values


def _ask(at: int, which: int, point: Any, out: Any) -> int:
    """Call `answer`, whose object is at the address `at`, from a kernel.

    point (3,) and out lie contiguous. What Python raises passes through the kernels to whoever
    called the outermost. The lock of the interpreter is taken for the call.
    """
    answer(int(which), point.ctypes.data, out.ctypes.data)
    return 0


@intrinsic
def _ask_compiled(typing_context, at, which, point, out):  # type: ignore[no-untyped-def]
    if any(kind.layout != "C" for kind in (point, out)):
        raise numba.TypingError("arrays given to Python must be contiguous")

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        python, word = context.get_python_api(builder), values[1].type
        arrays = zip(signature.args[2:], values[2:], strict=True)
        data = [context.make_array(kind)(context, builder, v).data for kind, v in arrays]
        lock = python.gil_ensure()
        words = [values[1], *(builder.ptrtoint(at, word) for at in data)]
        given = [python.long_from_longlong(value) for value in words]
        callee = builder.inttoptr(values[0], python.pyobj)
        result = python.call_function_objargs(callee, given)
        for value in given:
            python.decref(value)
        failed = cgutils.is_null(builder, result)
        with builder.if_then(builder.not_(failed)):
            python.decref(result)
        python.gil_release(lock)
        with cgutils.if_unlikely(builder, failed):  # the error is set already
            context.call_conv.return_exc(builder)
        return context.get_constant(types.int64, 0)

    return types.int64(types.int64, types.int64, point, out), generate


ask: Any = _ask if MODE == "off" else _ask_compiled
