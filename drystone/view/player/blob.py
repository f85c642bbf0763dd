"""Arrays one after the other in one block of bytes, with a table of where they are."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

TYPES = {"<f8": "f8", "<f4": "f4", "<u4": "u4", "<u2": "u2", "|u1": "u1"}
ALIGNMENT = 8  # bytes: the page reads arrays in place


class Blob:
    """`sections`: for each name its type, first byte and count of numbers."""

    def __init__(self) -> None:
        self.sections: dict[str, tuple[str, int, int]] = {}
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, name: str, values: Any, dtype: str) -> None:
        """Append an array as little-endian `dtype`: f8, f4, u4, u2 or u1."""
        array = np.ascontiguousarray(values, dtype=f"<{dtype}").ravel()
        data = array.tobytes()
        self.sections[name] = TYPES[array.dtype.str], self._size, int(array.size)
        padded = data + bytes(-len(data) % ALIGNMENT)
        self._parts.append(padded)
        self._size += len(padded)

    def add_planes(self, name: str, values: Any) -> None:
        """Append 16-bit numbers as all their low bytes, then all their high ones: these differ
        little from one to the next, and little is left of them when compressed."""
        words = np.ascontiguousarray(values, dtype="<u2").ravel()
        self.add(name, np.concatenate([words & 255, words >> 8]), "u1")

    def text(self) -> str:
        """Compressed (zlib), in letters that a page may hold."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode("ascii")
