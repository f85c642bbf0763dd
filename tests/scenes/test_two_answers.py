"""Coulomb's law may have several answers: a pile that is let go has two at one of its steps.

From the warm start of a run and from nothing sweeps find two of them: which one a run takes may
depend on the order of its bodies.
"""

from dataclasses import replace

import numpy as np

import drystone as ds
from tests.scenes.neighbours import neighbours

STEPS = 4  # the first at which there are several


def impulses(world, method):
    """(problem, {pair of bodies: normal and tangential impulse}) of the step, in its order."""
    sim = ds.Simulation(world, method)
    for _ in range(STEPS):
        assert sim.step().ok
    found = {}
    for contact in sim.contacts:
        n = contact["normal"]
        t = np.array((-n[1], n[0]))
        found[frozenset(contact["bodies"])] = n @ contact["impulse"], t @ contact["impulse"]
    return sim.problem(), found


def exact(problem, r):
    """(r, u) of the contacts that are open, stick and slip as in r, from their equations."""
    W, q, mu = problem.W.toarray(), np.asarray(problem.q), np.asarray(problem.mu)
    basis, rows, words = [], [], []
    for i, (normal, along) in enumerate(r):
        one, two = np.eye(q.size)[2 * i : 2 * i + 2]
        if normal < 1e-7:
            words.append("open")
        elif abs(along) < mu[i] * normal * (1 - 1e-6):
            words.append("stick")
            basis, rows = [*basis, one, two], [*rows, 2 * i, 2 * i + 1]
        else:
            words.append("slip")
            basis, rows = [*basis, one + np.sign(along) * mu[i] * two], [*rows, 2 * i]
    B = np.array(basis).T
    r = B @ np.linalg.solve(W[rows] @ B, -q[rows])
    return r.reshape(-1, 2), (W @ r + q).reshape(-1, 2), words


def test_a_pile_has_two_answers():
    neighbour = neighbours("disks-21")[19]
    scene = neighbour.scene()
    method = replace(neighbour.chosen(scene.method), sweep_tol=1e-8)
    problem, here = impulses(scene.world, method)
    cold = ds.solve(problem, "nsgs")
    assert cold.ok
    speeds = []
    for answer in (np.array(list(here.values())), cold.value.reshape(-1, 2)):
        r, u, words = exact(problem, answer)
        mu = np.asarray(problem.mu)
        for i, word in enumerate(words):  # strictly: by far more than rounding
            if word == "open":
                assert u[i, 0] > 1e-3
                continue
            assert r[i, 0] > 0.1
            assert abs(u[i, 0]) < 1e-11
            if word == "stick":
                assert abs(r[i, 1]) < mu[i] * r[i, 0] - 0.1
                assert abs(u[i, 1]) < 1e-11
            else:
                assert r[i, 1] * u[i, 1] < 0
                assert abs(u[i, 1]) > 1e-3
        speeds.append(u)
    assert np.abs(speeds[0] - speeds[1]).max() > 0.02
