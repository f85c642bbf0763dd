"""Nanoseconds per contact and sweep against the bytes that a sweep moves.

    python benchmarks/sweeps.py

Balls on a cubic lattice, each touching its neighbours: three contacts a ball, as in a pile, with
impulses that stick, slip and open. Rows (J and P) and light contacts sweep the same problem; the
memory's speed comes from a triad a = b + s c.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from drystone.kernels import blocks
from drystone.kernels import rows as kernels
from drystone.kernels._jit import kernel
from drystone.kernels.island_sweeps import sweep
from drystone.kernels.light_judge import judge_spatial
from drystone.kernels.light_spatial import CONTACT, MOTION, pack_spatial, sweep_spatial

ROWS = (36 + 36 + 9 + 3 + 3 + 1 + 2 + 2 * 3 + 1) * 8  # J, P, D, soft, bias, mu, bodies, r, lam
LIGHT = (CONTACT + 7) * 8 + 2 * 8  # read; lam and r of two sweeps are written too


@kernel
def triad(a, b, c, s):
    for i in range(a.size):
        a[i] = b[i] + s * c[i]


def best(call: Callable[[], object], least: float = 0.05) -> float:
    """Seconds of a call, the least of several."""
    call()
    times, spent = [], 0.0
    while spent < least or len(times) < 3:
        begin = perf_counter()
        call()
        times.append(perf_counter() - begin)
        spent += times[-1]
    return min(times)


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
        self.contact, self.motion = np.zeros((nc, CONTACT)), np.zeros((nb, MOTION))
        self.D = np.empty((nc, 3, 3))

    def pack(self) -> None:
        pack_spatial(
            self.body, self.frame, self.point, self.position, self.inverse_mass,
            self.inverse_inertia, self.contact, self.motion, self.D,
        )  # fmt: skip

    def light(self) -> tuple[float, float, float]:
        """Seconds of packing, of a sweep and of a judging."""
        packing = best(self.pack)
        self.contact[:, 15:18], self.contact[:, 28:] = 0.0, 0.0
        self.contact[:, 26], self.motion[:, :6] = self.mu, self.v
        args = (0, self.nc, self.body, self.contact, self.motion)
        u = np.empty((self.nc, 3))
        for _ in range(3):
            sweep_spatial(*args, 0.0)
        return (
            packing,
            best(lambda: sweep_spatial(*args, 0.0)),
            best(lambda: judge_spatial(*args, u)),
        )

    def rows(self) -> float:
        """Seconds of a sweep with J and P."""
        nc = self.nc
        J, P = np.empty((nc, 3, 2, 6)), np.empty((nc, 3, 2, 6))
        kernels.rows_spatial(
            self.inverse_mass, self.inverse_inertia, self.position, self.body, self.point,
            self.frame, J, P, self.D,
        )  # fmt: skip
        zero, r, v = np.zeros((nc, 3)), np.zeros((nc, 3)), self.v.copy()
        args = (
            (0, 0, 0),
            0,
            nc,
            self.body,
            J,
            P,
            self.D,
            zero,
            zero,
            self.mu,
            np.ones(nc),
            blocks.COULOMB,
        )
        lam, work = np.zeros(nc), np.empty((7, 3))
        for _ in range(3):
            sweep(*args, v, r, lam, work)
        return best(lambda: sweep(*args, v, r, lam, work))


def main() -> None:
    for size in (10**4, 10**5, 10**7):
        print(f"triad over {24e-6 * size:8.2f} MB: {bandwidth(size) / 1e9:5.1f} GB/s")
    rate = bandwidth(10**7)
    print(f"{'contacts':>9} {'rows':>7} {'light':>7} {'judge':>7} {'pack':>7}   ns per contact")
    for m in (7, 15, 32):
        lattice = Lattice(m)
        nc = lattice.nc
        rows = lattice.rows()
        packing, light, judging = lattice.light()
        print(
            f"{nc:9d}" + "".join(f" {1e9 * t / nc:7.1f}" for t in (rows, light, judging, packing))
        )
    print(f"memory alone: rows {1e9 * ROWS / rate:.0f} ns, light {1e9 * LIGHT / rate:.0f} ns")


if __name__ == "__main__":
    main()
