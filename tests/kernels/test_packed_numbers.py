"""Numbers of a packed record: read and assigned to by name, here and in kernels."""

import numpy as np
import pytest

from drystone.kernels import layout
from drystone.kernels._jit import stage
from drystone.kernels.packed import Packed, as_row

pytestmark = pytest.mark.kernels


@stage
def fill(s):
    s.n += 2
    s.x = s.n
    s.inner.energy += 2.0 * s.x
    for k in range(s.n):
        s.a[k % s.a.size] += 1.0
    return s.n


def test_kernels_assign_to_numbers_by_name():
    s = Packed(a=np.zeros(3), n=3, x=1.5, inner=Packed(energy=1.0))
    assert fill(s) == 5
    assert (s.n, s.x, s.inner.energy) == (5, 5.0, 11.0)
    assert type(s.n) is int
    assert type(s.x) is float
    np.testing.assert_array_equal(s.a, [2, 2, 1])


def test_python_assigns_to_numbers_and_to_nothing_else():
    s = Packed(a=np.zeros(3), n=3)
    s.n = 7
    assert fill_free(s) == 7
    for name in ("a", "b"):
        with pytest.raises(AttributeError, match=f"{name}: put"):
            setattr(s, name, np.ones(3))
    with pytest.raises(AttributeError, match="nothing of the name 'b'"):
        _ = s.b
    s.n = np.bool_(True)
    assert s.n == 1
    with pytest.raises(TypeError):
        s.n = "many"


@stage
def fill_free(s):
    return s.n


def test_a_record_of_reals_is_a_row():
    s = Packed(**layout.make(layout.REPORT))
    s.kinetic, s.unsolved_body = 2.0, -1.0
    row = as_row(s)
    places = layout.places(layout.REPORT)
    assert row[places.kinetic] == 2.0
    assert row[places.unsolved_body] == -1.0
    row[places.potential] = 3.0
    assert s.potential == 3.0
    assert row.size == len(layout.REPORT)


def test_every_field_is_declared_with_a_kind_and_sizes_make_it():
    sizes = {"nb": 2, "dim": 3, "dof": 6, "d": 3, "nj": 1, "angle": 4, "packed_body": 20}
    made = layout.make(layout.BODIES, sizes)
    assert made["orientation"].shape == (2, 4)
    assert layout.make(layout.BODIES, sizes | {"angle": ()})["orientation"].shape == (2,)
    assert made["moves"].dtype == np.bool_
    assert made["root"].dtype == np.int64


def test_lines_of_packed_contacts_are_as_wide_as_their_parts():
    assert layout.CONTACT_3.WIDTH == 35
    assert layout.CONTACT_3.R_OLD + 3 == layout.CONTACT_3.WIDTH
    assert layout.BODY_2.V_OLD + 3 == layout.BODY_2.WIDTH
