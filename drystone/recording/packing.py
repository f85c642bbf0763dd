"""Nested dictionaries of arrays, numbers and texts as bytes: JSON, then the arrays. Nothing that
is read is executed, and a sum tells whether all of it is there."""

from __future__ import annotations

import json
import math
import zlib
from typing import Any

import numpy as np

from drystone.errors import RecordingError

MARK = b"DSN1"
HEAD = len(MARK) + 12  # mark, sum of the rest, length of the JSON text
KINDS = "biufU"
ARRAY = "__array__"
MAX_TEXT = 64 * 2**20  # bytes of JSON: as Python's objects they may take thirty times as many


def pack(value: Any) -> bytes:
    """Bytes from which ``unpack`` makes an equal value; raises TypeError for other things."""
    arrays: list[np.ndarray] = []
    text = json.dumps(_plain(value, arrays)).encode()
    if len(text) > MAX_TEXT:
        raise TypeError(f"{len(text)} bytes beside arrays cannot be kept: at most {MAX_TEXT}")
    body = b"".join([text, *(np.ascontiguousarray(a).tobytes() for a in arrays)])
    return MARK + zlib.crc32(body).to_bytes(4, "little") + len(text).to_bytes(8, "little") + body


def unpack(data: bytes) -> Any:
    """The value; raises RecordingError if bytes are missing or changed."""
    body = data[HEAD:]
    whole = data[: len(MARK)] == MARK and len(data) >= HEAD
    if not whole or zlib.crc32(body) != int.from_bytes(data[4:8], "little"):
        raise RecordingError("bytes are missing or damaged")
    length = int.from_bytes(data[8:HEAD], "little")
    if length > MAX_TEXT:
        raise RecordingError(f"it claims {length} bytes beside arrays: at most {MAX_TEXT}")
    try:
        return _rebuilt(json.loads(body[:length]), memoryview(body)[length:], [0])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RecordingError(f"it does not hold what it should ({error})") from None


def _plain(value: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in KINDS:
            raise TypeError(f"an array of {value.dtype} cannot be kept")
        arrays.append(value)
        return {ARRAY: [value.dtype.str, list(value.shape)]}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(key): _plain(item, arrays) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, arrays) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} cannot be kept: expected numbers, texts, arrays")


def _rebuilt(value: Any, data: memoryview, at: list[int]) -> Any:
    if isinstance(value, list):
        return [_rebuilt(item, data, at) for item in value]
    if not isinstance(value, dict):
        return value
    if ARRAY not in value:
        return {key: _rebuilt(item, data, at) for key, item in value.items()}
    name, shape = value[ARRAY]
    dtype = np.dtype(name)
    if dtype.kind not in KINDS:
        raise ValueError(f"array of {dtype}")
    if any(type(length) is not int or length < 0 for length in shape):
        raise ValueError(f"array of {shape}")
    size = dtype.itemsize * math.prod(shape)
    part = data[at[0] : at[0] + size]
    at[0] += size
    return np.frombuffer(part, dtype).reshape(shape).copy()
