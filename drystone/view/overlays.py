"""What is not seen of a real pile: contact points, normals, forces, cones, joints, boxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drystone.draw.meshes import typical_radius
from drystone.dynamics.frames import rotations
from drystone.model import State
from drystone.types import Floats
from drystone.view import palette
from drystone.view.stage import Stage, upright

KINDS = ("points", "normals", "forces", "cones", "joints", "boxes")
CONE_SIDES = 24  # of the mesh of a friction cone: round at any size on a screen
EASE = 0.06  # how fast the scale of forces follows the strongest, a draw


class Overlays:
    """Handles made when first shown, filled at every draw while they are on.

    on: the KINDS that are shown; changed in place.
    """

    def __init__(self, stage: Stage, on: set[str]) -> None:
        self.stage, self.server, self.on = stage, stage.server, on
        self.scale = 1.0  # of arrows, set by the user
        self.still = False  # the time stands still: the scale of forces need not
        self.strongest = 0.0  # [N] that is drawn as long as an arrow may be
        self._handles: dict[str, Any] = {}
        self.table: Any = None
        self.clicked: Callable[[int], None] | None = None

    @property
    def unit(self) -> float:
        """A length that looks neither large nor small [m]."""
        whole = self.stage.camera.size
        typical = typical_radius(self.stage.model.geoms, whole)
        return float(np.clip(typical, 0.015 * whole, 0.12 * whole))

    def switch(self, kind: str, shown: bool) -> None:
        (self.on.add if shown else self.on.discard)(kind)
        for handle in self._of(kind):
            handle.visible = shown

    def _of(self, kind: str) -> list[Any]:
        return [h for name, h in self._handles.items() if name.split("/")[0] == kind]

    def draw(self, state: State, table: Any) -> None:
        """Fill what is on; table: contacts (structured array), None if nothing is known."""
        self.table = table
        if self.on & {"points", "normals", "forces", "cones"}:
            self._contacts(table)
        if "joints" in self.on:
            self._joints(state)
        if "boxes" in self.on:
            self._boxes(state)

    def _space(self, plane: Floats) -> Floats:
        """(n, 3) points or vectors of the plane lifted over its bodies."""
        if not self.stage.planar:
            return np.asarray(plane, float)
        high = 0.08 * self.stage.camera.size
        return np.column_stack([plane, np.full(len(plane), high)])

    def _vectors(self, plane: Floats) -> Floats:
        return np.column_stack([plane, np.zeros(len(plane))]) if self.stage.planar else plane

    def _contacts(self, table: Any) -> None:
        dim = self.stage.model.dim
        none = np.empty((0, dim))
        known = table is not None and len(table)
        point = self._space(table["point"] if known else none)
        normal = self._vectors(table["normal"] if known else none)
        force = self._vectors(table["force"] if known else none)
        size = np.linalg.norm(force, axis=1)
        strongest = float(size.max()) if size.size else 0.0
        if self.still or strongest > self.strongest:
            self.strongest = strongest
        else:
            self.strongest += EASE * (strongest - self.strongest)
        long = max(3.0 * self.unit, 0.18 * self.stage.camera.size) * self.scale
        if "points" in self.on:
            self._balls("points", point, np.full(len(point), 0.11 * self.unit))
        if "normals" in self.on:
            ends = np.stack([point, point + 0.8 * self.unit * normal], axis=1)
            self._lines("normals", ends, palette.NORMAL)
        if "forces" in self.on:
            acting = size > 1e-3 * self.strongest
            arrow = long * force[acting] / max(self.strongest, 1e-300)
            self._arrows(np.stack([point[acting], point[acting] + arrow], axis=1))
        if "cones" in self.on:
            pushing = size > 1e-3 * self.strongest
            mu = np.asarray(table["friction"] if known else np.empty(0), float)[pushing]
            high = long * np.sum(force * normal, axis=1)[pushing] / max(self.strongest, 1e-300)
            self._cones(point[pushing], normal[pushing], mu, np.maximum(high, 0.0))

    def _joints(self, state: State) -> None:
        joints = self.stage.model.joints
        if joints is None or not len(joints):
            return
        R = rotations(state.orientation)
        sides = []
        for k, anchor in ((0, joints.anchor_a), (1, joints.anchor_b)):
            b = joints.body[:, k]
            held = b >= 0
            at = anchor.copy()
            at[held] = state.position[b[held]] + np.einsum("jik,jk->ji", R[b[held]], anchor[held])
            centre = at.copy()
            centre[held] = state.position[b[held]]
            sides.append((self._space(at), self._space(centre)))
        (a, centre_a), (b_, centre_b) = sides
        self._balls("joints", a, np.full(len(a), 0.22 * self.unit), palette.JOINT)
        arms = np.concatenate([np.stack([centre_a, a], 1), np.stack([b_, centre_b], 1)])
        self._lines("joints/arms", arms, palette.JOINT)

    def _boxes(self, state: State) -> None:
        box = self.stage.boxes(state)
        box = box[~np.isnan(box[:, 0, 0])]
        if self.stage.planar:
            box[:, :, 2] = 0.08 * self.stage.camera.size
        pick = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)])
        corners = np.stack([box[:, pick[:, k], k] for k in range(3)], axis=2)
        pairs = [(i, i | bit) for bit in (1, 2, 4) for i in range(8) if not i & bit]
        if self.stage.planar:
            pairs = [(0, 1), (1, 3), (3, 2), (2, 0)]
        ends = corners[:, np.array(pairs)].reshape(-1, 2, 3)
        self._lines("boxes", ends, palette.INK)

    # handles ---------------------------------------------------------------------------------

    def _lines(self, name: str, ends: Floats, colour: palette.RGB) -> None:
        ends = ends if len(ends) else np.full((1, 2, 3), 1e6)  # the browser wants one at least
        handle = self._handles.get(name)
        if handle is None:
            self._handles[name] = self.server.scene.add_line_segments(
                f"/overlay/{name}", ends, colour, thickness=1.6, thickness_units="screen"
            )
        else:
            handle.points = ends.astype(np.float32)

    def _arrows(self, ends: Floats) -> None:
        thick = max(0.08 * self.unit, 0.005 * self.stage.camera.size)
        ends = ends if len(ends) else np.stack([np.full((1, 3), 1e6), np.full((1, 3), 1e6 + 1)], 1)
        handle = self._handles.get("forces")
        if handle is None:
            self._handles["forces"] = self.server.scene.add_arrows(
                "/overlay/forces", ends, self.stage.shown(palette.FORCE),
                shaft_radius=0.5 * thick, head_radius=1.2 * thick, head_length=2.0 * thick,
            )  # fmt: skip
        else:
            handle.points = ends.astype(np.float32)

    def _balls(
        self, name: str, at: Floats, radius: Floats, colour: palette.RGB = palette.POINT
    ) -> None:
        turn = np.tile([1.0, 0.0, 0.0, 0.0], (len(at), 1))
        self._batch(name, _ball(), at, turn, np.repeat(radius[:, None], 3, axis=1), colour)

    def _cones(self, at: Floats, normal: Floats, mu: Floats, high: Floats) -> None:
        turn = np.array([upright(n) for n in normal]).reshape(-1, 4)
        if self.stage.planar:  # the flat cone, in the plane
            angle = np.arctan2(normal[:, 1], normal[:, 0]) - 0.5 * np.pi
            none = np.zeros_like(angle)
            turn = np.column_stack([np.cos(angle / 2), none, none, np.sin(angle / 2)])
            scale = np.column_stack([mu * high, high, np.ones_like(high)])
        else:
            scale = np.column_stack([mu * high, mu * high, high])
        shape = _wedge() if self.stage.planar else _cone()
        self._batch("cones", shape, at, turn, scale, palette.CONE, opacity=0.35)

    def _batch(
        self, name: str, shape: tuple[Floats, Any], at: Floats, turn: Floats, scale: Floats,
        colour: palette.RGB, opacity: float | None = None,
    ) -> None:  # fmt: skip
        """Copies of a mesh whose number changes: rows that are too many have size zero."""
        handle, n = self._handles.get(name), len(at)
        if handle is None or len(handle.batched_positions) < n:
            room = max(64, 1 << (2 * n - 1).bit_length() if n else 64)
            handle = self.server.scene.add_batched_meshes_simple(
                f"/overlay/{name}", *shape, np.tile([1.0, 0.0, 0.0, 0.0], (room, 1)),
                np.zeros((room, 3)), batched_scales=np.zeros((room, 3), np.float32),
                batched_colors=self.stage.shown(colour), lod="off", side="double",
                opacity=opacity, cast_shadow=False, receive_shadow=False,
            )  # fmt: skip
            self._handles[name] = handle
            if name == "points" and self.clicked is not None:
                handle.on_click(lambda event: self._click(event.instance_index))
        room = len(handle.batched_positions)
        for field, rows, rest in (
            ("batched_positions", at, (0.0, 0.0, 0.0)),
            ("batched_wxyzs", turn, (1.0, 0.0, 0.0, 0.0)),
            ("batched_scales", scale, (0.0, 0.0, 0.0)),
        ):
            filled = np.tile(np.array(rest, np.float32), (room, 1))
            filled[:n] = rows
            setattr(handle, field, filled)

    def _click(self, k: int | None) -> None:
        if k is not None and self.clicked is not None:
            self.clicked(k)


def _ball(n: int = 12) -> tuple[Floats, Any]:
    from drystone.geometry.shapes import Sphere

    return Sphere(1.0).mesh(n)


def _cone() -> tuple[Floats, Any]:
    """Apex at the origin, opening to radius 1 at z = 1."""
    angle = np.linspace(0, 2 * np.pi, CONE_SIDES, endpoint=False)
    rim = np.column_stack([np.cos(angle), np.sin(angle), np.ones(CONE_SIDES)])
    k = np.arange(CONE_SIDES)
    faces = np.column_stack([np.zeros(CONE_SIDES, int), 1 + k, 1 + (k + 1) % CONE_SIDES])
    return np.concatenate([np.zeros((1, 3)), rim]), faces


def _wedge() -> tuple[Floats, Any]:
    """The same in the plane: between the lines y = |x|, up to y = 1."""
    return np.array([(0.0, 0, 0), (1, 1, 0), (-1, 1, 0)]), np.array([(0, 1, 2)])
