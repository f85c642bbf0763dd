"""``python -m benchmarks sweeps``: time of a sweep and the bytes that it moves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks import options, tables
from benchmarks.clock import fastest, in_turn
from drystone.kernels import blocks
from drystone.kernels import rows as kernels
from drystone.kernels._jit import kernel
from drystone.kernels.contact.block_sweeps import sweep_blocks
from drystone.kernels.contact.packed_spatial import judge_spatial, pack_spatial, sweep_spatial
from drystone.kernels.contact.sweeps import Blocks
from drystone.kernels.layout import BODY_3 as B
from drystone.kernels.layout import CONTACT_3 as C
from drystone.kernels.packed import Packed
from drystone.types import Floats

ROWS = (36 + 36 + 9 + 3 + 3 + 1 + 2 + 2 * 3 + 1) * 8  # J, P, D, soft, bias, mu, bodies, r, lam
PACKED = (C.WIDTH + 7) * 8 + 2 * 8  # read; lam and r of two sweeps are written too


@kernel
def triad(a: Floats, b: Floats, c: Floats, s: float) -> None:
    for i in range(a.size):
        a[i] = b[i] + s * c[i]


def best(call: Callable[[], object]) -> float:
    """Seconds of a call, the fastest of several."""
    call()
    return fastest(call, repeats=50, enough=0.05)


def ready(call: Callable[[], object]) -> Callable[[], object]:
    return call


def bandwidth(size: int) -> float:
    """Bytes per second of a triad over three arrays of `size` numbers."""
    a, b, c = np.zeros(size), np.ones(size), np.ones(size)
    return 24 * size / best(lambda: triad(a, b, c, 0.5))


class Lattice:
    """m^3 balls of radius 1/2 whose neighbours touch; the first m^2 do not move."""

    def __init__(self, m: int) -> None:
        rng = np.random.default_rng(1)
        at = np.arange(m**3).reshape(m, m, m)
        pairs = [
            np.stack([np.moveaxis(at, k, 0)[1:].ravel(), np.moveaxis(at, k, 0)[:-1].ravel()], 1)
            for k in range(3)
        ]
        self.body = np.ascontiguousarray(np.concatenate(pairs))
        self.body = self.body[np.argsort(self.body[:, 0], kind="stable")]
        position = np.stack(np.unravel_index(at.ravel(), at.shape), 1).astype(float)
        position += 0.05 * rng.normal(size=position.shape)
        self.body = self.body[self.body[:, 0] >= m * m]
        nb, nc = m**3, len(self.body)
        self.nc, self.nb = nc, nb
        a, b = position[self.body[:, 0]], position[self.body[:, 1]]
        normal = (a - b) / np.linalg.norm(a - b, axis=1, keepdims=True)
        self.position, self.point = position, 0.5 * (a + b)
        self.frame = np.empty((nc, 3, 3))
        kernels.frames_spatial(normal, np.zeros((nc, 3)), np.ones((nc, 2)), 1.0, self.frame)
        self.inverse_mass = np.where(np.arange(nb) < m * m, 0.0, 1.0)
        self.inverse_inertia = 10.0 * self.inverse_mass[:, None, None] * np.eye(3)
        self.v = 0.3 * rng.normal(size=(nb, 6)) * self.inverse_mass[:, None]
        self.v[:, 0] -= self.inverse_mass
        self.mu = np.full(nc, 0.3)
        self.contact, self.motion = np.zeros((nc, C.WIDTH)), np.zeros((nb, B.WIDTH))
        self.D = np.empty((nc, 3, 3))

    def pack(self) -> None:
        pack_spatial(
            self.body, self.frame, self.point, self.position, self.inverse_mass,
            self.inverse_inertia, self.contact, self.motion, self.D,
        )  # fmt: skip

    def start_packed(self) -> tuple[Any, ...]:
        """Arguments of a sweep over packed contacts, without initial impulses."""
        self.pack()
        self.contact[:, C.BIAS : C.BIAS + 3], self.contact[:, C.LAM :] = 0.0, 0.0
        self.contact[:, C.MU], self.motion[:, B.V : B.V + 6] = self.mu, self.v
        return 0, self.nc, self.body, self.contact, self.motion

    def start_rows(self) -> tuple[Any, ...]:
        """The same with J and P."""
        nc = self.nc
        J, P = np.empty((nc, 3, 2, 6)), np.empty((nc, 3, 2, 6))
        kernels.rows_spatial(
            self.inverse_mass, self.inverse_inertia, self.position, self.body, self.point,
            self.frame, J, P, self.D,
        )  # fmt: skip
        zero, r, v = np.zeros((nc, 3)), np.zeros((nc, 3)), self.v.copy()
        s = Packed(
            start=np.array([0, nc]), body=self.body, J=J, P=P, D=self.D, bias=zero, mu=self.mu,
            law=blocks.COULOMB, v=v, r=r, lam=np.zeros(nc),
        )  # fmt: skip
        mine, work = np.arange(self.nb), np.empty((7, 3))
        old = np.empty_like(r), np.empty_like(v)
        return Blocks((0, 0, 0), s, 0, zero, np.ones(nc), mine, *old, work), None, 0, 0.0

    def seconds(self) -> dict[str, float]:
        """Of a sweep over rows, one over packed contacts, of a residual and of packing."""
        rows, packed, u = self.start_rows(), self.start_packed(), np.empty((self.nc, 3))
        for _ in range(3):
            sweep_blocks(*rows)
            sweep_spatial(*packed, 0.0)
        turns: dict[str, Callable[[], object]] = {
            "rows": lambda: sweep_blocks(*rows),
            "packed": lambda: sweep_spatial(*packed, 0.0),
            "residual": lambda: judge_spatial(*packed, u),
        }
        took = in_turn({name: partial(ready, call) for name, call in turns.items()}, repeats=20)
        return {name: one.seconds for name, one in took.items()} | {"pack": best(self.pack)}

    def difference(self) -> float:
        """Greatest difference of the impulses of both kinds of sweeps, relative to the largest."""
        rows, packed = self.start_rows(), self.start_packed()
        for _ in range(10):
            sweep_blocks(*rows)
            sweep_spatial(*packed, 0.0)
        r, ours = rows[0].s.r, self.contact[:, C.R : C.R + 3]
        return float(np.abs(r - ours).max() / np.abs(r).max())


def sweeps(output: options.Output = None) -> None:
    """Nanoseconds per contact and sweep against the bytes that a sweep moves.

    Balls on a cubic lattice, each touching its neighbours: three contacts a ball, as in a pile,
    with contacts that stick, slip and open. Rows (J and P) and packed contacts sweep the same
    problem; memory bandwidth is that of a triad a = b + s c. "difference": of the final impulses
    of both sweeps, relative to the largest.
    """
    folder = options.folder(output)
    for size in (10**4, 10**5, 10**7):
        tables.show(f"triad over {24e-6 * size:8.2f} MB: {bandwidth(size) / 1e9:5.1f} GB/s")
    rate = bandwidth(10**7)
    rows = []
    for m in (7, 15, 32):
        lattice = Lattice(m)
        nanoseconds = {f"{name}_ns": 1e9 * t / lattice.nc for name, t in lattice.seconds().items()}
        rows.append({"contacts": lattice.nc, **nanoseconds, "difference": lattice.difference()})
        tables.show(tables.row_text(rows[-1]))
    tables.show(
        f"memory alone: rows {1e9 * ROWS / rate:.0f} ns, packed {1e9 * PACKED / rate:.0f} ns"
    )
    if folder is not None:
        tables.write_csv(folder / "sweeps.csv", rows)
