"""Sweeps on several threads, with the same bits on any number of them.

Islands share no moving body: threads take some each. An island of very many contacts is cut into
parts (``contact.parallel_sweeps``), how many by its size alone. ``DRYSTONE_THREADS`` says how many
threads there are; by default two, or one on a machine with one core.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from drystone.errors import OptionError
from drystone.kernels._barrier import STATE_SIZE
from drystone.kernels._jit import MODE
from drystone.kernels.contact.energy_gap import gap_of_blocks
from drystone.kernels.contact.packed import free_scales
from drystone.kernels.contact.parallel_order import order_bodies, order_contacts
from drystone.kernels.contact.parallel_sweeps import gather, scatter
from drystone.kernels.contact.sweeps import solve_packed_islands, solve_parts
from drystone.kernels.layout import BODY_2, BODY_3, CONTACT_2, CONTACT_3
from drystone.kernels.packed import Packed
from drystone.kernels.radix import PLACES
from drystone.types import Bools, Floats, Ints

LARGE_ISLANDS = 8192  # contacts of an island that is worth cutting
MOST_PARTS = 8  # of an island, however large it is
SHARED_TOTAL = 4096  # contacts in islands that are worth a second thread
USUAL_THREADS = 2  # if there are as many cores


def count_threads() -> int:
    """Threads to use: DRYSTONE_THREADS, or two where there are two cores."""
    if MODE == "off":
        return 1
    text = os.environ.get("DRYSTONE_THREADS", "")
    if text:
        if not text.isdecimal() or int(text) < 1:
            raise OptionError(f"DRYSTONE_THREADS={text!r}: expected a number of threads, 1 or more")
        return int(text)
    return min(USUAL_THREADS, count_cores())


def count_cores() -> int:
    """Cores that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return cores or 1


def count_parts(contacts: int) -> int:
    """Parts of an island, by its size: 1, 2, 4 or 8."""
    parts = 1
    while parts < MOST_PARTS and contacts >= parts * LARGE_ISLANDS:
        parts *= 2
    return parts


@dataclass(slots=True)
class Sweeper:
    """Sweeps islands on `threads` threads; keeps its arrays between steps."""

    threads: int = field(default_factory=count_threads)
    _pool: ThreadPoolExecutor | None = None
    _work: dict[str, Any] = field(default_factory=dict)

    def solve(self, s: Packed, chosen: Ints) -> None:
        """Solve the chosen islands; s: fields as ``solve_packed_islands`` has them."""
        size = s.start[chosen + 1] - s.start[chosen]
        for k in chosen[size >= LARGE_ISLANDS]:
            self._large(s, int(k))
        few = chosen[size < LARGE_ISLANDS]
        share = self._shares(few, size[size < LARGE_ISLANDS])
        self._run(lambda rank: sweep_islands(s, share[rank]), len(share))

    def _shares(self, chosen: Ints, size: Ints) -> list[Ints]:
        """Islands of each thread, contacts shared about equally."""
        if self.threads == 1 or chosen.size < 2 or size.sum() < SHARED_TOTAL:
            return [chosen] if chosen.size else []
        upto = np.cumsum(size) - 0.5 * size
        of = np.minimum(upto * self.threads // size.sum(), self.threads - 1)
        shares = [chosen[of == k] for k in range(self.threads)]
        return [share for share in shares if share.size]

    def _run(self, task: Callable[[int], Any], threads: int) -> None:
        """task(0), task(1) ... at once; the first of them here."""
        if threads > 1 and self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1, "drystone-sweeps")
        assert threads < 2 or self._pool is not None
        others = [self._pool.submit(task, k) for k in range(1, threads)] if self._pool else []
        if threads > 0:
            task(0)
        for other in others:
            other.result()

    def _large(self, s: Packed, k: int) -> None:
        """One island in parts."""
        lo, hi, d = int(s.start[k]), int(s.start[k + 1]), s.r.shape[1]
        n, parts = hi - lo, count_parts(hi - lo)
        columns, moving = (CONTACT_2, BODY_2) if d == 2 else (CONTACT_3, BODY_3)
        moves = s.motion[:, moving.MOVES] != 0.0
        work = self._array("bodies", 5, moves.size, dtype=np.int64)
        number, members, first_body = arrange(lo, hi, s.body, moves, s.position, parts, work)
        order, first = self._array("order", n, dtype=np.int64), np.empty(parts + 2, np.int64)
        order_contacts(lo, hi, s.body, number, first_body, order, first)
        plain_q, free_q = free_scales(lo, hi, s.q, s.contact[:, columns.UNIT2])
        ruled = ("island_tol", "loose_tol", "fallback_tol", "min_sweeps", "sweep_limit")
        p = Packed(
            law=s.law, only_sweeps=s.only_sweeps, leave=s.leave,
            **{name: getattr(s, name)[k].item() for name in ruled},
            plain_q=float(plain_q), free_q=float(free_q), ended=0, sweeps=0, plain=0.0, free=0.0,
            gate=np.zeros(STATE_SIZE, np.int64), order=order, number=number, members=members,
            first=first, first_body=first_body, near=self._array("near", n, 2, dtype=np.int64),
            line=self._array("line", n, columns.WIDTH),
            state=self._array("state", members.size, moving.WIDTH), u=self._array("u", n, d),
            awake=self._array("awake", n, dtype=np.int64), up=np.zeros(parts + 1, np.int64),
            sums=np.zeros((2, parts + 1, 6)),
        )  # fmt: skip
        gather(s, p)
        threads = min(self.threads, parts)
        self._run(lambda rank: solve_parts(p, rank, threads), threads)
        scatter(s, p)
        s.ended[k], s.residual[k] = p.ended, (p.plain, p.free)
        unit = np.sqrt(s.contact[lo:hi, columns.UNIT2])
        given = s.r[lo:hi], s.u[lo:hi], s.q[lo:hi], s.mu[lo:hi], unit
        s.energy_gap[k] = gap_of_blocks(*given, s.law, None)
        s.sweeps[k] += p.sweeps

    def _array(self, name: str, n: int, *width: int, dtype: Any = np.float64) -> Any:
        """The first n lines of an array that is kept, and made anew where it is too short."""
        known = self._work.get(name)
        if known is None or len(known) < n or known.shape[1:] != width:
            known = self._work[name] = np.zeros((n + n // 4, *width), dtype)
        return known[:n]


def arrange(
    lo: int, hi: int, body: Ints, moves: Bools, position: Floats, parts: int, work: Ints
) -> tuple[Ints, Ints, Ints]:
    """New numbers of the bodies of contacts lo:hi, the bodies in their new order, and where each
    part of them starts (parts + 1,). work (5, nb): the first two are parts of it."""
    number, members, keys, spare = work[0], work[1], work[2], work[3:]
    count = np.empty(PLACES, np.int64)
    moving, total = order_bodies(lo, hi, body, moves, position, number, members, keys, spare, count)
    return number, members[:total], np.arange(parts + 1) * moving // parts


def sweep_islands(s: Packed, chosen: Ints) -> None:
    """Some islands one after the other, on the thread that asks."""
    work = np.empty((2, s.v.shape[0]), np.int64)
    solve_packed_islands(s, chosen, work[0], work[1], np.empty(len(s.r), np.int64))
