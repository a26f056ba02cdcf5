"""Estimates where the problem itself makes u singular, by comparison with parts."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.trust.estimates.graded import _places, graded_parts

pytestmark = pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")

SQUARE = ko.Box([0, 0], [1, 1])
#: The square [−1, 1]² without a wedge of 18° below the ray θ = 0; free on both sides of the wedge.
OPENING = 1.9 * np.pi
ALONG = np.array([np.cos(OPENING), np.sin(OPENING)])
END = ALONG / np.max(np.abs(ALONG))
SECTOR = ko.Polygon(np.array([[0, 0], [1, 0], [1, 1], [-1, 1], [-1, -1], [1, -1], END]))


def beside(x):
    """On the sides of the wedge?"""
    first = (np.abs(x[..., 1]) < 1e-9) & (x[..., 0] > -1e-9)
    return first | ((np.abs(x @ np.array([-ALONG[1], ALONG[0]])) < 1e-9) & (x @ ALONG > -1e-9))


def free(x):
    """r^α cos αθ with α = 1/1.9: harmonic, and its normal derivative is 0 on both sides of the wedge."""
    angle = np.mod(np.arctan2(x[..., 1], x[..., 0]) + 1e-12, 2.0 * np.pi)
    return np.hypot(x[..., 0], x[..., 1]) ** (1.0 / 1.9) * np.cos(angle / 1.9)


def sector():
    rim = SECTOR.boundary
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SECTOR, name="f", data=0.0),
        ko.Dirichlet(on=rim.where(lambda x: ~beside(x)), name="g"),
        ko.Neumann(on=rim.where(beside), name="q", data=0.0),
    )


def l_shape(op):
    domain = ko.Polygon(np.array([[0, 0], [1, 0], [1, 1], [-1, 1], [-1, -1], [0, -1]]))
    return ko.Problem(ko.Equation(op, on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g"))


def ratios(u, exact, domain):
    """Estimate ÷ truth in L2 and in L∞, and the estimate."""
    x = domain.sample(10_000, "uniform", seed=5).x
    error, estimate = np.abs(np.asarray(u(x)) - np.asarray(exact(x))), u.error_estimate(covering=None)
    return np.array([estimate.l2 / np.sqrt(np.mean(error**2)), estimate.linf / np.max(error)]), estimate


@pytest.fixture(scope="module")
def operator():
    return ko.learn(sector(), points=900, method=ko.Subspace(300))


def test_free_sides_of_a_wedge_are_not_underestimated(operator):
    """Smooth spaces, richer and coarser, are all wrong in the same way: by them it is 0.64 of the error in L2."""
    found, estimate = ratios(operator(free), free, SECTOR)
    assert np.all(found > 1.0)
    assert np.all(found < 3.0)
    assert all(not one.rough and "rough" not in str(one) for one in estimate.concentrated)


def test_data_that_are_arrays_at_test_points_are_compared_with_smooth_spaces_alone(operator):
    """Of what is known at points alone, parts know nothing."""
    points = operator.points["g"].x, operator.test_points["g"].x
    by_arrays = operator(free(points[0])).error_estimate(free(points[1]), covering=None, search=None)
    assert by_arrays.l2 < operator(free).error_estimate(covering=None, search=None).l2


def test_each_input_of_a_batch_has_its_own_estimate(operator):
    both = operator(lambda x: np.stack([free(x), 1.0 + 0.0 * x[..., 0]], axis=-1))
    estimate = both.error_estimate(covering=None, search=None)
    alone = operator(free).error_estimate(covering=None, search=None)
    np.testing.assert_allclose(estimate.l2[0], alone.l2, rtol=1e-6)
    assert estimate.l2[1] < 1e-6


def test_waves_that_parts_do_not_resolve_are_not_measured_by_them():
    """By what is wrong part by part, of a Helmholtz equation next to nothing, they would count: 1e8 times the error."""
    omega, along = 30.0, np.array([0.8, 0.6])
    problem = l_shape(lambda u: -ko.laplacian(u) - omega**2 * u)
    exact = lambda x: jnp.sin(omega * (x @ along) + 0.3)
    u = ko.learn(problem, points=3000, method=ko.Subspace(1000))(f=0.0, g=exact)
    found, _ = ratios(u, exact, problem["f"].on)
    assert np.all(found > 1.0)
    assert np.all(found < 12.0)


def test_parts_are_made_only_where_the_problem_makes_u_singular():
    def made(problem):
        return graded_parts(ko.learn(problem, points=150, method=ko.Subspace(50))().learned)

    laplace = lambda u: -ko.laplacian(u)
    smooth = ko.Problem(
        ko.Equation(laplace, on=SQUARE, name="f", data=1.0), ko.Dirichlet(on=SQUARE.boundary, name="g", data=0.0)
    )
    sides = SQUARE.face("left", "right", "bottom"), SQUARE.face("top")
    mixed = ko.Problem(
        ko.Equation(laplace, on=SQUARE, name="f", data=1.0),
        ko.Dirichlet(on=sides[0], name="g", data=0.0),
        ko.Neumann(on=sides[1], name="q", data=0.0),
    )
    assert made(smooth) is None  # convex corners
    assert made(mixed) is None  # at right angles u is r¹ there
    lower, upper = (SQUARE.boundary.where(own) for own in (lambda x: x[..., 0] < 0.5, lambda x: x[..., 0] >= 0.5))
    changing = ko.Problem(
        ko.Equation(laplace, on=SQUARE, name="f", data=1.0),
        ko.Dirichlet(on=lower, name="g", data=0.0),
        ko.Neumann(on=upper, name="q", data=0.0),
    )
    assert made(changing) is not None


def test_places_that_are_dense_at_corners_have_the_means_of_the_domain(operator):
    mosaic = graded_parts(operator(free).learned).mosaic
    x, roots = _places(SECTOR, mosaic)
    assert np.all(SECTOR.contains(x))
    uniform = SECTOR.sample(200_000, "uniform", seed=3).x
    corner = np.array([1.0, -1.0])
    for function in (lambda x: 1.0 + x[..., 0], lambda x: np.exp(-np.sum((x - corner) ** 2, axis=-1) / 2e-3)):
        true = np.sqrt(np.mean(function(uniform) ** 2))
        np.testing.assert_allclose(np.sqrt(np.mean((roots[:, 0] * function(x)) ** 2)), true, rtol=0.1)
