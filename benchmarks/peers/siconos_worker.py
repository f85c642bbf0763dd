"""Runs Siconos' solvers for ``siconos_peer``, in the system's interpreter (it is not on PyPI).

Imports nothing of this package. One job per line of standard input, one answer per line of the
original standard output, both JSON; Siconos' own chatter goes to the null device. A solver that
hangs or crashes takes this process with it and the parent starts another.
"""

import json
import os
import resource
import sys
import time
from typing import Any

import numpy as np

# beside this script lies a `siconos.py` of ours, which is not the package
sys.path[:] = [place for place in sys.path if place != os.path.dirname(os.path.abspath(__file__))]

MEMORY = 8 * 1024**3  # bytes: enumeration of a large problem must not take the machine along
MANY = 1_000_000  # iterations: the time cap of the parent ends a run


def friction_3d(n: Any, name: str) -> Any:
    """Options of a local solver in space by the names of the published tables."""
    base = {
        "nsgs_full": "NSGS",
        "nsgs_quartic": "NSGS",
        "nsn_ac_hybrid": "NSN_AC",
        "admm_srb": "ADMM",
    }.get(name, name.upper())
    options = n.SolverOptions(getattr(n, "SICONOS_FRICTION_3D_" + base))
    if name == "nsgs_full":
        evaluation = n.SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION
        options.iparam[evaluation] = n.SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL
    if name == "nsgs_quartic":
        n.solver_options_update_internal(options, 0, n.SICONOS_FRICTION_3D_ONECONTACT_QUARTIC)
    if name == "nsn_ac_hybrid":
        strategy = n.SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY
        options.iparam[strategy] = n.SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY_VI_EG_NSN
    _balance(n, options, name)
    return options


def friction_global(n: Any, name: str) -> Any:
    options = n.SolverOptions(
        getattr(n, "SICONOS_GLOBAL_FRICTION_3D_" + name.removesuffix("_srb").upper())
    )
    _balance(n, options, name)
    return options


def _balance(n: Any, options: Any, name: str) -> None:
    if name == "admm_srb":
        strategy = n.SICONOS_FRICTION_3D_ADMM_IPARAM_RHO_STRATEGY
        options.iparam[strategy] = n.SICONOS_FRICTION_3D_ADMM_RHO_STRATEGY_SCALED_RESIDUAL_BALANCING


def options_of(n: Any, kind: str, name: str) -> Any:
    if kind == "fc3d":
        return friction_3d(n, name)
    if kind == "gfc3d":
        return friction_global(n, name)
    prefix = {"fc2d": "FRICTION_2D_", "lcp": "LCP_", "mlcp": "MLCP_"}[kind]
    return n.SolverOptions(getattr(n, "SICONOS_" + prefix + name.upper()))


def once(n: Any, job: dict[str, Any]) -> tuple[Any, float, int]:
    """Read the problem afresh (solvers may rescale it) and solve: (value, seconds, iterations)."""
    kind = job["kind"]
    options = options_of(n, kind, job["solver"])
    options.dparam[n.SICONOS_DPARAM_TOL] = job["tol"]
    options.iparam[n.SICONOS_IPARAM_MAX_ITER] = 1000 if "nsn" in job["solver"] else MANY
    if kind in ("fc2d", "fc3d"):
        problem = n.frictionContact_new_from_filename(job["file"])
        value = np.zeros(problem.dimension * problem.numberOfContacts)
        rest = [np.zeros_like(value)]
        driver = n.fc3d_driver if kind == "fc3d" else n.fc2d_driver
    elif kind == "gfc3d":
        problem = n.globalFrictionContact_new_from_filename(job["file"])
        value = np.zeros(problem.dimension * problem.numberOfContacts)
        rest = [np.zeros_like(value), np.zeros(job["ndof"])]
        driver = n.gfc3d_driver
    elif kind == "mlcp":
        problem = n.mixedLinearComplementarityProblemFromFile(job["file"])
        value = np.zeros(problem.n + problem.m)
        rest = [np.zeros_like(value)]
        driver = n.mlcp_driver
        n.mlcp_driver_init(problem, options)
    else:
        data = np.load(job["file"])
        problem = n.LCP(data["M"], data["q"])
        value = np.zeros(data["q"].size)
        rest = [np.zeros_like(value)]
        driver = n.linearComplementarity_driver
    begin, begin_cpu = time.perf_counter(), time.process_time()
    driver(problem, value, *rest, options)
    # one thread: CPU time leaves out what other processes took meanwhile
    seconds = min(time.perf_counter() - begin, time.process_time() - begin_cpu)
    if kind == "mlcp":
        n.mlcp_driver_reset(problem, options)
    return value, seconds, int(options.iparam[n.SICONOS_IPARAM_ITER_DONE])


def answer(n: Any, job: dict[str, Any]) -> dict[str, Any]:
    """The fastest of several runs; slow solvers run once."""
    value, best, iterations = once(n, job)
    spent, runs = best, 1
    while spent + best < job["repeat_seconds"] and runs < job["repeats"]:
        value, seconds, iterations = once(n, job)
        best, spent, runs = min(best, seconds), spent + seconds, runs + 1
    np.save(job["out"], value, allow_pickle=False)
    return {"seconds": best, "iterations": iterations, "runs": runs}


def main() -> None:
    channel = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        import siconos.numerics as n
    except ImportError as error:
        channel.write(json.dumps({"missing": str(error)}) + "\n")
        channel.flush()
        return
    n.numerics_set_verbose(0)
    channel.write(json.dumps({"ready": True}) + "\n")
    channel.flush()
    for line in sys.stdin:
        try:
            reply = answer(n, json.loads(line))
        except Exception as error:  # whatever the binding raises is an answer: it failed
            reply = {"error": f"{type(error).__name__}: {error}"}
        channel.write(json.dumps(reply) + "\n")
        channel.flush()


if __name__ == "__main__":
    main()
