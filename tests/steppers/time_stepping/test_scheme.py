"""The step's problem itself: by hand, as LCP, as cone program, by every solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import drystone as ds
from tests.steppers.time_stepping.worlds import G, block, particle, run, tumble

H = 0.01


def stepped(world, **options):
    sim = ds.Simulation(world, ds.TimeStepping(dt=H, **options))
    sim.step()
    return sim


@pytest.mark.parametrize("planar", [True, False])
def test_one_contact_by_hand(planar):
    """(7): r_n stops the fall, friction mu r_n is less than what would stop the slide."""
    down, along = -1.0, 3.0
    start = (along, down) if planar else (along * 0.6, along * 0.8, down)
    sim = stepped(particle(planar, velocity=start), stabilize=False)
    impulse = 2.0 * (G * H - down)  # m (g h - v_n)
    expected = np.array(start) * (1 - 0.5 * impulse / 2.0 / along)
    expected[-1] = 0.0
    assert np.allclose(sim.body("p").velocity, expected, atol=1e-9)
    contact = sim.contacts[0]
    assert np.isclose(contact["impulse"][-1], impulse)
    assert np.isclose(np.linalg.norm(contact["impulse"][:-1]), 0.5 * impulse)
    assert contact["state"] == "slip"
    assert np.isclose(contact["force"][-1], impulse / H)
    assert list(contact["bodies"]) in (["p", "ground"], ["ground", "p"])


def test_one_contact_sticks_or_opens():
    sim = stepped(particle(velocity=(0.01, -1.0)))
    assert np.allclose(sim.body("p").velocity, 0, atol=1e-12)
    assert sim.contacts["state"][0] == "stick"
    sim = stepped(particle(velocity=(0.5, 1.0)))
    assert np.allclose(sim.body("p").velocity, [0.5, 1.0 - G * H])


def test_stabilised_row_by_hand():
    """(2.9): a gap of h/4 lets the particle fall by it; a depth is pushed out in one step."""
    gap = 0.25 * H
    sim = stepped(particle(velocity=(0.0, -1.0), gap=gap))
    assert np.isclose(sim.body("p").velocity[1], -gap / H, rtol=1e-9)
    assert abs(sim.body("p").position[1] - 0.1) < 1e-9
    sim = stepped(particle(gap=-1e-5))
    assert np.isclose(sim.body("p").velocity[1], 1e-5 / H, rtol=1e-4)


def lcp_velocity(sim, k):
    """Body velocities from the LCP of the step's problem, by Lemke."""
    problem = sim.problem()
    cone = 2 if problem.dim == 2 else k
    pyramid = ds.FrictionProblem(
        problem.W, problem.q, problem.mu, dim=problem.dim, law=problem.law, cone=cone
    )
    lcp = ds.to_lcp(pyramid, cone)
    solution = ds.solve(lcp.lcp, "lemke")
    assert solution.ok
    r = lcp.value(solution.value).reshape(-1, problem.d)
    stepper = sim._stepper
    v = stepper.buffers.s.v_free.copy()
    stepper.rows.push(r, v)
    return v


@pytest.mark.parametrize("law", ["coulomb", "convex"])
@pytest.mark.parametrize("planar", [True, False])
def test_the_stepper_solves_the_papers_lcp(planar, law):
    """Velocities of a step with a polyhedral cone, and of the LCP that ds.solve gets."""
    k = 2 if planar else 8
    world = block(angle=0.7, planar=planar, velocity=1.0)
    sim = stepped(world, cone=k, formulation=law)
    assert sim.report.ok
    assert np.allclose(sim.state.velocity, lcp_velocity(sim, k), atol=1e-7)


def test_velocity_converges_in_the_number_of_directions():
    """Towards the circular cone as k grows. Sliding friction takes the nearest of k directions,
    at most pi / k away: the velocity is off by O(1 / k), its length by O(1 / k^2)."""

    def velocity(cone):
        world = particle(planar=False, velocity=(2.0, 0.9, -1.0))
        return stepped(world, cone=cone).body("p").velocity

    exact = velocity("circular")
    friction = 0.5 * (1.0 + G * H)  # mu r_n / m
    for k in (4, 8, 16, 32, 64, 128):
        v = velocity(k)
        assert np.linalg.norm(v - exact) <= 1.05 * friction * 2 * np.sin(np.pi / (2 * k)), k
        lost = abs(np.linalg.norm(v) - np.linalg.norm(exact))
        assert lost <= friction * (np.pi / k) ** 2, k


def weighed(sim):
    """M of all moving bodies, dense, and the free velocity."""
    stepper = sim._stepper
    model, s = stepper.model, stepper.buffers.s
    n = model.dof
    M = np.zeros((model.nb * n, model.nb * n))
    for i in range(model.nb):
        at = i * n
        M[at : at + model.dim, at : at + model.dim] = model.mass[i] * np.eye(model.dim)
        M[at + model.dim : at + n, at + model.dim : at + n] = s.inertia[i]
    moving = np.repeat(model.inverse_mass > 0, n)
    return M, s.v_free, moving


def convex_program(sim):
    """The relaxation: min 1/2 |v - v_free|_M^2 with u_n + bias >= mu |u_t| at every contact."""
    M, v_free, moving = weighed(sim)
    rows = sim._stepper.rows
    bias, mu = sim._stepper.solved.q - rows.velocities(v_free), sim._stepper.solved.mu
    M = M[np.ix_(moving, moving)]
    L = np.linalg.cholesky(M)
    shape = v_free.shape

    def full(y):
        v = v_free.copy().ravel()
        v[moving] += np.linalg.solve(L.T, y)
        return v.reshape(shape)

    def margin(y):
        u = rows.velocities(full(y)) + bias
        return u[:, 0] - mu * np.sqrt((u[:, 1:] ** 2).sum(axis=1) + 1e-24)

    found = minimize(
        lambda y: 0.5 * y @ y, np.zeros(moving.sum()), jac=lambda y: y, method="SLSQP",
        constraints={"type": "ineq", "fun": margin}, options={"maxiter": 500, "ftol": 1e-15},
    )  # fmt: skip
    return full(found.x)


@pytest.mark.parametrize("planar", [True, False])
def test_convex_formulation_is_the_cone_program(planar):
    """The stepper's v' minimises the kinetic distance under the cone (an independent optimiser)."""
    world = block(angle=0.6, planar=planar, velocity=-0.5)
    sim = stepped(world, formulation="convex")
    expected = convex_program(sim)
    assert np.allclose(sim._stepper.solved.v, expected, atol=2e-6)


def test_convex_formulation_by_lcp_and_qp():
    """In the plane, where the LCP is exact: lemke, qp, interior-point: the same v'."""
    velocities = []
    for solver in ("auto", "lemke", "qp", "interior-point"):
        world = block(angle=0.6, planar=True, velocity=-0.5)
        sim = stepped(world, formulation="convex", solver=solver)
        assert sim.report.ok, solver
        velocities.append(sim.state.velocity.copy())
    for v in velocities[1:]:
        assert np.allclose(v, velocities[0], atol=1e-6)


def test_relaxation_lifts_by_mu_times_slip_and_is_exact_when_sticking():
    sliding = {law: stepped(particle(velocity=(3.0, 0.0)), formulation=law) for law in
               ("coulomb", "convex")}  # fmt: skip
    v = {law: sim.body("p").velocity for law, sim in sliding.items()}
    assert np.isclose(v["convex"][1], 0.5 * abs(v["convex"][0])), "(2.10): u_n = mu lambda"
    bound = 2.0 * 0.5 * abs(v["coulomb"][0])  # const * max mu lambda
    assert np.linalg.norm(v["convex"] - v["coulomb"]) <= bound
    sticking = [stepped(block(angle=0.3), formulation=law) for law in ("coulomb", "convex")]
    assert np.allclose(*(sim.state.velocity for sim in sticking), atol=1e-9)


@settings(deadline=None, derandomize=True, max_examples=15)
@given(st.floats(0.05, 5), st.floats(-2, 0.5), st.floats(0.0, 1.0))
def test_distance_of_the_relaxation(speed, fall, mu):
    """Of one contact: |v_convex - v_coulomb| <= sqrt(1 + mu^2) mu lambda, with lambda the slip."""
    both = []
    for law in ("coulomb", "convex"):
        world = particle(velocity=(speed, fall), friction=mu)
        both.append(stepped(world, formulation=law).body("p").velocity)
    slip = max(abs(v[0]) for v in both)
    assert np.linalg.norm(both[1] - both[0]) <= np.hypot(1, mu) * mu * slip + 1e-9


NAMES = (
    "auto", "nsgs", "newton", "interior-point", "admm", "apgd", "lemke", "dantzig", "enumerative",
    "pgs", "qp",
)  # fmt: skip
SMOOTH = set(NAMES[:6])
TAKES = {
    (True, "coulomb"): SMOOTH | {"lemke", "dantzig", "enumerative", "pgs"},
    (True, "convex"): SMOOTH | {"lemke", "enumerative", "qp"},
    (False, "coulomb"): SMOOTH,
    (False, "convex"): SMOOTH | {"qp"},
}


@pytest.mark.parametrize("solver", NAMES)
@pytest.mark.parametrize("law", ["coulomb", "convex"])
@pytest.mark.parametrize("planar", [True, False])
def test_every_solver_gives_the_same_velocities(solver, law, planar):
    """Of a particle that falls, slides and stays, over 20 steps; or it says why not."""
    start = (0.4, -0.5) if planar else (0.3, 0.2, -0.5)

    def velocities(name):
        sim = ds.Simulation(
            particle(planar, velocity=start, gap=0.01),
            ds.TimeStepping(dt=H, solver=name, formulation=law, tol=1e-9),
        )
        out = []
        for _ in range(20):
            report = sim.step()
            assert report.ok, report.status
            out.append(sim.body("p").velocity)
        return np.array(out)

    if solver not in TAKES[planar, law]:
        with pytest.raises(ds.UnsupportedProblemError, match=solver):
            velocities(solver)
        return
    found = velocities(solver)
    assert np.allclose(found, velocities("auto"), atol=1e-6)
    assert abs(found[-1, 0]) < 1e-6, "it stopped"


@pytest.mark.parametrize("solver", ["nsgs", "newton", "interior-point"])
def test_solvers_agree_on_many_contacts(solver):
    """The first 60 steps of a tumble: velocities are unique here."""
    expected = run(tumble(7), 0.25)[0].state.velocity
    found = run(tumble(7), 0.25, solver=solver, tol=1e-10)[0]
    assert found.report.ok
    assert np.allclose(found.state.velocity, expected, atol=1e-5)


def test_conditions_of_the_law_are_met_at_every_step():
    """(10) to (13) as residuals, over a whole tumble with slip, stick and impacts."""
    _, kept = run(tumble(2), 1.0)
    scale = 50.0  # greatest impulse [N s], by far
    for report in kept.reports:
        c = report.conditions
        assert report.ok
        assert c.least_impulse >= 0
        assert c.least_velocity >= -1e-6
        assert abs(c.complementarity) <= 1e-5 * scale
        assert c.cone <= 1e-6 * scale
        assert c.power <= 1e-9 * scale
        assert abs(c.dissipation) <= 1e-5 * scale


@pytest.mark.parametrize("k", [4, 8])
def test_pyramids_of_bodies_on_more_points_than_they_need(k):
    """Boxes that come to lie on faces make the LCP degenerate: Lemke still solves every step."""
    _, kept = run(tumble(2, n=3), 1.3, cone=k)
    assert all(report.ok for report in kept.reports)
    assert kept.series("residual").max() < 1e-8
    assert np.diff(kept.series("total")).max() < 1e-3, "and none of its answers explodes"
