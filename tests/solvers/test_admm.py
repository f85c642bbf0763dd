"""ADMM: its linear half in contact and body space, the acceleration, the penalty."""

import numpy as np
import pytest

import drystone as ds
from drystone.kernels.cones import admm as kernels
from drystone.problems.generated import disk_pile, sphere_pile
from drystone.problems.residual import project_cone
from drystone.solvers._blocks import ConeProblem
from drystone.solvers.admm import Anderson, Bodies, Formed, ManyBodies
from drystone.solvers.base import Limits
from tests.solvers.cone_problems import check_coulomb, operator_problem, random_problem


@pytest.mark.parametrize("d", [2, pytest.param(3, marks=pytest.mark.kernels), 4])
def test_linear_half_in_every_space(d):
    free, formed = operator_problem(6, d=d)
    cones = ConeProblem(free)
    W = ConeProblem(formed).W.dense
    b = np.random.default_rng(0).standard_normal((cones.nb, d))
    for rho in (0.1, 2.0):
        expected = np.linalg.solve(W + rho * np.eye(W.shape[0]), b.ravel())
        for kind, problem in ((Formed, formed), (Bodies, free), (ManyBodies, free)):
            linear = kind(ConeProblem(problem), Limits(1e-8, 60.0))
            assert linear.set(rho)
            x = linear.solve(b, 1e-13)
            np.testing.assert_allclose(x.ravel(), expected, atol=1e-9, err_msg=kind.__name__)


@pytest.mark.kernels
def test_conjugate_gradients_stop_at_the_limit_asked_for():
    cones = ConeProblem(operator_problem(8, nc=8, bodies=6)[0])
    b = np.random.default_rng(1).standard_normal((cones.nb, cones.d))
    steps = []
    for error in (1e-1, 1e-10):
        linear = ManyBodies(cones, Limits(1e-8, 60.0))
        linear.set(0.01)
        linear.solve(b, error)
        steps.append(linear.steps)
    assert steps[0] < steps[1]


def test_anderson_solves_linear_maps_in_as_many_steps_as_unknowns():
    """On v -> A v + b it is GMRES in disguise: exact after n + 1 steps, where plain takes ages."""
    rng = np.random.default_rng(2)
    n = 5
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    A = Q @ np.diag([0.999, 0.99, 0.9, 0.5, -0.5]) @ Q.T
    b = rng.standard_normal(n)
    exact = np.linalg.solve(np.eye(n) - A, b)
    v, anderson = np.zeros(n), Anderson(n, n)
    for _ in range(n + 4):
        v = anderson.next(v, A @ v + b)
    assert np.linalg.norm(v - exact) <= 1e-4 * np.linalg.norm(exact)
    assert anderson.rejected == 0


def test_anderson_rejects_what_makes_it_worse():
    anderson = Anderson(3, 1)
    v = anderson.next(np.array([0.0]), np.array([1.0]))
    v = anderson.next(v, v + 5.0)  # a larger residual than the last: back to the plain image
    assert anderson.rejected == 1
    assert v[0] == 1.0


@pytest.mark.kernels
@pytest.mark.parametrize("d", [1, 2, 3])
def test_rescaling_keeps_impulse_and_velocity(d):
    rng = np.random.default_rng(d)
    v, mu = rng.standard_normal((6, d)), rng.uniform(0, 1, 6)
    z = project_cone(v, mu)
    u = -2.0 * (v - z)
    kernels.rescale((0,) * d, v, mu, 2.0 / 0.5)
    np.testing.assert_allclose(project_cone(v, mu), z, atol=1e-14)
    np.testing.assert_allclose(-0.5 * (v - z), u, atol=1e-13)


@pytest.mark.parametrize("options", [{"memory": 0}, {"balance": False}, {"relaxation": 1.0}])
def test_plain_variants_converge_too(options):
    problem = random_problem(12, 5, 3, law="coulomb")
    assert ds.solve(problem, ds.ADMM(**options)).ok


@pytest.mark.parametrize("rho", [1e-3, 1e3])
def test_the_penalty_finds_its_size(rho):
    problem = random_problem(13, 5, 3)
    solution = ds.solve(problem, ds.ADMM(rho=rho))
    assert solution.ok
    assert solution.info["factorisations"] > 1
    assert solution.iterations < 500


@pytest.mark.parametrize("pile", [disk_pile(6), sphere_pile(3)])
def test_piles_obey_coulombs_law(pile):
    solution = ds.solve(pile.problem, "admm", tol=1e-9)
    assert solution.ok
    check_coulomb(pile.problem, solution.value, 1e-7)


@pytest.mark.parametrize("options", [{"relaxation": 2.0}, {"rho": 0.0}, {"memory": -1}])
def test_options_are_checked(options):
    with pytest.raises(ds.OptionError, match="admm"):
        ds.ADMM(**options)


def test_changes_that_underflow_are_balanced():
    """A light tower of ten boxes under a mass of 10^8: the first step is answered."""
    world = ds.World()
    world.add_ground(friction=0.5)
    for k in range(10):
        world.add_body(
            ds.Box(0.2, 0.2, 0.1), name=f"b{k}", mass=1e8 if k == 9 else 1.0, friction=0.5,
            position=(0.01 * (k % 2), 0, 0.05 + 0.1 * k),
        )  # fmt: skip
    assert np.isfinite(ds.Simulation(world).step().residual)
