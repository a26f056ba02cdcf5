"""A problem whose regions are cut into pieces is the same problem: its solutions are the same."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kernop as ko

SQUARE, DISK = ko.Box([0, 0], [1, 1]), ko.Ball([0.2, -0.1], 0.7)
CYLINDER = ko.SpaceTime(ko.Interval(0, 1), (0, 0.5))
PROBLEMS = {
    "Poisson on a square": ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"), ko.Dirichlet(on=SQUARE.boundary, name="g")
    ),
    "a drift on a disk": ko.Problem(
        ko.Equation(lambda u: 3.0 * u - ko.laplacian(u) + ko.dot([2.0, 1.0], ko.grad(u)), on=DISK, name="f"),
        ko.Robin(1.0, 0.5, on=DISK.boundary, name="r"),
    ),
    "heat": ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=CYLINDER, name="f"),
        ko.Initial(on=CYLINDER.initial, name="u0"),
        ko.Dirichlet(on=CYLINDER.walls, name="g"),
    ),
}
#: A half-plane of the box around a problem: the angle of its normal, and how far from the middle it begins.
HALF_PLANES = st.tuples(st.floats(0.0, 2.0 * np.pi), st.floats(-0.35, 0.35))
Predicate = Callable[[np.ndarray], np.ndarray]


def smooth(x):
    return jnp.sin(2.0 * x[..., 0] + 0.3) * jnp.exp(-x[..., 1])


def side(low, high, angle, offset) -> Predicate:
    """Which points are on one side of a line through the box between two corners."""

    def predicate(x):
        z = (x - 0.5 * (low + high)) / (high - low)
        return z[..., 0] * np.cos(angle) + z[..., 1] * np.sin(angle) > offset

    return predicate


def pieces(condition, cuts) -> list[tuple[ko.Condition, Predicate]]:
    """The condition on each part into which the lines cut its region, and which points belong to it."""
    low, high = condition.on.bounds
    box = np.where(high > low, low, low - 0.5), np.where(high > low, high, high + 0.5)
    sides = [side(*box, *cut) for cut in cuts]
    codes = range(2 ** len(sides))

    def which(code):
        return lambda x: sum(((1 << k) * own(x) for k, own in enumerate(sides)), np.zeros(len(x), dtype=int)) == code

    seen = condition.on.sample(20_000, "uniform", seed=3).x
    kept = [(code, which(code)) for code in codes if np.any(which(code)(seen))]
    # A sliver would have no point of its own.
    assume(all(np.mean(predicate(seen)) > 0.05 for _, predicate in kept))
    return [
        (replace(condition, on=condition.on.where(predicate), name=f"{condition.name}_{code}"), predicate)
        for code, predicate in kept
    ]


def cut_up(name, cuts, order) -> list[tuple[ko.Condition, Predicate]]:
    """All pieces of the conditions of a problem, in any order."""
    own = zip(PROBLEMS[name].conditions, cuts, strict=False)
    found = [piece for condition, lines in own for piece in pieces(condition, lines)]
    order.shuffle(found)
    return found


def rough(x):
    return np.abs(x[:, 0] - 0.4) + (x[:, 1] > 0.3)


@cache
def learned(name, points, centers) -> ko.SolutionOperator:
    return ko.learn(PROBLEMS[name], points=points, method=ko.Subspace(centers))


every_problem = pytest.mark.parametrize("name", PROBLEMS)
cut_anyhow = given(cuts=st.lists(st.lists(HALF_PLANES, max_size=2), min_size=3, max_size=3), order=st.randoms())


@every_problem
@settings(max_examples=6)
@cut_anyhow
@pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")
def test_the_same_points_have_the_same_weights(name, cuts, order):
    """Cut as the regions are: u is the same even where nothing resolves the data."""
    whole, found = learned(name, 300, 50), cut_up(name, cuts, order)
    points = {c.name: whole.points[c.name.split("_")[0]] for c, _ in found}
    points = {c.name: points[c.name][np.flatnonzero(predicate(points[c.name].x))] for c, predicate in found}
    assume(all(len(own) > 0 for own in points.values()))
    assume(sum(map(len, points.values())) == whole.n_points)
    cut = ko.learn(ko.Problem(*(c for c, _ in found)), points=points, method=ko.Subspace(50))
    for c, _ in found:
        assert cut.weights[c.name] == pytest.approx(whole.weights[c.name.split("_")[0]], rel=1e-9)
    x = whole.points["f"].x
    u, v = whole(*[rough] * len(whole.problem.inputs))(x), cut(*[rough] * len(found))(x)
    np.testing.assert_allclose(v, u, rtol=0, atol=1e-8 * np.max(np.abs(u)))


@every_problem
@settings(max_examples=4)
@cut_anyhow
def test_points_are_shared_out_among_the_pieces(name, cuts, order):
    """Each piece has points of its own, so that u is the same as far as it is resolved."""
    whole, found = learned(name, 1200, 320), cut_up(name, cuts, order)
    cut = ko.learn(ko.Problem(*(c for c, _ in found)), points=1200, method=ko.Subspace(320))
    for c in PROBLEMS[name].conditions:
        own = sum(len(cut.points[piece.name]) for piece, _ in found if piece.name.startswith(f"{c.name}_"))
        assert abs(own - len(whole.points[c.name])) <= 0.02 * 1200
    x = whole.points["f"].x
    u, v = (T(**T.problem.manufacture(smooth, T.points))(x, outside="extrapolate") for T in (whole, cut))
    np.testing.assert_allclose(v, u, rtol=0, atol=1e-8 * np.max(np.abs(u)))
    np.testing.assert_allclose(u, np.asarray(smooth(x)), rtol=0, atol=1e-6)
