"""The inverse multiquadric kernel."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import poch

import kernop as ko
from kernop.basics.precision import float64


def test_value():
    with float64():
        value = float(ko.InverseMultiquadric(0.5)(np.array([0.1, 0.2]), np.array([0.4, -0.2])))
    assert value == pytest.approx(1.0 / math.sqrt(1.0 + 0.25 / 0.25), rel=1e-15)


def test_value_with_a_lengthscale_for_each_axis():
    with float64():
        value = float(ko.InverseMultiquadric([0.5, 2.0])(np.array([0.1, 0.2]), np.array([0.4, -0.2])))
    assert value == pytest.approx((1.0 + (0.3 / 0.5) ** 2 + (0.4 / 2.0) ** 2) ** -0.5, rel=1e-15)


def test_smoothness_has_no_limit():
    assert ko.InverseMultiquadric(1.0).smoothness == math.inf


def test_profile():
    """F^(m)(t) = (−1)^m (1/2)_m (1 + t)^(−1/2 − m)."""
    t = np.array([0.0, 0.3, 2.0, 1e6])
    with float64():
        found = ko.InverseMultiquadric(1.0).profile(jnp.asarray(t), range(9))
    for m in range(9):
        np.testing.assert_allclose(found[m], (-1) ** m * poch(0.5, m) * (1.0 + t) ** (-0.5 - m), rtol=1e-13)


def test_tail_decays_like_one_over_distance():
    with float64():
        value = float(ko.InverseMultiquadric(2.0)(np.array([0.0]), np.array([1e8])))
    assert value == pytest.approx(2e-8, rel=1e-14)
