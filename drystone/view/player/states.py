"""States of a replay as 16-bit numbers: which frames, how exact, and where the camera looks."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.draw import meshes as drawing
from drystone.draw.meshes import WALL_COSINE
from drystone.dynamics.frames import rotations
from drystone.geometry.shapes import UNBOUNDED
from drystone.model import Model, State
from drystone.types import Floats, Ints
from drystone.view.player.blob import Blob

QUANTA = 65535  # steps of a 16-bit number
MAX_NUMBERS = 24_000_000  # numbers of all frames together: a page that a telephone can hold
SAMPLES = 16  # frames whose bodies set what the camera sees
FLOWN = 2.0  # percent of all these bodies that may be out of sight


def chosen_frames(time: Floats, fps: float, values: int) -> Ints:
    """Indices of frames no denser than `fps` [1/s], of `values` numbers each; ends included."""
    n = len(time)
    most = max(2, MAX_NUMBERS // max(values, 1))
    span = float(time[-1] - time[0])
    wanted = min(n, most, int(np.ceil(span * fps)) + 1) if span > 0 else 1
    if wanted >= n:
        return np.arange(n)
    at = np.linspace(time[0], time[-1], wanted)
    after = np.clip(np.searchsorted(time, at), 1, n - 1)
    return np.unique(np.where(at - time[after - 1] < time[after] - at, after - 1, after))


def add_states(blob: Blob, time: Floats, position: Floats, orientation: Floats) -> float:
    """Pack frames: time (n,), position (n, nb, dim), orientation (n, nb) or (n, nb, 4).

    Each coordinate of each body has its own range; angles wrap; quaternions are kept to 1/32767.
    Returns the greatest error of a place [m].
    """
    n, nb, dim = position.shape
    place = np.nan_to_num(position, nan=0.0, posinf=0.0, neginf=0.0)
    low, high = (place.min(axis=0), place.max(axis=0)) if n else (np.zeros((nb, dim)),) * 2
    step = (high - low) / QUANTA
    words = np.empty((nb, dim + (1 if dim == 2 else 4), n), np.uint16)
    divisor = np.where(step > 0, step, 1.0)
    words[:, :dim] = np.rint((place - low) / divisor).transpose(1, 2, 0)
    if dim == 2:
        turns = np.nan_to_num(orientation) / (2 * np.pi)
        words[:, 2] = (np.rint((turns - np.floor(turns)) * 65536).astype(np.int64) & 65535).T
    else:
        words[:, dim:] = np.rint((continuous(orientation) + 1.0) * 32767.5).transpose(1, 2, 0)
    change = words.copy()
    change[:, :, 1:] -= words[:, :, :-1]  # wraps, and so does the sum
    blob.add("time", time, "f8")
    blob.add("low", low, "f8")
    blob.add("step", step, "f8")
    blob.add_planes("state", change)
    return 0.5 * float(step.max(initial=0.0))


def continuous(quaternions: Floats) -> Floats:
    """The same turns, each quaternion with the sign that is nearer to the one before."""
    q = np.nan_to_num(quaternions)
    q = q / np.maximum(np.linalg.norm(q, axis=2, keepdims=True), 1e-300)
    sign = np.where(np.einsum("kbi,kbi->kb", q[1:], q[:-1]) < 0, -1.0, 1.0)
    out = q.copy()
    out[1:] *= np.cumprod(sign, axis=0)[:, :, None]
    return np.clip(out, -1.0, 1.0)


def bounds(model: Model, position: Floats, orientation: Floats) -> tuple[Floats, Floats]:
    """Corners (dim,) of a box about what happens: bodies that move, as they stand at the start
    and later, without the few that fly away; and what is fixed near them."""
    kept = np.unique(np.linspace(0, len(position) - 1, SAMPLES).astype(int))
    none = np.zeros((model.nb, model.dof))
    moments = [
        State(0.0, np.nan_to_num(position[k]), np.nan_to_num(orientation[k]), none) for k in kept
    ]
    found = [drawing.boxes(model, moment) for moment in moments]
    body, low, high = found[0]
    if not len(body):
        return -np.ones(model.dim), np.ones(model.dim)
    free = drawing.moving(model)[body]
    moves = free if free.any() else np.ones_like(free)
    lows = np.concatenate([later[1][moves] for later in found])
    highs = np.concatenate([later[2][moves] for later in found])
    box_low = np.minimum(low[moves].min(axis=0), np.percentile(lows, FLOWN, axis=0))
    box_high = np.maximum(high[moves].max(axis=0), np.percentile(highs, 100 - FLOWN, axis=0))
    room = 0.5 * float((box_high - box_low).max())
    if not moves.all():
        fixed_low, fixed_high = low[~moves].min(axis=0), high[~moves].max(axis=0)
        box_low = np.minimum(box_low, np.maximum(fixed_low, box_low - room))
        box_high = np.maximum(box_high, np.minimum(fixed_high, box_high + room))
    return box_low, box_high


def floors(model: Model, orientation: Floats) -> list[dict[str, Any]]:
    """Half-spaces and half-planes in their bodies' frames; planes in space that are steep at the
    start are walls of a box: left out, they would hide what is in it."""
    geoms, out = model.geoms, []
    for g in np.flatnonzero(np.isin(geoms.kind, UNBOUNDED)):
        body, normal = int(geoms.body[g]), geoms.turn[g][:, -1]
        if model.dim == 3 and (rotations(orientation[None, body])[0] @ normal)[2] < WALL_COSINE:
            continue
        place = {"point": geoms.offset[g].tolist(), "normal": normal.tolist()}
        out.append({"body": body, **place})
    return out
