"""Many arrays and numbers handed to kernels as one pointer, and read there by name.

A kernel with a hundred array arguments takes seconds to compile and microseconds to call. A
``Packed`` holds arrays and numbers by name; kernels get its address, load the few fields that they
name, and may assign to its numbers. Arrays are borrowed: the Packed keeps them alive, and kernels
must not return them.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models, register_default
from numba.core.imputils import impl_ret_borrowed, lower_setattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    typeof_impl,
    unbox,
)

WORD = 8  # bytes: all that describes an array comes in words, and a number is one
NUMBERS = {int: types.int64, float: types.float64}


class Packed:
    """Arrays and numbers as attributes; ``put`` replaces arrays by others of the same kind,
    numbers are assigned to. What is packed may be part of another one."""

    def __init__(self, **fields: Any) -> None:
        kinds = tuple((name, _kind(name, value)) for name, value in fields.items())
        self._numba_type_ = _type_of(kinds)  # where Numba looks first
        self._words = np.zeros(self._numba_type_.size, np.int64)
        self._address = int(self._words.ctypes.data)
        self._whole, self._real = memoryview(self._words), memoryview(self._words.view(np.float64))
        self.put(**fields)

    def put(self, **fields: Any) -> None:
        places = self._numba_type_.places
        for name, array in fields.items():
            at, kind = places[name]
            if kind is types.int64 or kind is types.float64:
                (self._whole if kind is types.int64 else self._real)[at] = array
                continue
            held = self.__dict__.get(name)
            if array is held:
                continue
            if not _alike(array, held) and _kind(name, array) != kind:
                raise TypeError(f"{name}: {_kind(name, array)}, expected {kind}")
            self.__dict__[name] = array
            if isinstance(array, Packed):
                self._words[at] = array._address
                continue
            n = array.ndim
            head = (0, 0, array.size, array.itemsize, array.ctypes.data)
            self._words[at : at + 5 + 2 * n] = (*head, *array.shape, *array.strides)

    def __getattr__(self, name: str) -> Any:  # for type checkers
        raise AttributeError(f"nothing of the name {name!r} is packed here")


def _alike(array: Any, old: np.ndarray | None) -> bool:
    """Whether an array is of the kind of the one that it replaces; to ask Numba takes longer."""
    if old is None or not isinstance(array, np.ndarray):
        return False
    same = array.dtype == old.dtype and array.ndim == old.ndim
    return same and array.flags.c_contiguous and array.flags.writeable


def _kind(name: str, array: Any) -> Any:
    if isinstance(array, Packed):
        return array._numba_type_
    if type(array) in NUMBERS:
        return NUMBERS[type(array)]
    if not (isinstance(array, np.ndarray) and array.flags.c_contiguous and array.flags.writeable):
        raise TypeError(f"{name}: expected a contiguous array that can be written to")
    return _array_type(array.dtype, array.ndim)


@cache
def _array_type(dtype: np.dtype[Any], ndim: int) -> Any:
    return types.Array(numba.from_dtype(dtype), ndim, "C")


@cache
def _type_of(kinds: tuple[tuple[str, Any], ...]) -> PackedType:
    return PackedType(kinds)


class PackedType(types.Type):
    """The names and types of what is packed; fields: ((name, type), ...)."""

    def __init__(self, fields: tuple[tuple[str, Any], ...]) -> None:
        self.fields = fields
        digest = hashlib.sha256(repr(fields).encode()).hexdigest()[:16]
        super().__init__(name=f"Packed({len(fields)}:{digest})")
        self.places: dict[str, tuple[int, Any]] = {}
        at = 0
        for name, kind in fields:
            self.places[name] = at, kind
            at += 5 + 2 * kind.ndim if isinstance(kind, types.Array) else 1
        self.size = at


@register_default(PackedType)
class _Model(models.OpaqueModel):
    """A pointer to the words."""


@typeof_impl.register(Packed)
def _typeof(value: Packed, context: Any) -> PackedType:
    return value._numba_type_


@unbox(PackedType)
def _unbox(kind, value, c):  # type: ignore[no-untyped-def]
    number = c.pyapi.object_getattr_string(value, "_address")
    address = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return NativeValue(address, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _Fields(AttributeTemplate):
    key = PackedType

    def generic_resolve(self, kind: PackedType, name: str) -> Any:
        return kind.places[name][1] if name in kind.places else None


@lower_getattr_generic(PackedType)
def _load(context, builder, kind, value, name):  # type: ignore[no-untyped-def]
    start, wanted = _place(context, builder, kind, value, name)
    return impl_ret_borrowed(context, builder, wanted, builder.load(start))


@lower_setattr_generic(PackedType)
def _store(context, builder, signature, values, name):  # type: ignore[no-untyped-def]
    start, wanted = _place(context, builder, signature.args[0], values[0], name)
    if not isinstance(wanted, types.Number):
        raise numba.TypingError(f"{name}: kernels assign to numbers, not to arrays")
    builder.store(context.cast(builder, values[1], signature.args[1], wanted), start)


def _place(context, builder, kind, value, name):  # type: ignore[no-untyped-def]
    """Pointer to a field, and its type."""
    at, wanted = kind.places[name]
    start = builder.gep(value, [ir.Constant(ir.IntType(64), WORD * at)])
    return builder.bitcast(start, context.get_value_type(wanted).as_pointer()), wanted
