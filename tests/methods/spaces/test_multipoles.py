"""Multipoles against nested autodiff, the equations that they solve, and exact solutions with poles in holes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError
from kernop.collocation.ansatz import PLAIN
from kernop.collocation.functionals import Functionals, tabulated
from kernop.methods.spaces.multipoles import Multipoles, seen_degree, up_to

RNG = np.random.default_rng(0)
CENTRES = {2: np.array([0.3, -0.2]), 3: np.array([0.3, -0.2, 0.5])}


def around(dim, n=6):
    """Points outside the ball of radius ½ around the centre."""
    direction = RNG.normal(size=(n, dim))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return CENTRES[dim] + 0.5 * (1.0 + 2.0 * RNG.uniform(size=(n, 1))) * direction


def by_hand(dim, y):
    """Each function for n ≤ 1 and j ≤ 1, from y = (x − m) / R, up to a factor."""
    t = jnp.sum(y**2)
    if dim == 2:
        return [jnp.log(t), t * jnp.log(t), y[0] / t, y[1] / t, y[0] * jnp.log(t), y[1] * jnp.log(t)]
    return [t**-0.5, t**0.5, *(y[k] * t**-1.5 for k in (2, 0, 1)), *(y[k] * t**-0.5 for k in (2, 0, 1))]


ALPHAS = {2: [(0, 0), (1, 0), (2, 1)], 3: [(0, 0, 0), (0, 0, 1), (1, 2, 0)]}


@pytest.mark.parametrize("dim", [2, 3])
class TestMatrix:
    def test_agrees_with_nested_autodiff(self, dim):
        space = Multipoles(CENTRES[dim], 0.5, np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), reach=4.0)
        x, alphas = around(dim), ALPHAS[dim]
        phi = RNG.normal(size=(len(x), len(alphas)))
        rows = tabulated(x, {(0, alpha): phi[:, k] for k, alpha in enumerate(alphas)})
        found = space.matrix(Functionals((rows,)))
        values = space.matrix(Functionals((tabulated(x[:1], {(0, alphas[0]): np.ones(1)}),)))[0]

        def functions(p):
            return jnp.stack(by_hand(dim, (p - CENTRES[dim]) / 0.5))

        def derivative(alpha):
            found = functions
            for axis in (axis for axis, times in enumerate(alpha) for _ in range(times)):
                found = along(found, axis)
            return jax.jit(jax.vmap(found))(x)

        def along(function, axis):
            return lambda p: jax.jvp(function, (p,), (jnp.eye(dim)[axis],))[1]

        with jax.enable_x64(True):
            truth = sum(phi[:, k, None] * derivative(alpha) for k, alpha in enumerate(alphas))
            scale = values / jax.jit(functions)(x[0])
        np.testing.assert_allclose(found, scale * truth, rtol=1e-9, atol=1e-9)

    def test_solves_laplaces_equation_where_j_is_0_and_is_of_size_1(self, dim):
        kinds, d = up_to(dim, 8, 10**6), np.eye(dim, dtype=int)
        x = around(dim, 50)
        twice = {(0, tuple(2 * d[k])): np.ones(len(x)) for k in range(dim)}

        def values(space, x):
            return space.matrix(Functionals((tabulated(x, {(0, (0,) * dim): np.ones(len(x))}),)))

        harmonic = Multipoles(CENTRES[dim], 0.5, kinds[kinds[:, 1] == 0], reach=3.0)
        laplacian = harmonic.matrix(Functionals((tabulated(x, twice),)))
        assert np.max(np.abs(laplacian)) < 1e-10
        every = Multipoles(CENTRES[dim], 0.5, kinds, reach=3.0)
        assert len(every) > len(harmonic)
        assert np.max(np.abs(values(every, x))) < 6.0
        assert np.linalg.matrix_rank(values(every, around(dim, 400))) == len(every)

    def test_is_finite_in_the_hole(self, dim):
        space = Multipoles(CENTRES[dim], 0.5, up_to(dim, 20, 10**6), reach=4.0)
        rows = Functionals((tabulated(CENTRES[dim][None], {(0, (0,) * dim): np.ones(1)}),))
        assert np.all(np.isfinite(space.matrix(rows)))


class TestKinds:
    @pytest.mark.parametrize(("dim", "most"), [(2, 1), (2, 40), (3, 100)])
    def test_are_as_many_as_asked_for_at_most(self, dim, most):
        sizes = [len(Multipoles(CENTRES[dim], 0.5, up_to(dim, 50, own), reach=4.0)) for own in (most, 2 * most + 1)]
        assert sizes[0] <= most
        assert sizes[1] > sizes[0]

    def test_the_degree_follows_from_points_around_the_hole(self):
        few, many = (np.concatenate([np.full(n, 1.0), np.linspace(2.0, 9.0, 500)]) for n in (20, 80))
        assert 2 * seen_degree(2, few) + 1 <= 20 < 4 * seen_degree(2, few)
        assert 2 * seen_degree(2, many) + 1 <= 80 < 4 * seen_degree(2, many)
        assert (seen_degree(3, many) + 1) ** 2 <= 80 < 4 * (seen_degree(3, many) + 1) ** 2

    @pytest.mark.parametrize(
        "wrong",
        [
            {"radius": 0.0},
            {"reach": 0.5},
            {"kinds": np.zeros((0, 2), dtype=int)},
            {"kinds": np.array([[1, 0], [1, 0]])},
            {"kinds": np.array([[-1, 0]])},
            {"kinds": np.array([[1000, 0]])},
            {"component": 1},
            {"centre": np.zeros(4)},
        ],
    )
    def test_from_a_file_are_checked(self, wrong):
        good = {"centre": np.zeros(2), "radius": 1.0, "reach": 2.0, "kinds": np.array([[0, 0]]), "component": 0}
        Multipoles(**good, ansatz=PLAIN).check()
        with pytest.raises((ArgumentError, ValueError)):
            Multipoles(**(good | wrong), ansatz=PLAIN).check()


RING = ko.Ball([0, 0], 1.0) - ko.Ball([0.2, 0.1], 0.35)


def learned(op, number=300):
    problem = ko.Problem(ko.Equation(op, on=RING, data=0.0), ko.Dirichlet(on=RING.boundary, name="g"))
    return ko.learn(problem, method=ko.Subspace(number), points=3 * number)


def distance(x):
    """From a place in the hole that is not its middle."""
    return np.hypot(x[..., 0] - 0.25, x[..., 1] - 0.15)


class TestAroundAHole:
    """Without multipoles these errors are 1e-2 and more."""

    def test_harmonic(self):
        T, x = learned(lambda u: -ko.laplacian(u)), RING.sample(300, "uniform", seed=1).x
        error = np.max(np.abs(T(g=lambda x: np.log(distance(x)))(x) - np.log(distance(x))))
        assert error < 1e-5

    def test_saved_operators_know_their_functions(self, tmp_path):
        T, x = learned(lambda u: -ko.laplacian(u) + 4.0 * u, 120), RING.sample(50, "uniform", seed=1).x
        T.save(tmp_path / "ring.kernop")
        np.testing.assert_array_equal(ko.load(tmp_path / "ring.kernop")(g=1.0)(x), T(g=1.0)(x))
        assert "Multipoles" in T.space

    def test_the_report_tells_of_them(self):
        problem = ko.Problem(
            ko.Equation(lambda u: -ko.laplacian(u), on=RING, data=0.0), ko.Dirichlet(on=RING.boundary, name="g")
        )
        T = ko.learn(problem, budget=150)
        assert T.report.holes == 1
        assert str(T.report).startswith("learned by default with poles in 1 hole: error")
        exact = np.log(distance(RING.sample(300, "uniform", seed=1).x))
        u = T(g=lambda x: np.log(distance(x)))
        error = np.linalg.norm(u(RING.sample(300, "uniform", seed=1).x) - exact) / np.linalg.norm(exact)
        assert error < u.error_estimate().relative_l2 < 1e-3
