"""Narrow peaks of the data between the points: located, reported and covered by the estimate; no false alarms."""

import numpy as np
import pytest

import kernop as ko

LINE, SQUARE, CUBE = ko.Interval(0, 1), ko.Box([0, 0], [1, 1]), ko.Box([0, 0, 0], [1, 1, 1])


def dirichlet(domain, op=lambda u: -ko.laplacian(u)):
    return ko.Problem(ko.Equation(op, on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g"))


@pytest.fixture(scope="module")
def operators():
    return {
        domain.dim: ko.learn(dirichlet(domain), points=4 * centers, method=ko.Subspace(centers=centers))
        for domain, centers in ((LINE, 20), (SQUARE, 80), (CUBE, 80))
    }


def bump(place, width):
    return lambda x: np.exp(-np.sum((x - np.asarray(place)) ** 2, axis=-1) / (2.0 * width**2))


def solution(place, width, coordinates):
    """−Δu = bump, u = 0 on the boundary, on the tensor grid of the same coordinates along each axis: a sine series."""
    modes = np.pi * np.arange(1, int(4.8 / (np.pi * width)) + 2)
    squares, series = 0.0, 1.0
    for axis, y in enumerate(place):
        shape = [-1 if k == axis else 1 for k in range(len(place))]
        row = 2.0 * np.sqrt(2.0 * np.pi) * width * np.sin(modes * y) * np.exp(-0.5 * (modes * width) ** 2)
        squares, series = squares + (modes**2).reshape(shape), series * row.reshape(shape)
    series = series / squares
    for _ in place:
        series = np.tensordot(series, np.sin(np.outer(coordinates, modes)), axes=(0, 1))
    return series


#: Dimension, width, and places that the points of the operators above do not see.
MISSED = [(1, 3e-4, (0.3517,)), (2, 3e-3, (0.293, 0.6185)), (2, 1e-3, (0.7631, 0.4377)), (3, 0.015, (0.55, 0.43, 0.61))]


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize(("dim", "width", "place"), MISSED)
def test_a_narrow_source_between_the_points_is_covered_and_named(operators, dim, width, place):
    u = operators[dim](bump(place, width), 0.0)
    line = np.concatenate([(np.arange(20) + 0.5) / 20, place])
    x = np.stack(np.meshgrid(*[line] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    error = np.abs(u(x) - solution(place, width, line).ravel())
    blind, found = u.error_estimate(search=None), u.error_estimate()
    assert blind.linf < np.max(error)  # without a search the points do not see it
    assert blind.unseen == ()
    assert np.max(error) <= found.linf
    assert np.sqrt(np.mean(error**2)) <= found.l2
    assert np.max(error) <= found.bound.linf
    assert found.bound.interior >= 1.0 - 1e-6  # the height of the peak, where û is 0
    (named,) = found.unseen
    assert (named.name, named.input) == ("f", 0)
    assert named.value == pytest.approx(1.0, abs=1e-4)
    np.testing.assert_allclose(named.place, place, atol=0.02 * width)
    assert 0.9 <= named.rms / (np.sqrt(np.pi) * width) ** (dim / 2) <= 1.5
    assert f"f is not resolved: 1 at x = ({str(place[0])[:4]}" in str(found)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_of_a_batch_the_narrow_one_is_named(operators):
    place = (0.293, 0.6185)
    narrow = bump(place, 3e-3)
    u = operators[2](lambda x: np.stack([np.ones(len(x)), x[:, 0] + narrow(x), np.sin(3 * x[:, 1])], axis=1), 0.0)
    blind, found = u.error_estimate(covering=400, search=None), u.error_estimate(covering=400)
    assert [(one.name, one.input) for one in found.unseen] == [("f", 1)]
    np.testing.assert_allclose(found.unseen[0].place, place, atol=1e-4)
    np.testing.assert_array_equal(found.l2[[0, 2]], blind.l2[[0, 2]])
    assert found.l2[1] > blind.l2[1]
    assert "Warning, input 1: f is not resolved" in str(found)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_a_peak_on_the_boundary_is_an_error_of_its_height(operators):
    peak = lambda x: np.exp(-(((x[..., 0] - 0.3171) / 1e-4) ** 2)) * (x[..., 1] == 0.0)
    u = operators[2](0.0, peak)
    found = u.error_estimate()
    assert u.error_estimate(search=None).linf < 0.5
    assert found.linf >= 0.99
    assert found.bound.boundary >= 0.99
    assert [one.name for one in found.unseen] == ["g"]
    np.testing.assert_allclose(found.unseen[0].place, [0.3171, 0.0], atol=1e-5)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_a_dip_and_data_that_the_problem_fixes():
    narrow = bump((0.293, 0.6185), 3e-3)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f", data=lambda x: 2.0 - 5.0 * narrow(x)),
        ko.Dirichlet(on=SQUARE.boundary, name="g"),
    )
    found = ko.learn(problem, points=320, method=ko.Subspace(centers=80))(0.0).error_estimate(covering=None)
    assert [one.name for one in found.unseen] == ["f"]
    assert found.unseen[0].value == pytest.approx(-3.0, abs=0.05)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.filterwarnings("ignore::kernop.errors.IllPosedWarning")
def test_in_space_and_time_and_on_a_part_of_a_domain():
    domain = ko.SpaceTime(LINE, (0, 100))
    heat = ko.Problem(
        ko.Equation(lambda u: ko.partial(u, -1) - 0.01 * ko.partial(u, 0, 2), on=domain, name="f"),
        ko.Dirichlet(on=domain.walls, name="g"),
        ko.Initial(on=domain.initial, name="u0"),
    )
    peak = lambda x: np.exp(-(((x[..., 0] - 0.293) / 3e-3) ** 2) - ((x[..., 1] - 61.85) / 0.3) ** 2)
    found = ko.learn(heat, points=320, method=ko.Subspace(centers=80))(peak, 0.0, 0.0).error_estimate()
    np.testing.assert_allclose(found.unseen[0].place, [0.293, 61.85], rtol=1e-3)
    half = SQUARE.where(lambda x: x[..., 0] < 0.5)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=half, name="f"), ko.Dirichlet(on=SQUARE.face("left"), name="g")
    )
    operator = ko.learn(problem, points=320, method=ko.Subspace(centers=80))
    sources = [lambda x, a=a: np.ones(len(x)) + bump((a, 0.6185), 3e-3)(x) for a in (0.293, 0.793)]
    assert [len(operator(f, 0.0).error_estimate().unseen) for f in sources] == [1, 0]  # the other is outside


def test_smooth_inputs_are_seen(operators):
    waves = np.array([[1.0, 4.0, 8.0], [2.0, -3.0, 5.0]])
    u = operators[2](lambda x: np.sum(waves**2, axis=0) * np.sin(x @ waves), lambda x: np.sin(x @ waves))
    blind, found = u.error_estimate(search=None), u.error_estimate()
    assert found.unseen == ()
    np.testing.assert_array_equal(found.l2, blind.l2)
    np.testing.assert_array_equal(found.linf, blind.linf)
    assert np.all(found.bound.linf >= blind.bound.linf)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_arrays_are_not_searched_and_numbers_need_not_be(operators):
    operator = operators[2]
    f = bump((0.293, 0.6185), 3e-3)
    assert operator(f(operator.points["f"].x), 0.0).error_estimate().unseen == ()
    assert operator(1.0, 0.0).error_estimate().unseen == ()


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_a_source_that_is_not_finite_somewhere_has_no_bound(operators):
    """Neither the points of T nor those of the estimate meet the place; the search does."""
    known = np.concatenate([operators[2].points["f"].x[:, 0], operators[2].test_points["f"].x[:, 0]])
    gaps = np.sort(known[(known > 0.2) & (known < 0.8)])
    widest = int(np.argmax(np.diff(gaps)))
    middle, far = 0.5 * (gaps[widest] + gaps[widest + 1]), 0.45 * (gaps[widest + 1] - gaps[widest])
    f = lambda x: np.where(np.abs(x[..., 0] - middle) < far, np.inf, 1.0)
    found = operators[2](f, 0.0).error_estimate(covering=100)
    assert found.bound is None
    assert "'f' is not finite at x = [" in found.why_no_bound
    assert np.isfinite(found.linf)


def test_wrong_arguments(operators):
    u = operators[1](1.0, 0.0)
    with pytest.raises(ko.errors.ArgumentTypeError, match="search"):
        u.error_estimate(search=2.5)
    with pytest.raises(ko.errors.ArgumentError, match="search"):
        u.error_estimate(search=3)
    with pytest.raises(ko.errors.MemoryLimitError, match="search"):
        u.error_estimate(search=10**15)
