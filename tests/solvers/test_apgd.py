"""Accelerated projected gradient: its kernels, and the fixed point on the slip."""

import numpy as np
import pytest
import scipy.sparse as sp

import drystone as ds
from drystone.kernels.cones import apgd as kernels
from drystone.problems.generated import disk_pile, sphere_pile
from drystone.solvers._blocks import ConeProblem, mass_root
from drystone.solvers.apgd import _State
from tests.solvers.cone_problems import check_coulomb, operator_problem, random_problem, third_party


@pytest.mark.kernels
@pytest.mark.parametrize("d", [2, 3])
def test_both_kernels_take_the_same_steps(d):
    """Matrix-free and formed products differ by rounding only."""
    free, formed = operator_problem(3, d=d)
    one, two = (_State(ConeProblem(p), np.zeros((5, d))) for p in (free, formed))
    s = np.linspace(0.0, 0.1, 5)
    one.advance(s, 30)
    two.advance(s, 30)
    np.testing.assert_allclose(one.r, two.r, atol=1e-8)
    np.testing.assert_allclose(one.u, two.u, atol=1e-8)


@pytest.mark.kernels
def test_steps_do_not_increase_the_objective_beyond_the_start():
    """f(r) = 1/2 r'Wr + q'r falls below f(0) = 0 and settles (backtracking guards each step)."""
    problem = random_problem(4, 6, 3)
    cones = ConeProblem(problem)
    state = _State(cones, np.zeros((6, 3)))
    values = []
    for _ in range(20):
        state.advance(np.zeros(6), 5)
        r, u = state.r, state.u
        values.append(0.5 * np.vdot(r, u + cones.q))
    assert max(values) <= 0.0
    assert values[-1] == pytest.approx(min(values), abs=1e-9)


@pytest.mark.kernels
def test_momentum_is_nesterovs_and_restarts():
    state = np.array([1.0, 1.0, 0.0, 0.0])
    assert kernels.momentum(state, -1.0) == 0.0  # theta_0 = 1: the first step has no momentum
    betas = [kernels.momentum(state, -1.0) for _ in range(200)]
    assert 0 < betas[0] < betas[1] < betas[-1] < 1
    assert betas[-1] == pytest.approx(1 - 3 / 202, abs=1e-3)  # 1 - 3/k asymptotically
    assert kernels.momentum(state, 1.0) == 0.0
    assert state[0] == 1.0
    assert state[2] == 1.0


def test_mass_root():
    rng = np.random.default_rng(0)
    blocks = [np.diag([2.0, 3.0]), np.zeros((2, 2)), np.array([[2.0, 1.0], [1.0, 2.0]])]
    A = rng.standard_normal((4, 4))
    inverse = sp.csr_array(sp.block_diag([*blocks, A @ A.T]))
    root = mass_root(inverse)
    np.testing.assert_allclose((root @ root).toarray(), inverse.toarray(), atol=1e-12)


@pytest.mark.parametrize("pile", [disk_pile(6), sphere_pile(3)])
def test_piles_obey_coulombs_law(pile):
    solution = ds.solve(pile.problem, "apgd")
    assert solution.ok
    check_coulomb(pile.problem, solution.value, 1e-6)


@pytest.mark.parametrize(("pile", "angle"), [(disk_pile, np.pi / 12), (sphere_pile, np.pi / 8)])
def test_a_small_pile_stands_exactly_when_friction_suffices(pile, angle):
    """A ball on the floor, pressed by one above at the angle 2a from the vertical, neither slides
    nor rolls if mu >= tan a at both contacts (its force from above must point at the one below).
    """
    for factor in (0.98, 1.02):
        mu = factor * np.tan(angle)
        small = pile(2, friction=mu, disturbance=0.0, dt=0.01)
        solution = ds.solve(small.problem, "apgd", tol=1e-9)
        assert solution.ok
        speed = np.abs(solution.dual).max() / (9.81 * 0.01)
        if factor < 1:
            assert speed > 1e-4
            continue
        assert speed < 1e-6
        dim = small.problem.dim
        floor = solution.value.reshape(-1, dim)[small.pairs[:, 1] < 0, 0].sum()
        # impulse that gravity gives all bodies in dt: mass from one diagonal entry of M^-1
        mass = len(small.centres) / small.problem.W.inverse_mass.diagonal()[0]
        assert floor == pytest.approx(mass * 9.81 * 0.01, rel=1e-6)


def test_options_are_checked():
    with pytest.raises(ds.OptionError, match="max_iterations"):
        ds.APGD(max_iterations=0)


@pytest.mark.problems
@pytest.mark.parametrize(
    "name", ["Capsules-i101-404.dat", "fc2d_granularflowonwall_02020_00213.dat"]
)
def test_third_party_problems(name):
    assert ds.solve(third_party(name), "apgd", time_limit=1e9).ok
