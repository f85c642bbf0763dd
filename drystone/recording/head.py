"""What a recording says once: the model, where it comes from, how it is stepped."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

import h5py
import numba
import numpy as np
import scipy

from drystone.errors import DescriptionError, OptionError
from drystone.model import Model
from drystone.recording.layout import FORMAT, VERSION
from drystone.recording.models import model_arrays
from drystone.recording.packing import pack
from drystone.recording.sums import checksum, text_array
from drystone.scene_files import document, method_document
from drystone.world import World


@dataclass(frozen=True)
class Head:
    """What there is to say of a simulation, taken while it stands still: to be written down later,
    beside its first steps."""

    world: World
    model: Model
    method: Any
    origin: dict[str, Any]
    every: int
    contacts: bool
    forces: bool

    def parts(self) -> dict[str, np.ndarray]:
        """Datasets that never change, by name."""
        return _fixed_parts(self)


def _fixed_parts(head: Head) -> dict[str, np.ndarray]:
    origin, model, method = head.origin, head.model, head.method
    out = {"model": np.frombuffer(pack(model_arrays(model)), np.uint8)}
    described, why = _described(head.world)
    out["document"] = text_array("" if described is None else json.dumps(described))
    about = {
        "format": FORMAT, "version": VERSION, "dim": model.dim, "dt": method.dt,
        "every": head.every, "contacts": head.contacts, "forces": head.forces,
        "method": _method(method),
        "scene": origin.get("scene"), "settings": origin.get("settings", {}),
        "view": origin.get("view", {}), "title": origin.get("title", ""), "undescribed": why,
        "info": {
            "drystone": _installed("drystone"), "python": platform.python_version(),
            "numpy": np.__version__, "numba": numba.__version__, "scipy": scipy.__version__,
            "hdf5": h5py.version.hdf5_version,
        },
    }  # fmt: skip
    out["about"] = text_array(json.dumps(about))
    out["sum"] = np.array([checksum(out)], np.int64)
    return out


_installed = cache(version)  # reads a file


def _method(method: Any) -> dict[str, Any] | None:
    try:
        return method_document(method)
    except (DescriptionError, OptionError):
        return None


def _described(world: World) -> tuple[dict[str, Any] | None, str]:
    """The scene document; or why there is none."""
    try:
        return document(world), ""
    except DescriptionError as error:
        return None, str(error)
