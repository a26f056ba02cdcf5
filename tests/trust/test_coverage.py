"""Boundaries on which nothing is said of u."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.collocation.ansatz import collocate
from kernop.collocation.sampling import sample
from kernop.trust.coverage import open_boundary

RING = ko.Ball([0, 0], 1.0) - ko.Ball([0, 0], 0.3)


def look(*conditions):
    problem = ko.Problem(*conditions)
    return open_boundary(problem, collocate(problem, sample(problem, 200)))


def test_a_hole_of_which_nothing_is_said():
    outer = ko.Ball([0, 0], 1.0)
    place = look(ko.Equation(lambda u: -ko.laplacian(u), on=RING), ko.Dirichlet(on=RING.boundary.of(outer)))
    assert np.linalg.norm(place) == pytest.approx(0.3)
    with pytest.warns(ko.IllPosedWarning, match="no condition holds there"):
        ko.learn(
            ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=RING), ko.Dirichlet(on=RING.boundary.of(outer))),
            method=ko.Subspace(200),
        )


def test_all_of_the_boundary_in_pieces():
    box = ko.Box([0, 0], [1, 1])
    assert look(ko.Equation(lambda u: -ko.laplacian(u), on=RING), ko.Dirichlet(on=RING.boundary)) is None
    pieces = ko.Dirichlet(on=box.face("left", "right")), ko.Neumann(on=box.face("top", "bottom"))
    assert look(ko.Equation(lambda u: -ko.laplacian(u) + u, on=box), *pieces) is None
    half = (box.boundary.where(lambda x, s=s: s * (x[..., 0] - 0.4) >= 0) for s in (-1, 1))
    parts = [ko.Dirichlet(on=own, name=name) for own, name in zip(half, "ab", strict=True)]
    assert look(ko.Equation(lambda u: -ko.laplacian(u), on=box), *parts) is None


def test_equations_that_need_less():
    box = ko.Box([0, 0], [1, 1])
    transport = ko.Equation(lambda u: ko.partial(u, 0) + u, on=box)
    assert look(transport, ko.Dirichlet(on=box.face("left"))) is None
    wave = ko.Equation(lambda u: ko.partial(u, 1, 2) - ko.partial(u, 0, 2), on=box)
    assert look(wave, ko.Dirichlet(on=box.face("left", "right", "bottom"))) is None
    degenerate = ko.Equation(lambda u: -ko.div((lambda x: jnp.maximum(x[..., 0] - 0.5, 0.0)) * ko.grad(u)), on=box)
    assert look(degenerate, ko.Dirichlet(on=box.face("right"))) is None


def around_an_axis(equation, axis=()):
    """A place that is open where something is said on all sides of a square but the left one, or there too."""
    box = ko.Box([0, 0], [1, 1])
    held = box.face(*axis, "right", "top", "bottom")
    return look(ko.Equation(equation, on=box), ko.Dirichlet(on=held))


def power(p):
    return lambda x: x[..., 0] ** p


@pytest.mark.parametrize(
    ("equation", "needed"),
    [
        (lambda u: -ko.div(power(1.0) * ko.grad(u)), False),
        (lambda u: ko.div(power(1.5) * ko.grad(u)), False),
        (lambda u: -ko.div(power(2.0) * ko.grad(u)) + u, False),
        (lambda u: -(power(2.0) * ko.laplacian(u)) + u, False),
        (lambda u: -(power(1.0) * ko.laplacian(u)) - 2.0 * ko.partial(u, 0), False),  # bounded solutions are r⁻¹-free
        (lambda u: -(power(1.0) * ko.laplacian(u)) - 0.5 * ko.partial(u, 0), True),  # √r is another solution
        (lambda u: -(power(1.0) * ko.laplacian(u)), True),
        (lambda u: -(power(1.0) * ko.laplacian(u)) + ko.partial(u, 0), True),  # flows in
        (lambda u: -ko.div(power(0.5) * ko.grad(u)), True),  # its slope is infinite there
        (lambda u: -ko.div(ko.grad(u)), True),
    ],
)
def test_a_side_at_which_the_equation_degenerates(equation, needed):
    """Fichera's criterion: only from outside in does something have to be said there."""
    place = around_an_axis(equation)
    assert (place is not None) == needed
    if needed:
        assert place[0] == pytest.approx(0.0, abs=1e-9)
        assert around_an_axis(equation, ["left"]) is None


def test_an_equation_in_cylindrical_coordinates_needs_nothing_on_its_axis(recwarn):
    """−div(r ∇u) = r f for u = exp(−r²) cos z."""
    box = ko.Box([0, 0], [1, 2])
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div((lambda x: x[..., 0]) * ko.grad(u)), on=box),
        ko.Dirichlet(on=box.face("right", "top", "bottom")),
    )

    def exact(x):
        return np.exp(-(x[..., 0] ** 2)) * np.cos(x[..., 1])

    def f(x):
        return x[..., 0] * (5.0 - 4.0 * x[..., 0] ** 2) * exact(x)

    x = box.sample(300).x
    assert np.max(np.abs(ko.learn(problem)(f, exact)(x) - exact(x))) < 1e-9
    assert not [own for own in recwarn if issubclass(own.category, ko.IllPosedWarning)]


@pytest.mark.parametrize("at", [0.0, 0.7])
def test_on_an_interval_two_numbers_at_one_point_are_enough(at):
    """u″ + u = 0 with u and u′ at one place, an end or not: well-posed, though nothing is said at an end."""
    line = ko.Interval(0, 1)
    place = line.at(at)
    problem = ko.Problem(
        ko.Equation(lambda u: ko.partial(u, 0, 2) + u, on=line, data=0.0),
        ko.Dirichlet(on=place, name="value"),
        ko.Condition(lambda u: ko.partial(u, 0), place, "slope"),
    )
    T = ko.learn(problem, points=100, method=ko.Subspace(20))
    assert T.stability < 100.0
    u, x = T(value=0.0, slope=1.0), np.linspace(0, 1, 50)
    np.testing.assert_allclose(u(x[:, None]), np.sin(x - at), atol=1e-7)
    assert u.error_estimate().relative_linf < 1e-4
    with pytest.warns(ko.IllPosedWarning):  # one number is not
        ko.learn(ko.Problem(*problem.conditions[:2]), points=100, method=ko.Subspace(20))


def test_errors_are_infinite_where_u_is_left_open():
    """Whatever the residuals are, and even if they are 0: on a boundary where nothing holds u is of any size."""
    box = ko.Box([0, 0], [1, 1])
    hole = box - ko.Ball([0.5, 0.5], 0.2)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=hole), ko.Dirichlet(on=hole.boundary.of(box)))
    with pytest.warns(ko.IllPosedWarning, match="no condition holds there"):
        T = ko.learn(problem, points=300, method=ko.Subspace(60))
    for data in (1.0, 0.0):
        estimate = T(f=data, g=data).error_estimate()
        assert [estimate.l2, estimate.linf, estimate.relative_l2, estimate.relative_linf] == [np.inf] * 4
        assert "no condition holds there" in str(estimate)
