"""Leave-one-out residuals against refitting without the row."""

import gc
import weakref
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError
from kernop.collocation.ansatz import collocate
from kernop.methods.base import Factorisation
from kernop.trust.estimates.residuals import leave_one_out

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u) + u, on=SQUARE, name="f"), ko.Dirichlet(on=SQUARE.boundary, name="g")
)
METHODS = {
    "full": (ko.Full(), ko.Gaussian(0.5), 1e-4),
    "low rank": (ko.LowRank(tol=1e-10), ko.Gaussian(0.5), 1e-4),
    "subspace": (ko.Subspace(centers=20), None, None),
    "normal": (ko.Subspace(centers=20, solver="normal"), None, 1e-6),
}


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("name", METHODS)
def test_residuals_are_those_of_refitting_without_the_row(name):
    method, kernel, ridge = METHODS[name]
    operator = ko.learn(PROBLEM, points={"f": 60, "g": 40}, method=method, kernel=kernel, regularization=ridge)
    data = PROBLEM.manufacture(lambda x: jnp.sin(5 * x[..., 0]) + x[..., 1] ** 2, operator.points)
    h = np.concatenate([data["f"], data["g"]])[:, None]
    u = operator.factorisation.answer(h).u
    found = leave_one_out(operator.factorisation, collocate(PROBLEM, operator.points))(u, h)[:, 0]
    for row, (condition, i) in {7: ("f", 7), 59: ("f", 59), 60: ("g", 0), 83: ("g", 23)}.items():
        without = operator.remove({condition: [i]})
        fewer = {k: np.delete(v, i) if k == condition else v for k, v in data.items()}
        points = operator.points[condition][[i]]
        truth = -without(**fewer).residual(condition, points, data[condition][[i]])[0]
        assert found[row] == pytest.approx(truth, rel=1e-4, abs=1e-6 * np.max(np.abs(found)))


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_a_row_that_is_alone_keeps_its_own_residual():
    line = ko.Interval(0, 1)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=line, name="f"), ko.Dirichlet(on=line.boundary, name="g")
    )
    operator = ko.learn(problem, points={"f": 50, "g": 2}, method=ko.Subspace(centers=8), weights={"g": 1e6})
    data = problem.manufacture(lambda x: jnp.sin(9 * x[..., 0]), operator.points)
    h = np.concatenate([data["f"], data["g"]])[:, None]
    u = operator.factorisation.answer(h).u
    found = leave_one_out(operator.factorisation, collocate(problem, operator.points))(u, h)[:, 0]
    own = -operator(**data).residual("g", operator.points["g"], data["g"])
    np.testing.assert_allclose(found[50:], own, rtol=1e-2, atol=1e-10)


def test_as_many_centres_as_points_leave_nothing_to_tell():
    operator = ko.learn(PROBLEM, points={"f": 30, "g": 20}, method=ko.Subspace(centers=50))
    with pytest.raises(ArgumentError, match="as many centres as points"):
        leave_one_out(operator.factorisation, collocate(PROBLEM, operator.points))


def test_leverages_of_parts_hold_what_comes_in_on_seams_fixed():
    """They are those of all parts together but near seams, and never all of a datum."""
    T = ko.learn(PROBLEM, method=ko.Partition(cells=3, degree=7, levels=0))
    found, exact = T.factorisation.leverages(T.collocated), Factorisation.leverages(T.factorisation, T.collocated)
    assert np.median(np.abs(found - exact)) < 0.03
    assert np.max(np.abs(found - exact)) < 0.3
    assert 0.05 < np.min(found) < np.max(found) < 0.8


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_systems_made_of_parts():
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) + u, on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.boundary, name="g", of="u"),
        unknowns={"u": 2},
    )
    T = ko.learn(problem, method=ko.Partition(cells=2, degree=6, levels=0))
    exact = lambda x: jnp.stack([jnp.sin(5 * x[..., 0]), jnp.cos(4 * x[..., 1])], axis=-1)
    u, x = T(**problem.manufacture(exact, T.points)), SQUARE.sample(1000, "uniform", seed=1).x
    error, estimate = np.sqrt(np.mean((u(x) - exact(x)) ** 2)), u.error_estimate()
    assert estimate.source == "leave-one-out"
    assert error < estimate.l2 < 30 * error


def _arrays(T: ko.SolutionOperator) -> dict[str, np.ndarray]:
    return {name: np.ones(len(points.x)) for name, points in T.points.items()}


@pytest.mark.parametrize("method", [ko.Subspace(20), ko.Partition(cells=2, degree=5)], ids=["space", "parts"])
@pytest.mark.parametrize("given", [lambda T: {"f": 1.0, "g": 0.0}, _arrays], ids=["numbers", "arrays"])
def test_operators_go_when_nobody_holds_them(
    method: ko.Subspace | ko.Partition, given: Callable[[ko.SolutionOperator], dict[str, float | np.ndarray]]
) -> None:
    """What an estimate learns of an operator may hold it: kept beside it, not in a weak dictionary, it goes with it."""
    D = ko.Interval(0, 1)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=D, name="f"), ko.Dirichlet(on=D.boundary, name="g"))
    T = ko.learn(problem, method=method)
    T(**given(T)).error_estimate()
    gone = weakref.ref(T.factorisation)
    del T
    gc.collect()
    assert gone() is None
