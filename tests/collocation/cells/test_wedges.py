"""Powers of r at corners, against the functions themselves, differentiated numerically."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import kernop as ko
from kernop.collocation.cells.divisible import pieces_of
from kernop.collocation.cells.singularities import singularities
from kernop.collocation.cells.wedges import Side, power

STEP = 1e-5


def ray(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])


def candidates(x: np.ndarray, alpha: float, inverse: np.ndarray, start: float, room: float) -> np.ndarray:
    """Re z^α and Im z^α in y = C⁻¹ x, with the cut so far before the first side: (2,)."""
    y = inverse @ x
    angle = np.mod(np.arctan2(y[1], y[0]) - start + room, 2.0 * np.pi) - room
    return np.hypot(*y) ** alpha * np.array([np.cos(alpha * angle), np.sin(alpha * angle)])


def determinant(alpha: float, tensor: np.ndarray, sides: tuple[Side, Side]) -> float:
    """That of the two conditions on the two functions, at distance 1 from the tip; slopes by differences."""
    inverse = np.linalg.inv(np.linalg.cholesky(tensor))
    start, end = (float(np.arctan2(*(inverse @ side.ray)[::-1])) for side in sides)
    room = 0.5 * (2.0 * np.pi - np.mod(end - start, 2.0 * np.pi))  # the cut is in the middle of what is outside
    rows = []
    for side in sides:
        if side.slope is None:
            rows.append(candidates(side.ray, alpha, inverse, start, room))
        else:
            b = STEP * side.slope / np.linalg.norm(side.slope)
            ahead, behind = (candidates(side.ray + way * b, alpha, inverse, start, room) for way in (1.0, -1.0))
            rows.append((ahead - behind) / (2.0 * STEP))
    scaled = [row / np.linalg.norm(row) for row in rows]
    return float(np.linalg.det(np.array(scaled)))


angles = st.floats(0.4, 5.8)
slopes = st.none() | st.floats(0.0, 2.0 * np.pi)


@settings(max_examples=60, deadline=None)
@example(5.796875, 6.0, None, None, 26.0, 2.5)  # almost a slit in the other coordinates
@given(angles, st.floats(0.0, 6.0), slopes, slopes, st.floats(1.0, 30.0), st.floats(0.0, 3.0))
def test_it_is_the_least_power_that_both_conditions_allow(
    omega: float, start: float, first: float | None, last: float | None, stretched: float, turned: float
) -> None:
    frame = np.array([ray(turned), ray(turned + 0.5 * np.pi)]).T
    tensor = frame @ np.diag([1.0, stretched]) @ frame.T
    sides = (
        Side(ray(start), None if first is None else ray(first)),
        Side(ray(start + omega), None if last is None else ray(last)),
    )
    found = power(tensor, *sides)
    assert found > 0.0
    assert abs(determinant(found, tensor, sides)) < 1e-5
    below = np.array([determinant(alpha, tensor, sides) for alpha in np.linspace(0.02, 0.98, 49) * found])
    assert found < 0.05 or np.all(np.abs(below) > 1e-4), "there is a smaller one"


@pytest.mark.parametrize("omega", [0.5 * np.pi, 1.5 * np.pi, 2.0 * np.pi, 1.0])
def test_values_and_normal_slopes_of_laplaces_equation(omega: float) -> None:
    outward = (ray(-0.5 * np.pi), ray(omega + 0.5 * np.pi))
    for one in (None, outward[0]):
        for other in (None, outward[1]):
            expected = np.pi / omega * (1.0 if (one is None) == (other is None) else 0.5)
            assert power(np.eye(2), Side(ray(0.0), one), Side(ray(omega), other)) == pytest.approx(expected, rel=1e-12)


D = ko.Box([0, 0], [1, 1])
OTHERS = ko.Dirichlet(on=D.face("left", "right", "top"), name="g")


def exponents(*conditions: ko.Condition) -> np.ndarray:
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=D, name="f"), *conditions)
    return singularities(problem, pieces_of(problem)).exponents


def test_an_oblique_condition() -> None:
    """u_y + 3 u_x = 0 on the bottom: r^α with tan(απ/2) = 1/3 at one corner of it, and −1/3 at the other."""
    oblique = ko.Condition(lambda u: ko.partial(u, 1) + 3.0 * ko.partial(u, 0), on=D.face("bottom"), name="o")
    expected = 2.0 / np.pi * np.arctan(1.0 / 3.0)
    found = np.sort(exponents(OTHERS, oblique))
    np.testing.assert_allclose(found, [expected, 2.0 - expected, 2.0, 2.0], rtol=1e-6)


def test_a_multiple_of_u_is_a_value_of_u() -> None:
    twice = ko.Condition(lambda u: 2.0 * u, on=D.face("bottom"), name="o")
    assert np.min(exponents(OTHERS, twice)) == pytest.approx(2.0, rel=1e-6)


def test_a_tensor_turns_the_angle() -> None:
    """Of eigenvalues 1 and 100, turned by 45°: the right angles of a square are 168.6° and 11.4° in its coordinates."""
    one, other = 50.5, 49.5  # −div(A∇u) with A = [[one, other], [other, one]]
    matrix = ko.Problem(
        ko.Equation(lambda u: -one * ko.laplacian(u) - 2.0 * other * ko.partial(ko.partial(u, 0), 1), on=D, name="f"),
        ko.Dirichlet(on=D.boundary, name="g"),
    )
    wide = np.pi - 2.0 * np.arctan(np.sqrt(1.0 / 100.0))
    found = np.sort(singularities(matrix, pieces_of(matrix)).exponents)
    np.testing.assert_allclose(found, np.repeat([np.pi / wide, np.pi / (np.pi - wide)], 2), rtol=1e-6)


def test_heat_in_the_plane_has_the_powers_of_its_space() -> None:
    L = ko.Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)])
    S = ko.SpaceTime(L, (0.0, 0.1))
    problem = ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=S, name="f"),
        ko.Initial(on=S.initial, name="u0"),
        ko.Dirichlet(on=S.walls, name="g"),
    )
    assert np.min(singularities(problem, pieces_of(problem)).exponents) == pytest.approx(2.0 / 3.0, rel=1e-6)


def test_where_oblique_conditions_follow_each_other() -> None:
    """Slopes are given in directions that differ by 90° on both sides of a place of a straight side: r^½ there."""
    one = ko.Condition(
        lambda u: -ko.partial(u, 1) + ko.partial(u, 0), on=D.face("bottom").where(lambda x: x[..., 0] < 0.5), name="a"
    )
    two = ko.Condition(
        lambda u: -ko.partial(u, 1) - ko.partial(u, 0), on=D.face("bottom").where(lambda x: x[..., 0] >= 0.5), name="b"
    )
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=D, name="f"), OTHERS, one, two)
    around = singularities(problem, pieces_of(problem))
    here = np.argmin(np.linalg.norm(around.places - [0.5, 0.0], axis=1))
    np.testing.assert_allclose(around.places[here], [0.5, 0.0], atol=1e-6)
    assert around.exponents[here] == pytest.approx(0.5, rel=1e-6)


def test_a_coefficient_that_is_infinite_on_the_axis_is_no_error() -> None:
    """−u_rr − u_r / r − u_zz = f: no point of T is at r = 0, but places beside the corners are."""
    over_r = lambda x: 1.0 / x[..., 0]
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) - over_r * ko.partial(u, 0), on=D, name="f"),
        ko.Neumann(on=D.face("left"), name="n"),
        ko.Dirichlet(on=D.face("right", "top", "bottom"), name="g"),
    )
    exact = lambda x: np.sin(np.pi * x[..., 1]) * x[..., 0] ** 2
    f = lambda x: np.pi**2 * exact(x) - 4.0 * np.sin(np.pi * x[..., 1])
    x = D.sample(100, "uniform", seed=5).x
    assert np.max(np.abs(ko.learn(problem)(f, 0.0, exact)(x) - exact(x))) < 1e-8
