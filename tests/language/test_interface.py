"""Interfaces as conditions: what they stand for, which flux, and what is refused."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, KernopError, OperatorError
from kernop.collocation.subdomains import subdomains_of
from kernop.language.interface import Flux, flux_of
from kernop.language.ops import apply_operator
from kernop.trust.resolution import with_interfaces

SQUARE, DISK = ko.Box([-1, -1], [1, 1]), ko.Ball([0, 0], 0.5)
STEP = lambda x: jnp.where(jnp.sum(x**2, axis=-1) < 0.25, 3.0, 1.0)


def problem(op, *interfaces, **options):
    return ko.Problem(ko.Equation(op, on=SQUARE), ko.Dirichlet(on=SQUARE.boundary), *interfaces, **options)


def test_it_stands_for_two_conditions():
    found = problem(lambda u: -ko.div(STEP * ko.grad(u)), ko.Interface(DISK.boundary, name="rim"))
    assert found.names == ("f", "g", "rim_jump", "rim_flux")
    assert found.inputs == ("f", "g")
    assert found.cuts == (DISK,)
    assert [c.across for c in found.conditions] == [False, False, True, True]


@pytest.mark.parametrize(
    ("op", "flux"),
    [
        (lambda u: -ko.laplacian(u), lambda u: ko.normal_derivative(u)),
        (lambda u: -ko.div(STEP * ko.grad(u)) + 3 * u, lambda u: STEP * ko.normal_derivative(u)),
        (
            lambda u: ko.div(ko.matvec([[2.0, 1.0], [1.0, 3.0]], ko.grad(u))),
            lambda u: ko.normal_component(ko.matvec([[2.0, 1.0], [1.0, 3.0]], ko.grad(u))),
        ),
    ],
    ids=["laplacian", "divergence", "anisotropic"],
)
def test_the_flux_is_what_stands_in_the_divergence(op, flux):
    points = DISK.boundary.sample(20)
    u = lambda x: jnp.sin(x[..., 0]) * jnp.exp(x[..., 1])
    np.testing.assert_allclose(apply_operator(flux_of(op), u, points), apply_operator(flux, u, points), rtol=1e-12)


@pytest.mark.parametrize("dilation", [lambda u: ko.trace(ko.grad(u)), lambda u: ko.div(u)], ids=["trace", "div"])
def test_the_stress_is_the_flux_of_elasticity(dilation):
    stress = lambda u: 2.0 * ko.sym(ko.grad(u)) + dilation(u) * ko.identity(u)
    found = problem(lambda u: -ko.div(stress(u)), ko.Interface(DISK.boundary), unknowns={"u": 2})
    points, u = DISK.boundary.sample(20), lambda x: jnp.stack([jnp.sin(x[..., 0]), x[..., 0] * x[..., 1]], axis=-1)
    expected = apply_operator(lambda v: ko.normal_component(stress(v)), {"u": u}, points, unknowns={"u": 2})
    flux = apply_operator(found["interface_flux"].op, {"u": u}, points, unknowns={"u": 2})
    np.testing.assert_allclose(flux, expected, rtol=1e-12)


def test_each_side_has_the_flux_of_its_equation():
    outside = SQUARE.where(lambda x: np.sum(x**2, axis=-1) > 0.25)
    flux = Flux(((lambda u: -ko.laplacian(u), DISK), (lambda u: -ko.div(5.0 * ko.grad(u)), outside)))
    points = ko.Points(np.array([[0.4, 0.0], [0.6, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.0]]))
    (first, here), (second, there) = flux.beside(points, "flux")
    assert here.tolist() == [True, False]
    assert there.tolist() == [False, True]
    assert first is not second
    with pytest.raises(ArgumentError, match="without an equation"):
        flux.beside(ko.Points(np.array([[2.0, 0.0]]), np.array([[1.0, 0.0]])), "flux")


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (lambda u: -(STEP * ko.laplacian(u)), "jumps from -3 to -1"),
        (lambda u: ko.laplacian(ko.laplacian(u)), "derivatives of order 3"),
        (lambda u: ko.div(ko.grad(u)) - ko.div(3.0 * (u * np.ones(2))), "2 divergences"),
        (lambda u: -ko.partial(u, 0, 2) - ko.partial(u, 1, 2), "0 divergences"),
    ],
    ids=["strong form", "fourth order", "two divergences", "no divergence"],
)
def test_an_equation_that_does_not_tell_its_flux(op, message):
    with pytest.raises(OperatorError, match=message):
        problem(op, ko.Interface(DISK.boundary))
    problem(op, ko.Interface(DISK.boundary, flux=lambda u: STEP * ko.normal_derivative(u)))


def test_several_unknowns_need_a_flux():
    op = lambda u, p: -ko.laplacian(u) + ko.grad(p)
    conditions = (
        ko.Equation(op, on=SQUARE),
        ko.Equation(lambda u: ko.div(u), on=SQUARE, name="mass"),
        ko.Dirichlet(on=SQUARE.boundary, of="u"),
    )
    with pytest.raises(ArgumentError, match="give flux="):
        ko.Problem(*conditions, ko.Interface(DISK.boundary, of="u"), unknowns={"u": 2, "p": 1})


@pytest.mark.parametrize(
    ("surface", "error"),
    [
        (lambda: DISK, ArgumentError),
        (lambda: SQUARE.boundary, ArgumentError),
        (lambda: DISK.boundary.where(lambda x: x[..., 0] > 0), ArgumentError),
        (lambda: ko.Ball([5, 5], 1).boundary, ArgumentError),
        (lambda: "rim", ArgumentTypeError),
    ],
    ids=["a domain", "the outer boundary", "half of a circle", "elsewhere", "a word"],
)
def test_surfaces_that_do_not_cut_the_domain(surface, error):
    with pytest.raises(error):
        problem(lambda u: -ko.div(STEP * ko.grad(u)), ko.Interface(surface()))


def test_two_halves_are_a_whole():
    left, right = (DISK.boundary.where(lambda x, s=s: s * x[..., 0] >= 0) for s in (-1, 1))
    found = problem(lambda u: -ko.laplacian(u), ko.Interface(left, name="left"), ko.Interface(right, 1.0, name="right"))
    assert found.cuts == (DISK,)


def test_an_interface_alone():
    with pytest.raises(KernopError, match="without an equation"):
        ko.Problem(ko.Dirichlet(on=SQUARE.boundary), ko.Interface(DISK.boundary))


def test_what_two_interfaces_say_of_one_place_must_agree():
    op = lambda u: -ko.laplacian(u)
    again, hole = ko.Ball([0, 0], 0.5), ko.Ball([0, 0], 0.9) - DISK
    problem(op, ko.Interface(DISK.boundary, name="i"), ko.Interface(again.boundary, name="j"))
    turned = ko.Interface(hole.boundary, lambda x: -x[..., 0] * (jnp.sum(x**2, axis=-1) < 0.5), name="j")
    problem(op, ko.Interface(DISK.boundary, lambda x: x[..., 0], name="i"), turned)  # its normals point inward
    for other in (ko.Interface(again.boundary, 1.0, name="j"), ko.Interface(again.boundary, "step", name="j")):
        with pytest.raises(
            ArgumentError, match=r"j: jump: got .*, where 'i_jump' says what it is; state one interface"
        ):
            problem(op, ko.Interface(DISK.boundary, name="i"), other)
    half = ko.Interface(DISK.boundary.where(lambda x: x[..., 0] > 0), flux_jump=1.0, name="j")
    with pytest.raises(ArgumentError, match=r"j: flux_jump: got 1\.0 at .*, where 'i_flux' says"):
        problem(op, ko.Interface(DISK.boundary, name="i"), half)


ROUND, OTHER = ko.Ball([0.3, 0.3], 0.2), ko.Ball([0.7, 0.7], 0.1)


@pytest.mark.parametrize(
    ("region", "interfaces", "pieces"),
    [
        (ROUND - ko.Ball([0.3, 0.3], 0.1), 2, 3),
        (ROUND | OTHER, 2, 3),
        ((ROUND - ko.Ball([0.3, 0.3], 0.1)) | OTHER, 3, 4),
        (ROUND | ko.Ball([0.4, 0.4], 0.2), 1, 2),
        (ROUND - ko.Ball([0.5, 0.3], 0.1), 1, 2),
        (ROUND & ko.Ball([0.4, 0.4], 0.2), 1, 2),
    ],
    ids=["ring", "two disks", "ring and disk", "overlapping", "notched", "lens"],
)
def test_what_lies_apart_has_functions_of_its_own(region, interfaces, pieces):
    """Combinations whose boundaries do not meet are several interfaces; the inside of a ring is a piece."""
    a = ko.Piecewise({region: 10.0}, otherwise=1.0)
    square = ko.Box([0, 0], [1, 1])
    equation = ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=square)
    found = with_interfaces(ko.Problem(equation, ko.Dirichlet(on=square.boundary)))
    assert len(found.cuts) == interfaces
    assert len(subdomains_of(found)) == pieces


@pytest.mark.parametrize("other", [100j, -1j, 1e-9 + 2j])
def test_a_coefficient_that_is_imaginary_on_one_side(other):
    """Only real parts were compared: of a factor i before the flux nothing was seen but 0."""
    D = ko.Box([-1, -1], [1, 1])
    a = ko.Piecewise({ko.Box([-1, -1], [0.2, 1]): 1.0, ko.Box([0.2, -1], [1, 1]): other})
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=D, name="f"), ko.Dirichlet(on=D.boundary, name="g")
    )
    exact = lambda x: np.where(x[..., 0] < 0.2, x[..., 0] - 0.2, (x[..., 0] - 0.2) / other)
    x = D.sample(100, "uniform", seed=5).x
    u = ko.learn(problem, method=ko.Subspace(250))(0.0, exact)
    np.testing.assert_allclose(u(x), exact(x), atol=1e-9 * np.max(np.abs(exact(x))))
