"""Integrals, means, norms: closed forms, and the divergence theorem."""

import numpy as np
import pytest
from scipy.special import j1

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, OutsideDomainError, ShapeError
from kernop.views.integrals import integral
from kernop.views.rules import rules


def test_integrals_over_a_disk_and_its_rim(dome):
    disk = ko.Ball([0, 0], 1)
    assert dome.integrate() == pytest.approx(np.pi / 2, rel=1e-9)
    assert dome.mean() == pytest.approx(0.5, rel=1e-9)
    assert dome.integrate(ko.Ball([0, 0], 0.5)) == pytest.approx(np.pi / 4 - np.pi / 32, rel=1e-9)
    assert dome.integrate(disk.boundary, ko.normal_derivative) == pytest.approx(-4 * np.pi, rel=1e-7)
    half = disk.boundary.where(lambda x: x[..., 0] > 0)
    assert dome.integrate(half, ko.normal_derivative) == pytest.approx(-2 * np.pi, rel=1e-3)
    assert dome.mean(disk.at([[0, 0], [0.5, 0]])) == pytest.approx((1.0 + 0.75) / 2, rel=1e-9)


def test_norms_of_a_dome(dome):
    assert dome.norm() == pytest.approx(np.sqrt(np.pi / 3), rel=1e-9)
    assert dome.norm("h1") == pytest.approx(np.sqrt(np.pi / 3 + 2 * np.pi), rel=1e-7)
    assert dome.norm("max") == pytest.approx(1.0, rel=1e-7)


def test_the_divergence_theorem_on_a_plate_with_a_hole(plate):
    domain = plate.problem.conditions[0].on
    flux = plate.integrate(domain.boundary, ko.normal_derivative)
    assert flux == pytest.approx(0.0, abs=1e-6)
    # ∫ x² − y² over the two rectangles less the triangle, by hand: 1.2·2, 1.8·1, and the moments of the triangle
    rectangles = (1.2**3 / 3 * 2 - 8 / 3 * 1.2) + ((27 - 1.2**3) / 3 - 1.8 / 3)
    corners = np.array([[0.3, 0.3], [0.8, 0.3], [0.55, 0.8]])
    second = 0.125 / 12 * (np.sum(corners, axis=0) ** 2 + np.sum(corners**2, axis=0))
    assert plate.integrate() == pytest.approx(rectangles - (second[0] - second[1]), rel=1e-7)


def test_more_cells_find_what_one_rule_misses():
    """Sixteen radians per unit: beyond the polynomials of degree 15 that one rule integrates."""
    ring = ko.Ball([0, 0], 1) - ko.Ball([0, 0], 0.5)
    wave = lambda points: np.cos(16 * points.x[:, 0])
    exact = 2 * np.pi * (j1(16.0) - 0.5 * j1(8.0)) / 16.0  # ∫ cos kx over a disk is 2πR J₁(kR)/k
    first = next(rules(ring))
    assert abs(first.weight @ wave(first) - exact) > 1e-4
    assert integral(wave, [ring], "test") == pytest.approx(exact, abs=1e-6)


def test_systems_batches_and_moments(rotation, disk, heat):
    np.testing.assert_allclose(rotation.u.integrate(ko.Box([0, 0], [1, 1])), [-0.5, 0.5], atol=1e-8)
    assert rotation.p.norm() == pytest.approx(2 / 3, rel=1e-8)
    assert rotation.u.norm() == pytest.approx(np.sqrt(8 / 3), rel=1e-8)
    mixed = rotation.integrate(ko.Box([0, 0], [1, 1]), lambda u, p: p + ko.div(u))
    assert mixed == pytest.approx(0.25, abs=1e-7)
    with pytest.raises(ArgumentError, match=r"s\.u\.integrate"):
        rotation.integrate()
    two = disk(np.stack([np.full(len(disk.points["f"]), k) for k in (4.0, 8.0)], axis=1), 0.0)
    np.testing.assert_allclose(two.integrate(), [np.pi / 2, np.pi], rtol=1e-8)
    np.testing.assert_allclose(two.norm("h1") ** 2, np.array([1, 4]) * (np.pi / 3 + 2 * np.pi), rtol=1e-7)
    _, u = heat
    assert u.at(0.1).integrate() == pytest.approx(2 / np.pi * np.exp(-0.1 * np.pi**2), rel=1e-5)
    assert u.integrate() == pytest.approx(2 / np.pi**3 * (1 - np.exp(-0.2 * np.pi**2)), rel=1e-5)


def test_regions_that_do_not_fit(dome, heat):
    with pytest.raises(OutsideDomainError, match="region: got Box"):
        dome.integrate(ko.Box([0, 0], [1, 1]))
    with pytest.raises(ShapeError, match="region: got Interval"):
        dome.integrate(ko.Interval(0, 1))
    with pytest.raises(ArgumentTypeError, match="region"):
        dome.integrate("boundary")
    with pytest.raises(ArgumentError, match="kind"):
        dome.norm("l3")
    with pytest.raises(ShapeError, match="x, t"):
        heat[1].integrate(ko.Interval(0, 1))
