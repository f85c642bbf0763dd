"""Contacts of a replay for the page: where they act, how strong they are, how near to slip."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.errors import OptionError
from drystone.types import Floats, Ints
from drystone.view.player.blob import Blob
from drystone.view.player.states import QUANTA

CONTACT_RATE = 30.0  # frames with contacts, at most, in a second
MAX_CONTACTS = 240_000  # contacts in all: beyond it, fewer frames have them
WEAK_FORCE = 1e-9  # forces below this part of the largest are left out
WORLD = 65535  # body of a contact with nothing that has a name


def add_contacts(blob: Blob, replay: Any, frames: Ints, time: Floats) -> dict[str, Any] | None:
    """Pack contacts at some of the frames (indices of the replay); None where it has none."""
    tables = _tables(replay, frames, time)
    if not tables:
        return None
    names = np.array(replay.model.names, dtype=np.str_)
    dim = int(replay.model.dim)
    held = np.concatenate([table for _, table in tables])
    if not held.size:
        return None
    blob.add("contact_frame", [k for k, _ in tables], "u4")
    blob.add("contact_first", np.cumsum([0] + [len(table) for _, table in tables]), "u4")
    blob.add_planes("contact_pair", _indices(held["bodies"], names))
    point = np.nan_to_num(held["point"])
    low, high = point.min(axis=0), point.max(axis=0)
    step = np.where(high > low, (high - low) / QUANTA, 1.0)
    blob.add_planes("contact_point", np.rint((point - low) / step).T)
    force = np.nan_to_num(held["force"])
    most = float(np.abs(force).max(initial=0.0)) or 1.0
    root = np.sign(force) * np.sqrt(np.abs(force) / most)
    blob.add_planes("contact_force", np.rint((root + 1.0) * 32767).T)
    blob.add("contact_share", np.rint(255 * _share(held)), "u1")
    return {
        "count": int(held.size), "low": low.tolist()[:dim], "step": step.tolist()[:dim],
        "most": most, "read": _read(replay, int(frames[tables[-1][0]])),
    }  # fmt: skip


def _read(replay: Any, k: int) -> str:
    """What the forces of a frame are, for the legend."""
    said = getattr(replay, "forces_read", None)
    return said(k) if callable(said) else ""


def contacts_of(replay: Any, k: int) -> np.ndarray | None:
    """Contacts of a frame; None where the run did not keep them."""
    reader = getattr(replay, "contacts", None)
    if not callable(reader) or not getattr(replay, "keeps_contacts", True):
        return None
    try:
        table: np.ndarray = reader(k)
    except OptionError:
        return None
    return table


def _tables(replay: Any, frames: Ints, time: Floats) -> list[tuple[int, np.ndarray]]:
    """(place among `frames`, contacts that carry something), no denser than CONTACT_RATE and
    MAX_CONTACTS in all."""
    out: list[tuple[int, np.ndarray]] = []
    last = -np.inf
    for k, frame in enumerate(frames):
        if k and time[k] - last < 0.999 / CONTACT_RATE:
            continue
        table = contacts_of(replay, int(frame))
        if table is None:
            return []
        size = np.linalg.norm(table["force"], axis=1)
        out.append((k, table[size > WEAK_FORCE * size.max(initial=0.0)]))
        last = float(time[k])
    total = sum(len(table) for _, table in out)
    return out[:: int(np.ceil(total / MAX_CONTACTS))] if total > MAX_CONTACTS else out


def _indices(bodies: np.ndarray, names: np.ndarray) -> Ints:
    """(n, 2) places of names among all names."""
    order = np.argsort(names, kind="stable")
    found = np.clip(np.searchsorted(names[order], bodies), 0, len(names) - 1)
    out: Ints = np.where(names[order][found] == bodies, order[found], WORLD)
    return out


def _share(held: np.ndarray) -> Floats:
    """Friction mobilisation, |f_t| / (mu f_n), from 0 to 1."""
    force, normal = held["force"], held["normal"]
    f_n = np.einsum("ci,ci->c", force, normal)
    f_t = np.linalg.norm(force - f_n[:, None] * normal, axis=1)
    bound = np.nan_to_num(held["friction"]) * f_n
    share = np.divide(f_t, bound, out=np.zeros_like(f_t), where=bound > 0)
    out: Floats = np.clip(np.nan_to_num(share), 0.0, 1.0)
    return out


def force_lines(
    table: np.ndarray, names: np.ndarray, free: Any, position: Floats
) -> tuple[Floats, Floats, Floats]:
    """Lines of force as the page draws them: ends (n, 2, dim) [m], size (n,) [N], friction
    mobilisation (n,). Contacts of one pair of bodies make one force, at its centre of pressure,
    drawn along its line of action from abreast of one body's centre to abreast of the other's."""
    size = np.linalg.norm(table["force"], axis=1)
    held = table[size > 0]
    pair = _indices(held["bodies"], names)
    keys, first, member = np.unique(
        pair[:, 0] * (WORLD + 1) + pair[:, 1], return_index=True, return_inverse=True
    )
    weight = np.linalg.norm(held["force"], axis=1)
    dim = position.shape[1]
    point, force = np.zeros((len(keys), dim)), np.zeros((len(keys), dim))
    total, used = np.zeros(len(keys)), np.zeros(len(keys))
    np.add.at(point, member, weight[:, None] * held["point"])
    np.add.at(force, member, held["force"])
    np.add.at(total, member, weight)
    np.add.at(used, member, weight * _share(held))
    point, used = point / total[:, None], used / total
    whole = np.linalg.norm(force, axis=1)
    way = force / np.maximum(whole, 1e-300)[:, None]
    ends = np.stack([point, point], axis=1)
    for side, sign in ((0, 1.0), (1, -1.0)):
        body = pair[first, side]
        known = body < len(free)
        known[known] &= free[body[known]]
        arm = np.abs(np.einsum("ni,ni->n", position[np.where(known, body, 0)] - point, way))
        ends[:, side] += (sign * np.where(known, arm, 0.0))[:, None] * way
    order = np.argsort(whole, kind="stable")
    return ends[order], whole[order], used[order]
