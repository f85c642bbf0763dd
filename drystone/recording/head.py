"""What a recording says once: the model, where it comes from, how it is stepped."""

from __future__ import annotations

import json
import platform
import zlib
from importlib.metadata import version
from typing import Any

import h5py
import numba
import numpy as np
import scipy

from drystone.errors import DescriptionError, OptionError
from drystone.recording.layout import FORMAT, VERSION
from drystone.recording.models import model_arrays
from drystone.scene_files import document, method_document


def fixed_parts(sim: Any, every: int, contacts: bool, forces: bool) -> dict[str, np.ndarray]:
    """Datasets that never change, by name. sim: the simulation that is recorded."""
    origin, arrays = dict(sim.origin), model_arrays(sim.model)
    out: dict[str, np.ndarray] = {}
    words: dict[str, Any] = {}
    for name, value in arrays.items():
        if isinstance(value, np.ndarray):
            out[f"model/{name}"] = value
        else:
            words[name] = value
    out["model/words"] = text_array(json.dumps(words))
    described, why = _described(sim)
    out["document"] = text_array("" if described is None else json.dumps(described))
    about = {
        "format": FORMAT, "version": VERSION, "dim": sim.model.dim, "dt": sim.method.dt,
        "every": every, "contacts": contacts, "forces": forces, "method": _method(sim.method),
        "scene": origin.get("scene"), "settings": origin.get("settings", {}),
        "view": origin.get("view", {}), "title": origin.get("title", ""), "undescribed": why,
        "info": {
            "drystone": version("drystone"), "python": platform.python_version(),
            "numpy": np.__version__, "numba": numba.__version__, "scipy": scipy.__version__,
            "hdf5": h5py.version.hdf5_version,
        },
    }  # fmt: skip
    out["about"] = text_array(json.dumps(about))
    out["sum"] = np.array([checksum(out)], np.int64)
    return out


def checksum(parts: dict[str, np.ndarray]) -> int:
    """Of everything that never changes, by which damage is found."""
    total = 0
    for name in sorted(parts):
        total = zlib.crc32(name.encode(), total)
        total = zlib.crc32(np.ascontiguousarray(parts[name]).tobytes(), total)
    return total


def text_array(text: str) -> np.ndarray:
    """A text as bytes: HDF5 has no checksums for its own kind of texts."""
    return np.frombuffer(text.encode(), np.uint8)


def _method(method: Any) -> dict[str, Any] | None:
    try:
        return method_document(method)
    except (DescriptionError, OptionError):
        return None


def _described(sim: Any) -> tuple[dict[str, Any] | None, str]:
    """The scene document; or why there is none."""
    try:
        return document(sim.world), ""
    except DescriptionError as error:
        return None, str(error)
