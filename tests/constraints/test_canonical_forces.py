"""Canonical contact forces against statics, symmetry and a general minimiser."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

import drystone as ds
from drystone.constraints import canonical
from drystone.constraints.canonical import CanonicalForces

G = 9.81
SOLVERS = ("auto", "nsgs", "newton", "interior-point", "admm", "apgd")


def ran(world, duration=0.05, forces="auto", **options):
    sim = ds.Simulation(world, ds.TimeStepping(**options), forces=forces)
    sim.run(duration)
    assert sim.report.ok
    return sim


def on_ground(planar=False, friction=0.6, gravity=None):
    world = ds.World(planar=planar) if gravity is None else ds.World(planar=planar, gravity=gravity)
    world.add_ground(friction=friction)
    return world


def box(mass=4.0, gravity=None, friction=0.6, **given):
    world = on_ground(friction=friction, gravity=gravity)
    given = {"position": (0, 0, 0.03)} | given
    world.add_body(ds.Box(0.2, 0.1, 0.06), mass=mass, friction=friction, **given)
    return world


def brick_stack(count=10):
    world = on_ground()
    for k in range(count):
        world.add_body(
            ds.Box(0.2, 0.1, 0.06), name=f"brick{k}", density=1800, friction=0.6,
            position=(0, 0, 0.03 + 0.06 * k),
        )  # fmt: skip
    return world


def crooked(order=(0, 1, 2), turn=None, size=1.0, gravity=(1.0, 0.7, -G)):
    """Three boxes on each other, none above the middle of the one below, under a slanted load."""
    world = on_ground(friction=0.5, gravity=gravity)
    sizes = ((0.4, 0.3, 0.2), (0.4, 0.3, 0.2), (0.2, 0.2, 0.2))
    places = ((0, 0, 0.1), (0.13, 0.05, 0.3), (0.2, 0.1, 0.5))
    for k in order:
        place, given = np.array(places[k]), {}
        if turn is not None:
            c, s = np.cos(turn), np.sin(turn)
            place = np.array([c * place[0] - s * place[1], s * place[0] + c * place[1], place[2]])
            given = {"orientation": (np.cos(turn / 2), 0, 0, np.sin(turn / 2))}
        world.add_body(
            ds.Box(*(size * np.array(sizes[k]))), name="abc"[k], density=1000 + 700 * k,
            friction=0.5, position=size * place, **given,
        )  # fmt: skip
    return world


def legs(feet, centre=(0.0, 0.0)):
    """A table of 10 kg on spheres; its centre of mass above a point of the floor."""
    world = on_ground()
    parts = [(ds.Sphere(0.02), (x, y, 0.02)) for x, y in feet]
    world.add_body(
        [*parts, (ds.Box(1.2, 1.2, 0.05), (0, 0, 0.7))], mass=10.0, inertia=(1, 1, 1),
        centre_of_mass=(*centre, 0.5), friction=0.6, name="table", position=(0, 0, 0),
    )  # fmt: skip
    return world


def by_place(table, digits=6):
    """The forces in an order that depends on points alone."""
    return table[np.lexsort(np.round(table["point"], digits).T)]


def wrenches(sim, table):
    """{body: force and moment about the origin}, of bodies that move."""
    moves = dict(zip(sim.model.names, sim.model.inverse_mass > 0, strict=True))
    out, dim = {}, sim.model.dim
    for row in table:
        f, p = np.zeros(3), np.zeros(3)
        f[:dim], p[:dim] = row["force"], row["point"]
        twist = np.zeros(3)
        twist[:dim] = row["spin"] / sim.method.dt * row["normal"]
        wrench = np.concatenate([f, np.cross(p, f) + (twist if dim == 3 else 0.0)])
        for body, sign in zip(row["bodies"].tolist(), (1.0, -1.0), strict=True):
            if moves[body]:
                out[body] = out.get(body, 0.0) + sign * wrench
    return out


def raw(sim):
    return sim.stepper.contact_table()


def check(sim):
    """The same wrench on each body, forces in their cones, friction against slip, no larger norm;
    the forces as they were are not these."""
    before, after = raw(sim), sim.contacts
    assert sim.canonical_forces.all()
    old, new = wrenches(sim, before), wrenches(sim, after)
    scale = np.abs(before["force"]).max()
    for body in old:
        assert np.allclose(old[body], new[body], rtol=0, atol=1e-10 * scale), body
    n, f, mu = after["normal"], after["force"], after["friction"]
    pressed = (f * n).sum(axis=1)
    along = f - pressed[:, None] * n
    rubbed = np.sqrt((along**2).sum(axis=1))
    assert (pressed >= -1e-12 * scale).all()
    assert (rubbed <= mu * pressed + 1e-7 * scale).all()
    slip = after["velocity"] - (after["velocity"] * n).sum(axis=1)[:, None] * n
    speed = np.sqrt((slip**2).sum(axis=1))
    slides = (after["state"] == "slip") & (mu > 0)
    work = (along * slip).sum(axis=1)[slides]
    assert np.allclose(work, -(mu * pressed * speed)[slides], rtol=1e-6, atol=1e-12 * scale)
    assert (f**2).sum() <= (before["force"] ** 2).sum() * (1 + 1e-9)


def test_a_box_stands_on_four_equal_corners():
    sim = ran(box())
    assert np.allclose(sim.contacts["force"], [0, 0, G], rtol=0, atol=1e-8)
    assert np.abs(raw(sim)["force"][:, :2]).max() > 0.1  # what it mends
    assert sim.contacts["state"].tolist() == ["stick"] * 4
    check(sim)


def test_a_square_in_the_plane_pushes_nothing_sideways():
    world = on_ground(planar=True)
    square = ds.Polygon([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    world.add_body(square, mass=10.0, friction=0.6, position=(0, 0.5))
    sim = ran(world)
    assert np.allclose(sim.contacts["force"], [0, 5 * G], rtol=0, atol=1e-8)
    check(sim)


def test_the_stack_of_the_readme():
    sim = ran(brick_stack())
    weight = 1800 * 0.2 * 0.1 * 0.06 * G
    for row in sim.contacts:
        above = 10 - max(
            int(name.removeprefix("brick")) for name in row["bodies"] if name != "ground"
        )
        assert np.allclose(np.abs(row["force"]), [0, 0, above * weight / 4], rtol=0, atol=1e-7)
    check(sim)


def test_a_lintel_is_symmetric():
    world = on_ground()
    for x in (-0.4, 0.4):
        world.add_body(ds.Box(0.2, 0.2, 0.6), density=1800, friction=0.6, position=(x, 0, 0.3))
    world.add_body(ds.Box(1, 0.2, 0.2), density=1800, friction=0.6, position=(0, 0, 0.7))
    sim = ran(world)
    check(sim)
    mirrored(sim.contacts)


def mirrored(table):
    """Contacts at x and -x have mirrored forces, up to which of the two bodies is named first."""
    up = np.where(table["normal"][:, 2] >= 0, 1.0, -1.0)[:, None] * table["force"]
    scale = np.abs(up).max()
    for i, point in enumerate(table["point"]):
        other = np.abs(table["point"] - point * [-1, 1, 1]).sum(axis=1).argmin()
        assert np.allclose(up[other], up[i] * [-1, 1, 1], rtol=0, atol=1e-7 * scale)


def test_an_arch_is_symmetric():
    scene = ds.scene("arch")
    sim = ds.Simulation(scene.world, scene.method)
    sim.run(0.05)
    check(sim)
    ends = sim.contacts[(sim.contacts["bodies"] == "ground").any(axis=1)]
    mirrored(ends)
    assert ends["force"][:, 2].sum() == pytest.approx(sim.model.mass.sum() * G, rel=1e-9)


def test_a_block_that_sticks_on_a_slope_shares_friction_evenly():
    tilt = np.deg2rad(20)
    sim = ran(box(mass=1.0, gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt))))
    f, x = sim.contacts["force"], sim.contacts["point"][:, 0]
    assert np.allclose(f[:, 0], -G * np.sin(tilt) / 4, rtol=0, atol=1e-8)
    assert np.allclose(f[:, 1], 0, rtol=0, atol=1e-8)
    # moment about the middle of its base: friction acts 0.03 m below the centre of mass
    more = G * np.sin(tilt) * 0.03 / (4 * 0.1)
    assert np.allclose(f[:, 2], G * np.cos(tilt) / 4 + np.sign(x) * more, rtol=0, atol=1e-8)
    check(sim)


def test_a_slider_is_braked_against_its_slip():
    sim = ran(box(velocity=(1.0, 0.5, 0), friction=0.3), duration=0.02)
    way = sim.body("body0").velocity
    assert sim.contacts["state"].tolist() == ["slip"] * 4
    total = sim.contacts["force"].sum(axis=0)
    assert np.allclose(total[:2], -0.3 * 4 * G * way[:2] / np.hypot(*way[:2]), rtol=1e-8)
    check(sim)


def test_three_legs_are_determined_by_statics():
    feet, centre = np.array([(0.5, 0.0), (-0.3, 0.4), (-0.2, -0.5)]), (0.05, -0.02)
    sim = ran(legs(feet, centre))
    found = sim.contacts
    loads = np.linalg.solve(
        np.vstack([np.ones(3), found["point"][:, :2].T]), 10 * G * np.array([1.0, *centre])
    )
    assert np.allclose(found["force"][:, 2], loads, rtol=0, atol=1e-7)
    assert np.allclose(found["force"][:, :2], 0, rtol=0, atol=1e-7)
    check(sim)


def test_four_legs_have_the_least_norm():
    """Under a load beside the middle the least norm is linear in the place: N = W/4 (1 + ...)."""
    feet = np.array([(0.5, 0.4), (-0.5, 0.4), (-0.5, -0.4), (0.5, -0.4)])
    x, y = 0.1, -0.06
    sim = ran(legs(feet, (x, y)))
    p = sim.contacts["point"][:, :2]
    loads = 10 * G / 4 * (1 + x * p[:, 0] / 0.25 + y * p[:, 1] / 0.16)
    assert np.allclose(sim.contacts["force"][:, 2], loads, rtol=0, atol=1e-7)
    assert np.allclose(sim.contacts["force"][:, :2], 0, rtol=0, atol=1e-7)
    check(sim)


def test_a_leg_that_would_pull_carries_nothing():
    """So far out that the plain solution of least norm pulls one foot down: three carry."""
    feet = np.array([(0.5, 0.4), (-0.5, 0.4), (-0.5, -0.4), (0.5, -0.4)])
    sim = ran(legs(feet, (0.28, 0.2)))
    table = sim.contacts
    far = np.abs(table["point"][:, :2] - feet[2]).sum(axis=1).argmin()
    assert np.allclose(table["force"][far], 0, rtol=0, atol=1e-12)
    assert table["state"][far] == "open"
    three = np.delete(np.arange(4), far)
    loads = np.linalg.solve(
        np.vstack([np.ones(3), table["point"][three, :2].T]), 10 * G * np.array([1.0, 0.28, 0.2])
    )
    assert np.allclose(table["force"][three, 2], loads, rtol=0, atol=1e-7)
    check(sim)


@pytest.mark.parametrize("friction", [0.15, 0.5])
def test_a_disk_in_a_groove_takes_the_least_of_its_self_stress(friction):
    """By symmetry N and T are equal on both sides, N + tan(a) T = W / (2 cos a): the least norm is
    T = tan(a) N if friction bears that, else T = mu N."""
    half = np.deg2rad(30)
    world = ds.World(planar=True)
    for side in (-1, 1):
        normal = (-side * np.sin(half), np.cos(half))
        world.add_body(ds.HalfPlane(normal), name=f"side{side}", fixed=True, friction=friction)
    world.add_body(ds.Disk(0.1), mass=2.0, friction=friction, position=(0, 0.1 / np.cos(half)))
    sim = ran(world, duration=0.02)
    assert len(sim.contacts) == 2
    n, f = sim.contacts["normal"], sim.contacts["force"]
    f = np.where(sim.contacts["bodies"][:, :1] == "body2", 1.0, -1.0) * f
    n = np.where(sim.contacts["bodies"][:, :1] == "body2", 1.0, -1.0) * n
    pressed = (f * n).sum(axis=1)
    rubbed = np.sqrt(((f - pressed[:, None] * n) ** 2).sum(axis=1))
    part = min(np.tan(half), friction)
    N = 2.0 * G / 2 / (np.cos(half) + part * np.sin(half))
    assert np.allclose(pressed, N, rtol=1e-8)
    assert np.allclose(rubbed, part * N, rtol=1e-8)
    check(sim)


def test_a_crooked_stack_against_a_general_minimiser():
    sim = ran(crooked())
    check(sim)
    table = sim.contacts
    k = len(table)
    names = [name for name, m in zip(sim.model.names, sim.model.mass, strict=True) if m > 0]
    A = np.zeros((6 * len(names), 3 * k))
    for i, row in enumerate(table):
        for body, sign in zip(row["bodies"].tolist(), (1.0, -1.0), strict=True):
            if body in names:
                at = 6 * names.index(body)
                A[at : at + 3, 3 * i : 3 * i + 3] = sign * np.eye(3)
                x, y, z = row["point"]
                A[at + 3 : at + 6, 3 * i : 3 * i + 3] = sign * np.array(
                    [[0, -z, y], [z, 0, -x], [-y, x, 0]]
                )
    start = raw(sim)["force"].ravel() / 100
    normal = table["normal"]

    def inside(v):
        v = v.reshape(k, 3)
        pressed = (v * normal).sum(axis=1)
        along = v - pressed[:, None] * normal
        return np.concatenate([0.25 * pressed**2 - (along**2).sum(axis=1), pressed])

    found = minimize(
        lambda v: 0.5 * v @ v, start, jac=lambda v: v, method="SLSQP",
        constraints=[
            {"type": "eq", "fun": lambda v: A @ (v - start), "jac": lambda v: A},
            {"type": "ineq", "fun": inside},
        ],
        options={"ftol": 1e-15, "maxiter": 1000},
    )  # fmt: skip
    mine = table["force"].ravel() / 100
    assert mine @ mine <= found.x @ found.x * (1 + 1e-9)
    assert np.allclose(mine, found.x, rtol=0, atol=1e-4)


@pytest.mark.parametrize("solver", SOLVERS[1:])
def test_forces_do_not_depend_on_the_solver(solver):
    usual, other = (by_place(ran(crooked(), solver=name).contacts) for name in ("auto", solver))
    scale = np.abs(usual["force"]).max()
    # motions agree up to the solvers' tolerance, and no better
    assert np.allclose(other["force"], usual["force"], rtol=0, atol=1e-6 * scale)
    assert (other["state"] == usual["state"]).all()


@pytest.mark.parametrize("cone", [8, 4, ds.EllipticCone((1.0, 0.6), 0.3), ds.SoftFingerCone(0.01)])
@pytest.mark.parametrize("formulation", ["coulomb", "convex"])
def test_other_cones_and_the_convex_law(cone, formulation):
    sim = ran(crooked(), cone=cone, formulation=formulation)
    old, new = wrenches(sim, raw(sim)), wrenches(sim, sim.contacts)
    for body in old:
        assert np.allclose(old[body], new[body], rtol=0, atol=1e-8)
    assert sim.canonical_forces.all()
    if isinstance(cone, int):
        assert (sim.contacts["force"] ** 2).sum() < (raw(sim)["force"] ** 2).sum()


def test_the_convex_law_at_rest_has_the_same_forces():
    a, b = (by_place(ran(crooked(), formulation=law).contacts) for law in ("coulomb", "convex"))
    assert np.allclose(a["force"], b["force"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_sliding_stacks_keep_the_law(law):
    world = on_ground(friction=0.3)
    for k in range(3):
        world.add_body(
            ds.Box(0.2, 0.2, 0.1), density=1000, friction=0.3, position=(0, 0, 0.05 + 0.1 * k),
            velocity=(1.0 + k, 0.2 * k, 0),
        )  # fmt: skip
    sim = ran(world, 1 / 240, formulation=law)
    check(sim)
    assert "slip" in sim.contacts["state"].tolist()


def test_order_of_bodies_and_frame_do_not_matter():
    usual = by_place(ran(crooked()).contacts)
    other = by_place(ran(crooked(order=(2, 0, 1))).contacts)
    first = np.where(other["normal"][:, 2] == usual["normal"][:, 2], 1.0, -1.0)[:, None]
    assert np.allclose(first * other["force"], usual["force"], rtol=0, atol=1e-6)
    turn = 0.7
    c, s = np.cos(turn), np.sin(turn)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    turned = ran(crooked(turn=turn, gravity=tuple(R @ [1.0, 0.7, -G]))).contacts
    for row in usual:
        near = np.abs(turned["point"] - R @ row["point"]).sum(axis=1).argmin()
        sign = 1.0 if turned["normal"][near][2] * row["normal"][2] > 0 else -1.0
        assert np.allclose(sign * turned["force"][near], R @ row["force"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", [1e-2, 1e2])
def test_units_do_not_matter(size):
    """Lengths in other units, and times so that gravity has the same number."""
    usual = by_place(ran(crooked()).contacts)
    step = 1 / 240 * np.sqrt(size)
    sim = ran(crooked(size=size), duration=12 * step, dt=step)
    other = sim.contacts.copy()
    other["point"] /= size
    assert np.allclose(by_place(other)["force"] / size**3, usual["force"], rtol=0, atol=1e-5)


def test_raw_forces_and_bad_choices():
    sim = ran(box(), forces="raw")
    assert np.array_equal(sim.contacts, raw(sim))
    assert not sim.canonical_forces.any()
    sim.forces = "canonical"
    assert np.allclose(sim.contacts["force"], [0, 0, G], rtol=0, atol=1e-8)
    for wrong in ("least", None, 3):
        with pytest.raises(ds.OptionError, match="expected one of 'auto', 'canonical', 'raw'"):
            sim.forces = wrong
        with pytest.raises(ds.OptionError, match="forces"):
            ds.Simulation(box(), forces=wrong)


def test_large_islands_are_canonical_on_demand():
    world = on_ground()
    world.add_body(ds.Box(4, 4, 0.2), density=1000, friction=0.6, position=(0, 0, 0.1))
    for k in range(105):
        place = (0.3 * (k % 10) - 1.4, 0.3 * (k // 10) - 1.4, 0.3)
        world.add_body(ds.Box(0.2, 0.2, 0.2), density=1000, friction=0.6, position=place)
    sim = ran(world)
    assert len(sim.contacts) == 424
    assert np.array_equal(sim.contacts, raw(sim))
    assert not sim.canonical_forces.any()
    sim.forces = "canonical"
    check(sim)
    assert np.abs(sim.contacts["force"][:, :2]).max() <= 1e-8 * sim.model.mass.sum() * G


def test_read_again_copied_restored_recorded_and_resumed_to_the_bit(tmp_path):
    """What is read depends on nothing but what the step left."""
    sim = ds.Simulation(brick_stack(3))
    sim.run(0.05)
    read = sim.contacts
    assert read.tobytes() == sim.contacts.tobytes()
    read["force"] = 0.0
    assert sim.contacts["force"].any()
    moment = sim.snapshot()
    twin, before = deepcopy(sim), sim.contacts
    assert twin.contacts.tobytes() == before.tobytes()
    kept = sim.run(0.05, record=True, contacts=True)
    after = sim.contacts
    assert kept.contacts(-1).tobytes() == after.tobytes()
    assert kept.contacts(-1, forces="raw").tobytes() == raw(sim).tobytes()
    sim.restore(moment)
    assert sim.contacts.tobytes() == before.tobytes()
    rec = sim.run(0.05, record=tmp_path / "stack.h5", every=1)
    assert sim.contacts.tobytes() == after.tobytes()
    assert rec.contacts(-1).tobytes() == after.tobytes()
    assert rec.contacts(-1, forces="raw").tobytes() == raw(sim).tobytes()
    with pytest.raises(ds.OptionError, match="forces"):
        rec.contacts(-1, forces="best")
    rec.close()


def test_methods_that_compute_forces_themselves_are_read_as_they_are():
    for method in (ds.EventDriven(), ds.Penalty()):
        sim = ds.Simulation(box(), method)
        sim.run(0.02)
        assert np.array_equal(sim.contacts, raw(sim))
        assert not sim.canonical_forces.any()


def test_readings_say_which_forces_they_have(tmp_path, monkeypatch):
    """A stack whose island is larger than "auto" takes, and a box beside it."""
    monkeypatch.setattr(canonical, "AUTO_CONTACTS", 4)
    world = brick_stack(2)
    world.add_body(ds.Box(0.2, 0.1, 0.06), mass=1.0, friction=0.6, position=(1, 0, 0.03))
    sim = ds.Simulation(world)
    assert sim.forces_read == "none"
    kept = sim.run(0.02, record=True, contacts=True)
    assert sim.forces_read == kept.forces_read(-1) == "canonical in part"
    assert kept.forces_read(0) == "none"
    with sim.run(0.02, record=tmp_path / "a.h5") as rec:
        assert rec.forces_read(-1) == "canonical in part"
        assert rec.forces_read(-1, forces="canonical") == "canonical"
        assert rec.forces_read(-1, forces="raw") == "raw"
        assert rec.forces_read(0) == "none"
        with pytest.raises(ds.OptionError, match="forces"):
            rec.forces_read(-1, forces="best")
    sim.forces = "canonical"
    assert sim.forces_read == "canonical"
    sim.forces = "raw"
    assert sim.forces_read == "raw"


def test_pictures_say_which_forces_they_show():
    from drystone.plots.states import draw_chains
    from drystone.plots.steps import draw_forces_over_time
    from drystone.view import panel
    from drystone.view.player.blob import Blob
    from drystone.view.player.contacts import add_contacts
    from drystone.view.sources import Live

    plt = pytest.importorskip("matplotlib.pyplot")
    for method, word in ((ds.TimeStepping(), "canonical"), (ds.Penalty(), "raw")):
        sim = ds.Simulation(box(), method)
        run = sim.run(0.02, record=True, contacts=True)
        assert sim.forces_read == run.forces_read(-1) == word
        figure, (one, two) = plt.subplots(2)
        draw_forces_over_time(one, run)
        draw_chains(two, run)
        texts = [axes.get_ylabel() for axes in figure.axes]
        for text in figure.findobj(plt.Text):
            texts.append(text.get_text())
        assert f"contact force ({word}) [N]" in texts
        assert f"contact force ({word})" in texts
        plt.close(figure)
        for picked in (("contact", 0), ("body", 1)):
            said = panel.selected_text(picked, Live(sim), sim.state, sim.contacts)
            assert f"| forces | {word} |" in said
        frames = np.arange(1, len(run.time))  # as a file has them: no contacts at the start
        packed = add_contacts(Blob(), run, frames, np.asarray(run.time)[1:])
        assert packed["read"] == word


def test_friction_along_an_axis_of_a_body_is_left():
    world = box(cone=ds.EllipticCone((1.0, 0.5)), cone_axis=(1, 0, 0))
    sim = ran(world)
    assert np.array_equal(sim.contacts, raw(sim))
    assert not sim.canonical_forces.any()


def test_ranges_of_a_square_table_in_closed_form():
    """Opposite feet carry a and W/2 - a: any 0 <= a <= W/2."""
    feet = [(0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.5, -0.5)]
    sim = ran(legs(feet))
    W = 10 * G
    for i in range(4):
        found = sim.force_range(i)
        assert found.contact == i
        assert found.bodies == tuple(sim.contacts["bodies"][i].tolist())
        assert found.normal == pytest.approx((0.0, W / 2), abs=1e-6 * W)
        assert np.allclose(np.array(found.tangents) @ sim.contacts["normal"][i], 0)
        for (low, high), way in zip(found.tangential, found.tangents, strict=True):
            here = sim.contacts["force"][i] @ np.array(way)
            assert low <= here <= high
            assert low == pytest.approx(-high, abs=1e-6 * W)


def test_ranges_in_the_plane_against_a_linear_program():
    world = on_ground(planar=True, gravity=(1.0, -G))
    square = ds.Polygon([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    for k in range(2):
        world.add_body(square, mass=10.0, friction=0.6, position=(0.1 * k, 0.5 + k))
    sim = ran(world)
    for i, own in enumerate(sim.contacts):
        pair = sim.contacts[(sim.contacts["bodies"] == own["bodies"]).all(axis=1)]
        n = len(pair)
        A = np.zeros((3, 2 * n))
        rows = []
        for j, row in enumerate(pair):
            A[:2, 2 * j : 2 * j + 2] = np.eye(2)
            A[2, 2 * j : 2 * j + 2] = -row["point"][1], row["point"][0]
            t = np.array([-row["normal"][1], row["normal"][0]])
            for sign in (1, -1):
                line = np.zeros(2 * n)
                line[2 * j : 2 * j + 2] = sign * t - 0.6 * row["normal"]
                rows.append(line)
        b = A @ pair["force"].ravel()
        place = int(np.abs(pair["point"] - own["point"]).sum(axis=1).argmin())
        found = sim.force_range(i)
        for way, span in ((own["normal"], found.normal), (found.tangents[0], found.tangential[0])):
            for sign, end in zip((1, -1), span, strict=True):
                c = np.zeros(2 * n)
                c[2 * place : 2 * place + 2] = sign * np.array(way)
                best = linprog(c, rows, np.zeros(len(rows)), A, b, bounds=(None, None))
                assert end == pytest.approx(sign * best.fun, abs=1e-5)


def test_ranges_that_are_points_and_that_have_no_end():
    feet = [(0.5, 0.0), (-0.3, 0.4), (-0.2, -0.5)]
    sim = ran(legs(feet))
    for i in range(3):
        assert sim.force_range(i).normal == pytest.approx([sim.contacts["force"][i, 2]] * 2)
    world = ds.World(gravity=(0, 0, -G))
    for x, name in ((-0.15, "left"), (0.15, "right")):
        world.add_body(ds.Box(0.1, 1, 1), name=name, fixed=True, friction=0.6, position=(x, 0, 0))
    world.add_ground(friction=0.6, height=-0.1)
    world.add_body(ds.Box(0.2, 0.2, 0.2), mass=1.0, friction=0.6, name="wedged")
    sim = ran(world)
    side = next(i for i, c in enumerate(sim.contacts) if "left" in c["bodies"])
    assert sim.force_range(side).normal == (pytest.approx(0.0, abs=1e-8), np.inf)


def test_ranges_that_cannot_be_asked_for():
    sim = ran(box())
    for wrong in (4, -5, "a", None, 1.5):
        with pytest.raises(ds.OptionError, match=r"force_range: contact = .*there are 4"):
            sim.force_range(wrong)
    other = ds.Simulation(box(), ds.Penalty())
    other.run(0.02)
    with pytest.raises(ds.OptionError, match=r"ds\.TimeStepping"):
        other.force_range(0)
    along = ran(box(cone=ds.EllipticCone((1.0, 0.5)), cone_axis=(1, 0, 0)))
    with pytest.raises(ds.OptionError, match="direction of a body"):
        along.force_range(0)


def test_interfaces_of_an_eccentric_stack():
    """N, T, M of each joint from the free body above it."""
    sim = ran(crooked())
    masses = dict(zip(sim.model.names, sim.model.mass, strict=True))
    load = np.array([1.0, 0.7, -G])
    for row in sim.interfaces:
        low = {("a", "ground"): "abc", ("a", "b"): "bc", ("b", "c"): "c"}
        names = tuple(sorted(row["bodies"].tolist()))
        above = low[names]
        weight = sum(masses[name] for name in above)
        force = -weight * load  # on what lies above
        sign = 1.0 if row["bodies"][0] in above else -1.0
        assert np.allclose(sign * row["force"], force, rtol=0, atol=1e-6)
        assert row["N"] == pytest.approx(weight * G, rel=1e-8)
        assert row["T"] == pytest.approx(weight * np.hypot(1.0, 0.7), rel=1e-7)
        assert row["mobilisation"] == pytest.approx(np.hypot(1.0, 0.7) / (0.5 * G), rel=1e-7)
        centre = sum(masses[n] * sim.body(n).position for n in above) / weight
        height = row["centre"][2]
        foot = centre + load * (height - centre[2]) / load[2]  # where the load meets the joint
        assert np.allclose(row["point"], foot, rtol=0, atol=1e-7)
        assert row["eccentricity"] == pytest.approx(
            np.linalg.norm(row["point"] - row["centre"]), rel=1e-9
        )
        moment = np.cross(foot - row["centre"], force)
        assert np.allclose((sign * row["M"])[:2], moment[:2], rtol=0, atol=1e-6)
        assert row["contacts"] == 4


def test_interfaces_in_the_plane_and_without_contacts():
    world = on_ground(planar=True, gravity=(2.0, -G))
    square = ds.Polygon([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    world.add_body(square, mass=10.0, friction=0.6, position=(0, 0.5))
    sim = ds.Simulation(world)
    assert len(sim.interfaces) == 0
    sim.run(0.02)
    (row,) = sim.interfaces
    offset = 2.0 / G * 0.5
    assert row["N"] == pytest.approx(10 * G)
    assert row["T"] == pytest.approx(20.0)
    assert np.allclose(row["point"], (offset, 0), atol=1e-8)
    assert row["eccentricity"] == pytest.approx(offset)
    assert abs(row["M"][0]) == pytest.approx(10 * G * offset)
    assert row["mobilisation"] == pytest.approx(2.0 / G / 0.6)


@pytest.mark.parametrize("formulation", ["coulomb", "convex"])
def test_what_slides_has_one_answer_whatever_corner_the_solver_spared(formulation):
    """Loads of opposite corners can be exchanged for those of the others. Impulses without one of
    the four, with the same force and moment, become the same canonical ones."""
    world = ds.World()
    world.add_ground(friction=0.4)
    world.add_body(ds.Box(0.3, 0.2, 0.1), mass=2, position=(0, 0, 0.05), velocity=(1, 0.5, 0))
    sim = ds.Simulation(world, ds.TimeStepping(formulation=formulation))
    sim.step()  # by the convex law what slides lifts off, and has no contact in the next
    table, law = sim.contacts, sim.method.contact_law
    assert sim.canonical_forces.all()
    assert len(table) == 4
    middle = table["point"][:, :2].mean(axis=0)
    exchange = np.prod(np.sign(table["point"][:, :2] - middle), axis=1)
    normal = table["force"][:, 2]
    assert abs(exchange @ normal) < 1e-8 * normal.sum(), "least squares: nothing to exchange"
    along = table["force"] / normal[:, None]
    spared = int(np.flatnonzero(exchange > 0)[0])
    other = table.copy()
    changed = (normal - normal[spared] * exchange)[:, None] * along
    other["impulse"] *= changed / table["force"]
    other["force"] = changed
    assert not other["impulse"][spared].any()
    own = CanonicalForces(sim.model, law)
    found, canonical_ones = own.of(other), own.put(other.copy())
    assert canonical_ones.all()
    assert found["force"] == pytest.approx(table["force"], abs=1e-8 * normal.sum())


@pytest.mark.parametrize("gap", [1e-6, 1e-5, 1e-4])
def test_a_support_that_is_not_reached_bears_nothing(gap):
    """A beam on two supports, a third between them a little lower: found by the step, but open."""
    world = ds.World(planar=True)
    for k, low in enumerate((0.0, gap, 0.0)):
        block = ds.Rectangle(0.1, 0.1)
        world.add_body(block, name=f"s{k}", fixed=True, position=(0.5 * k, -0.05 - low))
    world.add_body(ds.Rectangle(1.2, 0.1), name="beam", mass=2, position=(0.5, 0.05))
    sim = ds.Simulation(world)
    sim.run(0.1)
    there = np.any(sim.contacts["bodies"] == "s1", axis=1)
    assert there.any()
    assert sim.canonical_forces.all()
    assert np.abs(sim.contacts["force"][there]).max() == 0.0
    bears = {str(row["bodies"][0] if row["bodies"][1] == "beam" else row["bodies"][1]): row["N"]
             for row in sim.interfaces}  # fmt: skip
    assert bears["s0"] == pytest.approx(9.81, rel=1e-8)
    assert bears["s2"] == pytest.approx(9.81, rel=1e-8)


def test_the_closed_form_is_the_solution_of_the_general_problem():
    """An elliptic cone with equal axes is the round one, and is solved by Newton's method."""
    for world in (box(), brick_stack(3), crooked()):
        sim = ran(world)
        law = sim.method.contact_law
        usual = CanonicalForces(sim.model, law)
        other = CanonicalForces(sim.model, replace(law, cone=ds.EllipticCone((1.0, 1.0))))
        a, b = usual.of(raw(sim)), other.of(raw(sim))
        scale = np.abs(a["force"]).max()
        assert np.allclose(a["force"], b["force"], rtol=0, atol=1e-9 * scale)
        assert (a["state"] == b["state"]).all()


def test_blocks_that_would_take_too_long_are_left_and_named(monkeypatch):
    monkeypatch.setattr(canonical, "MOST_OPERATIONS", 100.0)
    sim = ds.Simulation(ds.scene("arch").world, forces="canonical")
    sim.run(0.02)
    with pytest.warns(ds.IgnoredWarning, match="would take minutes"):
        table = sim.contacts
    assert np.array_equal(table, raw(sim))
    assert not sim.canonical_forces.any()


def test_names_of_any_letters_and_lengths_are_told_apart():
    """Bodies are known by the letters of their names, in the table too."""
    sims = []
    for names in (
        ("a", "b", "c"),
        ("körper", "k", "a very long name of a brick"),
        ("ab", "ba", ""),
    ):
        world = on_ground()
        for k, name in enumerate(names):
            world.add_body(
                ds.Box(0.2, 0.1, 0.06), name=name or None, density=1800, friction=0.6,
                position=(0.3 * k, 0, 0.03), velocity=(0.0, 0.1 * k, 0),
            )  # fmt: skip
        sims.append(ran(world, 0.02))
        assert sims[-1].canonical_forces.all()
    for sim in sims[1:]:
        assert np.array_equal(sim.contacts["force"], sims[0].contacts["force"])
