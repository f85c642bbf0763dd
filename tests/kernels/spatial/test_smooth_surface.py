"""Implicit functions, their derivatives and support points of ellipsoids and superquadrics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.kernels.spatial.smooth_surface import derivatives, gauge, support

axes = st.floats(0.3, 3.0)
exponents = st.sampled_from([1.0, 0.8, 0.5, 0.3, 0.1])
surfaces = st.tuples(axes, axes, axes, exponents, exponents).map(np.array)
points = st.tuples(*3 * [st.floats(-2.0, 2.0)]).map(np.array)


def barr(s, p):
    """The inside-outside function of Barr (1981), as ``geometry.kinds`` states it."""
    x, y, z = np.abs(p) / s[:3]
    e1, e2 = s[3], s[4]
    return (x ** (2 / e2) + y ** (2 / e2)) ** (e2 / e1) + z ** (2 / e1)


def gradient(s, p):
    g = np.empty(3)
    derivatives(s, *p, g, np.empty((3, 3)))
    return g


@pytest.mark.kernels
@settings(deadline=None, derandomize=True, max_examples=100)
@given(surfaces, points)
def test_gauge_is_barrs_function_to_the_power_that_makes_it_a_norm(s, p):
    assert gauge(s, *p) == pytest.approx(barr(s, p) ** (s[3] / 2), rel=1e-12, abs=1e-300)
    assert gauge(s, *(-3 * p)) == pytest.approx(3 * gauge(s, *p), rel=1e-12)


@pytest.mark.kernels
@settings(deadline=None, derandomize=True, max_examples=100)
@given(surfaces, points)
def test_derivatives_by_finite_differences(s, p):
    p = p + np.sign(p + 1e-9) * 0.05  # differences need room; the axes are tested below
    h, eye, g, H = 1e-6, np.eye(3), np.empty(3), np.empty((3, 3))
    phi = derivatives(s, *p, g, H)
    assert phi == pytest.approx(gauge(s, *p), rel=1e-14)
    F = [(gauge(s, *(p + h * e)) ** 2 - gauge(s, *(p - h * e)) ** 2) / (4 * h) for e in eye]
    np.testing.assert_allclose(g, F, atol=1e-6 * max(1.0, np.abs(g).max()))
    D = [(gradient(s, p + h * e) - gradient(s, p - h * e)) / (2 * h) for e in eye]
    np.testing.assert_allclose(H, D, atol=1e-4 * np.abs(H).max())
    np.testing.assert_allclose(H, H.T, atol=0)


@pytest.mark.kernels
@pytest.mark.parametrize("s", [(1, 2, 3, 1, 1), (1, 2, 3, 0.5, 0.5), (1, 2, 3, 1, 0.4)])
@pytest.mark.parametrize("axis", range(3))
def test_on_the_axes_everything_is_finite(s, axis):
    s, p, H = np.array(s, float), np.zeros(3), np.empty((3, 3))
    p[axis] = s[axis]
    g = gradient(s, p)
    phi = derivatives(s, *p, g, H)
    assert phi == pytest.approx(1.0)
    np.testing.assert_allclose(g, np.eye(3)[axis] / s[axis], atol=1e-14)
    assert np.isfinite(H).all()
    if s[3] == s[4] == 0.5:  # x^4 + ...: flat there, across the axis
        np.testing.assert_allclose(H, np.outer(g, g), atol=1e-14)


@pytest.mark.kernels
@settings(deadline=None, derandomize=True, max_examples=100)
@given(surfaces, points)
def test_the_normal_of_a_point_leads_back_to_it(s, p):
    p = p + np.sign(p + 1e-9) * 0.05
    p = p / gauge(s, *p)
    g = gradient(s, p)
    q = np.array(support(s, *g))
    assert gauge(s, *q) == pytest.approx(1.0, abs=1e-12)
    # flats and edges make the point ill-defined, never its height along the normal
    assert (g @ q - g @ p) / np.linalg.norm(g) == pytest.approx(0.0, abs=1e-13)
    assert support(s, 0.0, 0.0, 0.0) == (0.0, 0.0, 0.0)
