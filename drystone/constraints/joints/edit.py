"""Joints that change during a run: some break, others come from an edited world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drystone.model import Joints
from drystone.types import Bools, Floats, Ints


def without(joints: Joints, gone: Bools) -> tuple[Joints, Ints]:
    """The joints that are left, and the old numbers of the coordinates that are left.

    gone (nj,): gears on a joint that is gone go with it.
    """
    gone = gone.copy()
    owner = joints.coordinate_joint
    for row, pair in zip(joints.coupled_row, joints.coupled_coordinate, strict=True):
        if gone[owner[pair]].any():
            gone[joints.row_joint[row]] = True
    keep = ~gone
    rows, coordinates = keep[joints.row_joint], keep[owner]
    new_row, new_coordinate = np.cumsum(rows) - 1, np.cumsum(coordinates) - 1
    coupled = rows[joints.coupled_row]
    acting = coordinates[joints.action_coordinate]
    per_joint = {
        name: getattr(joints, name)[keep]
        for name in (
            "uid",
            "body",
            "anchor_a",
            "anchor_b",
            "frame_a",
            "frame_b",
            "breaks_at",
        )
    }
    left = replace(
        joints,
        names=tuple(np.array(joints.names, object)[keep]),
        kind=tuple(np.array(joints.kind, object)[keep]),
        first_row=_first(np.diff(joints.first_row)[keep]),
        row_code=joints.row_code[rows],
        row_target=joints.row_target[rows],
        row_body=joints.row_body[rows],
        first_coordinate=_first(np.diff(joints.first_coordinate)[keep]),
        coordinate_code=joints.coordinate_code[coordinates],
        coordinate_target=joints.coordinate_target[coordinates],
        coordinate_body=joints.coordinate_body[coordinates],
        coordinate_name=tuple(np.array(joints.coordinate_name, object)[coordinates]),
        coupled_row=new_row[joints.coupled_row[coupled]],
        coupled_coordinate=new_coordinate[joints.coupled_coordinate[coupled]],
        coupled_factor=joints.coupled_factor[coupled],
        action_kind=joints.action_kind[acting],
        action_coordinate=new_coordinate[joints.action_coordinate[acting]],
        action_numbers=joints.action_numbers[acting],
        start=joints.start[coordinates],
        **per_joint,
    )
    return left, np.flatnonzero(coordinates)


def only(joints: Joints, chosen: Ints) -> tuple[Joints, Ints]:
    """Some joints (by number) and the bearings that gears among them brought along, as arrays of
    their own; and the old numbers of their coordinates."""
    keep = np.zeros(len(joints), bool)
    keep[chosen] = True
    owner = joints.coordinate_joint
    for row, pair in zip(joints.coupled_row, joints.coupled_coordinate, strict=True):
        if keep[joints.row_joint[row]]:
            keep[owner[pair]] = True
    return (joints, np.arange(joints.nq)) if keep.all() else without(joints, ~keep)


def carry_values(old: Joints | None, value: Floats, new: Joints) -> Floats:
    """(nq,) values from which the turns of edited joints are counted on: those of joints that
    were there before (value, of `old`), and the starts of the others."""
    out = new.start.copy()
    if old is None:
        return out
    where = {int(uid): j for j, uid in enumerate(old.uid)}
    for j, uid in enumerate(new.uid):
        i = where.get(int(uid))
        if i is not None:
            lo, hi = old.first_coordinate[i], old.first_coordinate[i + 1]
            out[new.first_coordinate[j] : new.first_coordinate[j + 1]] = value[lo:hi]
    return out


def _first(sizes: Ints) -> Ints:
    out = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=out[1:])
    return out
