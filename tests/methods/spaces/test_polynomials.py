"""Polynomials against NumPy's Legendre series, nested autodiff, and exact solutions that are polynomials."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial import legendre as series

import kernop as ko
from kernop.collocation.ansatz import PLAIN
from kernop.collocation.functionals import Functionals, tabulated
from kernop.methods.spaces.polynomials import Polynomials, legendre, lobatto, total_degree

RNG = np.random.default_rng(0)
SQUARE = ko.Box([0, 0], [2, 1])


def coefficient(x):
    return 1.0 + 0.3 * x[..., 0] * x[..., 1]


DARCY = ko.Problem(
    ko.Equation(lambda u: -ko.div(coefficient * ko.grad(u)) + ko.partial(u, 0), on=SQUARE, name="f"),
    ko.Dirichlet(on=SQUARE.boundary, name="g"),
)


def cubic(x):
    return x[..., 0] ** 3 - 2.0 * x[..., 0] * x[..., 1] ** 2 + x[..., 1] - 0.5


def error(operator, exact=cubic):
    x = RNG.uniform(size=(200, 2)) * [2.0, 1.0]
    u = operator(**operator.problem.manufacture(exact, operator.points))
    return np.linalg.norm(u(x) - exact(x)) / np.linalg.norm(exact(x))


class TestLegendre:
    @pytest.mark.parametrize("order", [0, 1, 2, 4])
    def test_derivatives_are_those_of_numpys_series(self, order):
        z = np.linspace(-1.1, 1.1, 41)
        found = legendre(z, 12, order)
        for n in range(13):
            unit = math.sqrt(2 * n + 1) * np.eye(13)[n]
            for m in range(order + 1):
                truth = series.legval(z, series.legder(unit, m)) if m else series.legval(z, unit)
                size = float(np.max(np.abs(truth), initial=1.0))
                np.testing.assert_allclose(found[m, n] / size, truth / size, rtol=1e-11, atol=1e-11)


class TestLobatto:
    def test_derivatives_are_those_of_numpys_series(self):
        z = np.linspace(-1.0, 1.0, 21)
        found = lobatto(z, 9, 2)
        for n in range(10):
            own = np.eye(10)[n] - (np.eye(10)[n - 2] if n > 1 else 0.0)
            square = series.legint(series.legmul(own, own))
            own = own / math.sqrt(0.5 * (series.legval(1.0, square) - series.legval(-1.0, square)))
            for m in range(3):
                truth = series.legval(z, series.legder(own, m)) if m else series.legval(z, own)
                np.testing.assert_allclose(found[m, n], truth, atol=1e-11 * max(1.0, np.max(np.abs(truth))))

    def test_those_of_degree_two_and_more_vanish_at_the_ends(self):
        found = lobatto(np.array([-1.0, 1.0]), 30, 0)[0]
        assert np.max(np.abs(found[2:])) < 1e-13
        assert np.min(np.abs(found[:2])) == 1.0


class TestTotalDegree:
    @pytest.mark.parametrize("dim", [1, 2, 3, 5])
    @pytest.mark.parametrize("number", [1, 2, 20, 500])
    def test_is_the_largest_set_within_the_number(self, dim, number):
        found = total_degree(dim, number)
        degree = int(found.sum(axis=1).max())
        by_hand = [nu for nu in itertools.product(range(degree + 1), repeat=dim) if sum(nu) <= degree]
        assert {tuple(nu) for nu in found.tolist()} == set(by_hand)
        assert len(found) == math.comb(degree + dim, dim) <= number < math.comb(degree + 1 + dim, dim)


class TestMatrix:
    def test_functionals_agree_with_nested_autodiff(self):
        centre, half, degrees = np.array([1.0, 0.5]), np.array([1.0, 0.5]), total_degree(2, 28)
        space = Polynomials(centre, half, degrees)
        x = RNG.uniform(size=(300, 2)) * [2.0, 1.0]
        phi = RNG.normal(size=(300, 3))
        rows = tabulated(x, {(0, (0, 0)): phi[:, 0], (0, (1, 1)): phi[:, 1], (0, (0, 3)): phi[:, 2]})

        def function(nu):
            units = [math.sqrt(2 * n + 1) * np.eye(n + 1)[n] for n in nu]
            powers = [series.leg2poly(unit) for unit in units]
            return lambda p: math.prod(
                jnp.polyval(jnp.asarray(own[::-1]), (p[j] - centre[j]) / half[j]) for j, own in enumerate(powers)
            )

        with jax.enable_x64(True):
            for j in (0, 5, 11, 27):
                p = function(degrees[j].tolist())
                mixed = jax.grad(lambda q, p=p: jax.grad(p)(q)[0])
                third = jax.grad(lambda q, p=p: jax.grad(lambda r: jax.grad(p)(r)[1])(q)[1])
                at = lambda q, p=p, mixed=mixed, third=third: jnp.stack([p(q), mixed(q)[1], third(q)[1]])
                truth = np.sum(phi[::60] * jax.jit(jax.vmap(at))(x[::60]), axis=1)
                column = space.matrix(Functionals((rows,)))[::60, j]
                np.testing.assert_allclose(column, truth, rtol=1e-9, atol=1e-9)

    def test_orders_and_a_given_array_hold_the_same_numbers(self):
        space = Polynomials(np.zeros(2), np.ones(2), total_degree(2, 21))
        left = PLAIN.evaluations(RNG.uniform(-1, 1, size=(600, 2)))
        by_rows, by_columns, given = space.matrix(left), space.matrix(left, order="F"), np.empty((600, 21))
        assert by_columns.flags.f_contiguous
        assert space.matrix(left, out=given) is given
        np.testing.assert_array_equal(by_rows, by_columns)
        np.testing.assert_array_equal(by_rows, given)

    def test_functions_are_orthonormal_in_the_mean_over_the_box(self):
        nodes, weights = np.polynomial.legendre.leggauss(12)
        x = np.array(list(itertools.product(nodes, nodes))) * [0.5, 3.0] + [1.0, -2.0]
        mean = np.outer(weights, weights).ravel() / 4.0
        space = Polynomials(np.array([1.0, -2.0]), np.array([0.5, 3.0]), total_degree(2, 45))
        values = space.matrix(PLAIN.evaluations(x))
        np.testing.assert_allclose(values.T @ (mean[:, None] * values), np.eye(45), atol=1e-13)

    def test_other_components_are_zero(self):
        left = Functionals((tabulated(np.zeros((4, 1)), {(1, (0,)): np.ones(4)}),))
        assert not np.any(Polynomials(np.zeros(1), np.ones(1), total_degree(1, 3)).matrix(left))


class TestLearning:
    @pytest.mark.parametrize("batch", [None, 200])
    def test_a_cubic_is_found_exactly_from_ten_functions(self, batch):
        method = ko.Subspace(10, basis="polynomials", batch=batch)
        assert error(ko.learn(DARCY, points=400, method=method)) < 1e-13

    def test_beats_gaussians_where_both_resolve(self):
        def smooth(x):
            return jnp.sin(2.0 * x[..., 0]) * jnp.exp(x[..., 1])

        def exact(x):
            return np.sin(2.0 * x[..., 0]) * np.exp(x[..., 1])

        x = RNG.uniform(size=(200, 2)) * [2.0, 1.0]
        errors = {}
        for basis in ("polynomials", "translates"):
            operator = ko.learn(DARCY, points=900, method=ko.Subspace(300, basis=basis))
            u = operator(**DARCY.manufacture(smooth, operator.points))
            errors[basis] = np.linalg.norm(u(x) - exact(x)) / np.linalg.norm(exact(x))
        assert errors["polynomials"] < 1e-12
        assert errors["polynomials"] < errors["translates"]

    def test_tolerance_estimate_deviation_update_and_file(self, tmp_path):
        operator = ko.learn(DARCY, tol=0.1, method=ko.Subspace(basis="polynomials"))
        assert operator.kernel is None
        assert "Polynomials(degree" in repr(operator)
        u = operator(**DARCY.manufacture(cubic, operator.points))
        assert 0.0 <= float(u.error_estimate().relative_l2) < 1e-6
        x = RNG.uniform(size=(20, 2))
        assert np.all(u.std(x) >= 0.0)
        operator.save(tmp_path / "polynomials.kernop")
        loaded = ko.load(tmp_path / "polynomials.kernop")
        values = DARCY.manufacture(cubic, operator.points)
        np.testing.assert_array_equal(loaded(**values)(x), u(x))
        few = ko.learn(DARCY, points=300, method=ko.Subspace(15, basis="polynomials"))
        more = {"f": SQUARE.sample(40, seed=3)}
        assert error(few.update(more)) < 1e-12

    def test_every_component_of_a_complex_system_has_its_polynomials(self):
        line = ko.Interval(0.0, 1.0)
        problem = ko.Problem(
            ko.Equation(lambda u, v: 1j * u - ko.laplacian(u) + v, on=line, name="f"),
            ko.Equation(lambda u, v: v - ko.laplacian(v) + 2.0 * u, on=line, name="h"),
            ko.Dirichlet(on=line.boundary, name="a", of="u"),
            ko.Dirichlet(on=line.boundary, name="b", of="v"),
            unknowns={"u": 1, "v": 1},
        )
        operator = ko.learn(problem, points=60, method=ko.Subspace(6, basis="polynomials"))
        assert len(operator.factorisation.expansion) == 4 * 6
        # u = x² + i x, v = i x³
        x, z = operator.points["f"].x[:, 0], operator.points["h"].x[:, 0]
        f = 1j * (x**2 + 1j * x) - 2.0 + 1j * x**3
        h = 1j * z**3 - 6j * z + 2.0 * (z**2 + 1j * z)
        s = operator(f=f, h=h, a=np.array([0.0, 1.0 + 1j]), b=np.array([0.0, 1j]))
        t = np.linspace(0, 1, 9)
        np.testing.assert_allclose(s.u(t[:, None]), t**2 + 1j * t, atol=1e-12)
        np.testing.assert_allclose(s.v(t[:, None]), 1j * t**3, atol=1e-12)


class TestRefusals:
    def test_of_a_kernel_centres_and_a_norm_that_polynomials_do_not_have(self):
        with pytest.raises(ko.errors.ArgumentError, match="kernel"):
            ko.learn(DARCY, kernel=ko.Gaussian(1.0), method=ko.Subspace(10, basis="polynomials"))
        with pytest.raises(ko.errors.ArgumentError, match="give a number of polynomials"):
            ko.Subspace(np.zeros((3, 2)), basis="polynomials")
        with pytest.raises(ko.errors.ArgumentError, match="rkhs"):
            ko.Subspace(10, basis="polynomials", penalty="rkhs")
