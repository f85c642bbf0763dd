"""Siconos as a peer: its solvers on our problems, judged by our residual.

Siconos is a Debian package for the system interpreter, so it runs in a subprocess of that
interpreter (``siconos_worker``), which is killed when a solver exceeds its time.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from drystone.errors import MissingExtraError
from drystone.problems import LCP, FrictionProblem, GlobalFrictionProblem, MixedLCP, Problem
from drystone.problems.files import write_problem

INTERPRETER = "/usr/bin/python3"
START_SECONDS = 60.0
BUSY = 8.0  # wall time a solver may take, as a multiple of its CPU time limit
POLL_SECONDS = 0.1
WORTH_ANOTHER_STORAGE = 1.0  # [s] a slower solver is not tried again with another storage
LARGEST_DENSE = 600  # rows: beyond, a dense matrix only costs
TIGHTER = (1.0, 1e-2, 1e-4)  # Siconos' own error differs from ours: these factors of tol in turn

# What each kind is solved with; the first is the default of Siconos, then those often fastest.
SOLVERS: dict[str, tuple[str, ...]] = {
    "fc3d": (
        "nsgs", "nsn_ac_hybrid", "prox", "admm", "admm_srb", "nsgs_full", "nsgs_quartic", "nsn_ac",
        "nsn_fb", "nsn_nm", "vi_eg", "vi_fpp", "tfp", "aclmfp", "dsfp", "eg", "fpp", "hp",
    ),
    "fc2d": ("nsgs", "lemke", "enum", "cpg"),
    "gfc3d": (
        "nsgs_wr", "nsn_ac_wr", "admm_srb", "admm", "nsn_ac", "prox_wr", "admm_wr", "nsgs", "ipm",
        "vi_eg", "vi_fpp", "tfp_wr", "aclmfp", "dsfp_wr",
    ),
    "gfc2d": (),
    "lcp": (
        "lemke", "pivot", "avi_caoferris", "enum", "pgs", "nsqp", "qp", "cpg", "rpgs", "psor",
        "newton_fb_fblsa", "newton_min_fblsa", "newtonmin", "bard", "murty", "pivot_lumod",
        "pathsearch", "path",
    ),
    "mlcp": (
        "lcp_lemke", "enum", "fb", "pgs", "rpgs", "psor", "direct_enum", "direct_fb", "simplex",
        "path",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class PeerRun:
    """One solver on one problem: judged residuals, time of the solve alone [s].

    seconds is None when the run was stopped, crashed or raised; `note` says which.
    """

    solver: str
    tol: float
    seconds: float | None
    residual: float
    residual_unit: float
    iterations: int
    note: str = ""

    def solved(self, tol: float) -> bool:
        return self.seconds is not None and max(self.residual, self.residual_unit) <= tol


class Siconos:
    """A subprocess that answers jobs; use as a context manager."""

    def __init__(self, interpreter: str = INTERPRETER) -> None:
        self._interpreter = interpreter
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="drystone-peer-")
        self._files: dict[tuple[int, int], tuple[Problem, str]] = {}

    def __enter__(self) -> Siconos:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._folder.cleanup()

    def run(
        self,
        problem: Problem,
        kind: str,
        solver: str,
        *,
        tol: float = 1e-8,
        time_limit: float = 30.0,
        source: Path | None = None,
        repeats: int = 20,
    ) -> list[PeerRun]:
        """Every run of a solver on a problem: over matrix storages and tolerances.

        Siconos' own error measure differs from ours: while a run finishes but our judge does not
        accept it, its tolerance is tightened. source: the problem's own file, where Siconos
        reads it.
        """
        runs: list[PeerRun] = []
        for file in self._storages(problem, source):
            job = {"kind": kind, "solver": solver, "file": file, "repeats": repeats}
            for factor in TIGHTER:
                runs.append(self._attempt(problem, job, tol * factor, time_limit))
                if runs[-1].seconds is None or runs[-1].solved(tol):
                    break
            if runs[-1].seconds is None or runs[-1].seconds > WORTH_ANOTHER_STORAGE:
                break
        return runs

    def _attempt(
        self, problem: Problem, job: dict[str, Any], tol: float, time_limit: float
    ) -> PeerRun:
        out = Path(self._folder.name) / "value.npy"
        job |= {"tol": tol, "out": str(out), "repeat_seconds": min(0.5, time_limit)}
        if isinstance(problem, GlobalFrictionProblem):
            job["ndof"] = problem.q.size
        # the problem is read outside the timed part; allow for that
        reply = self._ask(job, time_limit + 1.0)
        if "seconds" not in reply:
            return PeerRun(job["solver"], tol, None, np.inf, np.inf, 0, reply["error"])
        value = np.load(out, allow_pickle=False)
        residuals = (np.inf, np.inf)
        if np.isfinite(value).all():
            with np.errstate(all="ignore"):
                residuals = problem.residuals(value)
        return PeerRun(job["solver"], tol, reply["seconds"], *residuals, reply["iterations"])

    def _storages(self, problem: Problem, source: Path | None) -> list[str]:
        """Files that the worker can read, one for each matrix storage; written once."""
        if isinstance(problem, MixedLCP) and not isinstance(problem, LCP):
            if source is not None and source.suffix == ".dat":
                return [str(source)]
            return [self._written(problem, 0, ".dat", problem)]
        if isinstance(problem, LCP):
            return [self._written(problem, 0, ".npz", problem)]
        variants = [problem, *_other_storage(problem)]
        return [self._written(problem, k, ".dat", one) for k, one in enumerate(variants)]

    def _written(self, problem: Problem, number: int, suffix: str, content: Problem) -> str:
        key = (id(problem), number)
        if key not in self._files:
            name = str(Path(self._folder.name) / f"problem{len(self._files)}{suffix}")
            if isinstance(content, LCP):
                np.savez(name, M=content.dense, q=content.q)
            else:
                write_problem(content, name)
            self._files[key] = (problem, name)  # holding the problem keeps its id its own
        return self._files[key][1]

    def _ask(self, job: dict[str, Any], seconds: float) -> dict[str, Any]:
        if self._process is None:
            self._start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(job).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            self._stop()
            return {"error": "crashed"}
        reply = self._answer(seconds)
        if reply is None:
            crashed = process.poll() is not None
            self._stop()
            return {"error": "crashed" if crashed else f"stopped after {seconds:.0f} s"}
        return reply

    def _answer(self, seconds: float) -> dict[str, Any] | None:
        """The next line of the worker, or None if it ends or takes longer."""
        assert self._process is not None
        assert self._process.stdout is not None
        pipe, line, begin = self._process.stdout, b"", perf_counter()
        begin_cpu = _cpu_seconds(self._process.pid)
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                wall = perf_counter() - begin
                cpu = _cpu_seconds(self._process.pid) - begin_cpu
                if min(wall, cpu) > seconds or wall > BUSY * seconds:
                    return None
                if not selector.select(POLL_SECONDS):
                    continue
                part = os.read(pipe.fileno(), 65536)
                if not part:
                    self._process.wait()
                    return None
                line += part
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _start(self) -> None:
        worker = Path(__file__).with_name("siconos_worker.py")
        single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        try:
            self._process = subprocess.Popen(
                [self._interpreter, "-s", str(worker)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **single, "PYTHONPATH": ""},
            )
        except OSError as error:
            raise MissingExtraError(_missing(str(error))) from None
        reply = self._answer(START_SECONDS)
        if reply is None or "ready" not in reply:
            self._stop()
            raise MissingExtraError(_missing((reply or {}).get("missing", "it does not start")))

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # what was not read any more
                    pipe.close()
        self._process = None


def _other_storage(problem: Problem) -> list[Problem]:
    """The same friction problem with its matrix dense instead of sparse, or the reverse."""
    if isinstance(problem, GlobalFrictionProblem):
        dense = problem.M.toarray() if sp.issparse(problem.M) else sp.csr_array(problem.M)
        if problem.q.size > LARGEST_DENSE:
            return []
        parts = (problem.H, problem.q, problem.b, problem.mu)
        return [GlobalFrictionProblem(dense, *parts, dim=problem.dim)]
    if not isinstance(problem, FrictionProblem) or problem.size > LARGEST_DENSE:
        return []
    other = problem.dense if sp.issparse(problem.W) else sp.csr_array(problem.dense)
    return [FrictionProblem(other, problem.q, problem.mu, dim=problem.dim)]


def _cpu_seconds(pid: int) -> float:
    """CPU time of a process so far; infinite where the system does not tell, so that wall counts.

    A busy machine must not take a solver's time away from it.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return np.inf


def _missing(reason: str) -> str:
    return (
        f"Siconos is not available to {INTERPRETER} ({reason}). On Debian or Ubuntu: "
        "apt-get install python3-siconos"
    )
