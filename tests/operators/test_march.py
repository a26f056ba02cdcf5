"""Slabs of time one after the other, against closed forms, a spectral discretisation in time, and one long slab."""

import warnings
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm

import kernop as ko
from kernop.errors import (
    AccuracyWarning,
    ArgumentError,
    IllPosedWarning,
    InputNameError,
    MissingFunctionError,
    OutsideDomainError,
    ShapeError,
)

LINE = ko.Interval(0.0, 1.0)
PI = np.pi


def slab(duration, start=0.0, space=LINE):
    return ko.SpaceTime(space, (start, start + duration))


def parabolic(op, duration=0.3, start=0.0):
    D = slab(duration, start)
    return ko.Problem(
        ko.Equation(op, on=D, name="f"), ko.Dirichlet(on=D.walls, name="g"), ko.Initial(on=D.initial, name="u0")
    )


def hyperbolic(op, duration=0.5):
    D = slab(duration)
    return ko.Problem(
        ko.Equation(op, on=D, name="f"),
        ko.Dirichlet(on=D.walls, name="g"),
        ko.Initial(on=D.initial, name="u0"),
        ko.Initial(on=D.initial, name="v0", order=1),
    )


OPS = {
    "heat": lambda u: ko.dt(u) - 0.1 * ko.laplacian(u),
    "advection–diffusion": lambda u: ko.dt(u) + ko.partial(u, 0) - 0.05 * ko.laplacian(u),
    "wave": lambda u: ko.dt(u, 2) - ko.laplacian(u),
    "damped wave": lambda u: ko.dt(u, 2) + 0.5 * ko.dt(u) - ko.laplacian(u),
    "growth": lambda u: ko.dt(u) - 0.1 * ko.laplacian(u) - 3.0 * u,
    "Schrödinger": lambda u: 1j * ko.dt(u) + 0.2 * ko.laplacian(u),
}


@cache
def learned(name, centres=200, points=800):
    problem = hyperbolic(OPS[name]) if "wave" in name else parabolic(OPS[name])
    return ko.learn(problem, points=points, method=ko.Subspace(centres))


def places(T, steps, number=1500):
    D = T.problem["f"].on
    first, last = D.times
    return ko.SpaceTime(D.space, (first, first + steps * (last - first))).sample(number, "uniform", seed=5).x


def manufactured(T, u):
    """Data of u as functions of the time of all slabs; derivatives by JAX."""

    def data(condition):
        def values(x):
            x = np.asarray(x)
            return ko.apply_operator(condition.op, u, ko.Points(x, timed=True), name=condition.name)

        return values

    return {c.name: data(c) for c in T.problem.conditions}


def later(x, time):
    return x + np.array([0.0, time])


def values(u, x):
    return ko.apply_operator(lambda v: v, u, ko.Points(x, timed=True))


def relative(found, exact):
    return np.sqrt(np.mean(np.abs(found - exact) ** 2) / np.mean(np.abs(exact) ** 2))


@jax.jit
def driven(x):
    return jnp.sin(2.3 * x[..., 0] + 0.3) * jnp.cos(1.7 * x[..., 1]) + 1.0 + 0.5 * jnp.cos(x[..., 1] + x[..., 0])


@jax.jit
def moving(x):
    return jnp.sin(4.0 * x[..., 0] + 0.3 - 2.0 * x[..., 1])


@jax.jit
def decaying(x):
    return jnp.sin(PI * x[..., 0]) * jnp.exp(-0.1 * PI**2 * x[..., 1])


@jax.jit
def standing(x):
    return jnp.sin(2 * PI * x[..., 0]) * jnp.cos(2 * PI * x[..., 1]) + 0.3 * jnp.sin(PI * x[..., 0]) * jnp.sin(
        PI * x[..., 1]
    )


class TestAgainstTruth:
    @pytest.mark.parametrize("steps", [10, 100])
    def test_heat_decays(self, steps):
        T = learned("heat")
        u = T.march(steps, f=0.0, g=0.0, u0=lambda x: jnp.sin(PI * x[..., 0]))
        x = places(T, steps)
        exact = values(decaying, x)
        assert relative(u(x), exact) < 1e-7
        last = x[:, 1] > 0.9 * u.times[1]
        assert relative(u(x[last]), exact[last]) < 1e-5  # relative to a solution that has decayed to 1e-13

    @pytest.mark.parametrize("steps", [10, 100])
    def test_a_string_swings_for_ever(self, steps):
        T = learned("wave")
        velocity = lambda x: 0.3 * PI * jnp.sin(PI * x[..., 0])
        u = T.march(steps, f=0.0, g=0.0, u0=lambda x: jnp.sin(2 * PI * x[..., 0]), v0=velocity)
        x = places(T, steps)
        assert relative(u(x), values(standing, x)) < 1e-6

    def test_a_damped_string_with_velocity(self):
        T, gamma = learned("damped wave"), 0.5
        u = T.march(20, 0.0, 0.0, 0.0, lambda x: jnp.sin(PI * x[..., 0]))
        x = places(T, 20)
        omega = np.sqrt(PI**2 - gamma**2 / 4)
        exact = np.exp(-gamma * x[:, 1] / 2) * np.sin(omega * x[:, 1]) / omega * np.sin(PI * x[:, 0])
        assert relative(u(x), exact) < 1e-6

    @pytest.mark.parametrize("name", ["heat", "advection–diffusion", "wave", "damped wave"])
    @pytest.mark.parametrize("exact", [driven, moving])
    def test_data_in_the_time_of_all_slabs(self, name, exact):
        T = learned(name)
        u = T.march(15, **manufactured(T, exact))
        x = places(T, 15)
        assert relative(u(x), values(exact, x)) < 1e-6

    def test_a_matrix_exponential(self):
        """u_t + u_x = 0.05 u_xx + 1 with zero walls, from 0: no closed form; Chebyshev collocation in space."""
        n = 40
        nodes = np.cos(PI * np.arange(n + 1) / n)
        c = np.hstack([2.0, np.ones(n - 1), 2.0]) * (-1.0) ** np.arange(n + 1)
        apart = nodes[:, None] - nodes + np.eye(n + 1)
        first = np.outer(c, 1.0 / c) / apart
        first -= np.diag(first.sum(axis=1))
        first = 2.0 * first  # from [−1, 1] to [0, 1]
        inner = (0.05 * first @ first - first)[1:-1, 1:-1]
        T = ko.learn(parabolic(OPS["advection–diffusion"], 0.25), points=2000, method=ko.Subspace(400))
        smooth = lambda x: 16.0 * (x[..., 0] * (1.0 - x[..., 0])) ** 2  # its corners are compatible with f = 0
        u = T.march(8, f=0.0, g=0.0, u0=smooth)
        space = (nodes[1:-1] + 1.0) / 2.0
        for time in (0.4, 1.0, 1.9):
            exact = expm(time * inner) @ smooth(space[:, None])
            assert np.max(np.abs(u(np.column_stack([space, np.full(n - 1, time)])) - exact)) < 2e-4 * np.max(exact)

    def test_one_step_is_the_operator_itself(self):
        T = learned("heat")
        given = manufactured(T, driven)
        x = places(T, 1)
        assert np.array_equal(T.march(1, **given)(x), T(**given)(x))

    def test_short_slabs_against_a_long_one(self):
        long = ko.learn(parabolic(OPS["heat"], 1.2), points=2500, method=ko.Subspace(600))
        short = learned("heat")
        given = {"f": lambda x: jnp.cos(3.0 * x[..., 1]) * x[..., 0], "g": 0.0, "u0": lambda x: jnp.sin(PI * x[..., 0])}
        x = places(short, 4)
        assert relative(short.march(4, **given)(x), long(**given)(x)) < 1e-4

    def test_a_slab_that_does_not_begin_at_zero(self):
        T = ko.learn(parabolic(OPS["heat"], 0.3, start=2.0), points=1500, method=ko.Subspace(300))
        u = T.march(5, **manufactured(T, moving))
        x = places(T, 5)
        assert u.times == pytest.approx((2.0, 3.5))
        assert relative(u(x), values(moving, x)) < 1e-6

    def test_two_dimensions_of_space(self):
        D = slab(0.2, space=ko.Ball([0.0, 0.0], 1.0))
        problem = ko.Problem(
            ko.Equation(lambda u: ko.dt(u) - 0.1 * ko.laplacian(u), on=D, name="f"),
            ko.Neumann(on=D.walls, name="g"),
            ko.Initial(on=D.initial, name="u0"),
        )
        T = ko.learn(problem, points=3000, method=ko.Subspace(500))
        wave = lambda x: np.exp(x[..., 0] - x[..., 1] + 0.2 * x[..., 2])  # u_t = 0.1 Δu
        flux = lambda x: (x[..., 0] - x[..., 1]) * wave(x)  # on the unit circle
        u = T.march(5, 0.0, flux, wave)
        x = places(T, 5)
        assert relative(u(x), wave(x)) < 1e-4

    def test_coefficients_that_depend_on_space_or_are_periodic_in_time(self):
        a = lambda x: 1.0 + 0.3 * jnp.cos(2 * PI * x[..., 1] / 0.3) * x[..., 0]  # its period is the slab
        T = ko.learn(parabolic(lambda u: ko.dt(u) - 0.1 * (a * ko.laplacian(u))), points=2000, method=ko.Subspace(400))
        u = T.march(6, **manufactured(T, moving))
        x = places(T, 6)
        assert relative(u(x), values(moving, x)) < 1e-5


class TestSolutions:
    def test_derivatives_operators_and_residuals(self):
        T = learned("wave")
        u = T.march(7, **manufactured(T, moving))
        x = places(T, 7, 400)
        for axis in (0, 1):
            exact = ko.apply_operator(lambda v, axis=axis: ko.partial(v, axis), moving, ko.Points(x, timed=True))
            assert relative(u.grad(x)[:, axis], exact) < 1e-5
        late = lambda v: (lambda y: y[..., 1]) * ko.dt(v, 2)  # a coefficient in the time of all slabs
        assert relative(u.apply(late, x), ko.apply_operator(late, moving, ko.Points(x, timed=True))) < 1e-4
        assert np.max(np.abs(u.residual("f", x))) < 1e-3
        assert np.allclose(u.residual("f", x, data=0.0), u.apply(OPS["wave"], x), atol=1e-9)
        assert np.allclose(u.residual("f", x, data=np.ones(len(x))), u.apply(OPS["wave"], x) - 1.0, atol=1e-9)
        assert np.max(np.abs(u.residual("u0", T.points["u0"]))) < 1e-6

    def test_where_slabs_meet(self):
        T = learned("wave")
        u = T.march(5, **manufactured(T, moving))
        seams = np.array([[0.3, 0.5 * k] for k in range(6)])
        before, after = (np.clip(later(seams, s), 0.0, [1.0, 2.5]) for s in (-1e-9, 1e-9))
        assert np.allclose(u(before), u(after), atol=1e-6)
        assert np.allclose(u.grad(before), u.grad(after), atol=1e-5)

    def test_slabs_are_solutions_in_the_time_of_T(self):
        T = learned("heat")
        u = T.march(4, **manufactured(T, driven))
        x = places(T, 1, 50)
        assert len(u.slabs) == u.steps == 4
        assert np.allclose(u.slabs[2](x), u(later(x, 0.6)), rtol=1e-12)
        assert np.max(np.abs(u.slabs[3].residual("u0", T.points["u0"]))) < 1e-6  # what the third handed on
        assert u.slabs[3].error_estimate(covering=None, search=None).relative_l2 < 1e-4

    def test_batches_and_arrays(self):
        T = learned("heat")
        each = [driven, moving]
        single = [T.march(6, **manufactured(T, exact)) for exact in each]
        x, given = places(T, 6, 200), {}
        for c in T.problem.conditions:
            points = T.points[c.name].x
            times = range(1) if c.name == "u0" else range(6)
            columns = [[manufactured(T, exact)[c.name](later(points, 0.3 * k)) for exact in each] for k in times]
            given[c.name] = np.moveaxis(columns, 1, -1)
        given["u0"] = given["u0"][0]
        both = T.march(6, **given)
        assert both(x).shape == (200, 2)
        assert both.grad(x).shape == (200, 2, 2)
        assert np.allclose(both(x), np.stack([u(x) for u in single], axis=1), atol=1e-12)
        mixed = T.march(6, f=given["f"][..., 0], g=manufactured(T, driven)["g"], u0=given["u0"][:, 0])
        assert np.allclose(mixed(x), single[0](x), atol=1e-12)

    def test_complex_operators(self):
        T = learned("Schrödinger")
        u = T.march(20, 0.0, 0.0, lambda x: jnp.sin(2 * PI * x[..., 0]) + 0.0j)
        x = places(T, 20)
        exact = np.sin(2 * PI * x[:, 0]) * np.exp(-0.2j * (2 * PI) ** 2 * x[:, 1])
        assert relative(u(x), exact) < 1e-4
        assert u.spectral_radius == pytest.approx(1.0, abs=1e-3)

    def test_complex_data_of_a_real_operator(self):
        T = learned("heat")
        u = T.march(8, 0.0, 0.0, lambda x: (1.0 + 2.0j) * jnp.sin(PI * x[..., 0]))
        x = places(T, 8)
        assert relative(u(x), (1.0 + 2.0j) * values(decaying, x)) < 1e-7
        assert relative(u(x), (1.0 + 2.0j) * values(decaying, x)) < u.error_estimate().relative_l2

    def test_systems(self):
        """p_t + v_x = 0, v_t + p_x = 0: two unknowns, each with its own initial data."""
        D = slab(0.4)
        problem = ko.Problem(
            ko.Equation(lambda p, v: ko.dt(p) + ko.partial(v, 0), on=D, name="mass", data=0.0),
            ko.Equation(lambda p, v: ko.dt(v) + ko.partial(p, 0), on=D, name="momentum", data=0.0),
            ko.Dirichlet(on=D.walls, name="g", of="v", data=0.0),
            ko.Initial(on=D.initial, name="p0", of="p"),
            ko.Initial(on=D.initial, name="v0", of="v"),
            unknowns={"p": 1, "v": 1},
        )
        T = ko.learn(problem, points=1200, method=ko.Subspace(180))
        s = T.march(25, p0=lambda x: jnp.cos(PI * x[..., 0]), v0=0.0)
        x = np.random.default_rng(0).random((500, 2)) * [1.0, 10.0]
        p, v = (np.cos, np.sin)
        assert relative(s.p(x), p(PI * x[:, 0]) * p(PI * x[:, 1])) < 1e-5
        assert relative(s(x).v, v(PI * x[:, 0]) * v(PI * x[:, 1])) < 1e-5
        assert s.p.grad(x).shape == (500, 2)
        estimate = s.error_estimate()
        assert relative(s.p(x), p(PI * x[:, 0]) * p(PI * x[:, 1])) < estimate.of["p"].relative_l2 < 1e-3

    def test_fixed_data_and_integrals(self):
        D = slab(0.3)
        problem = ko.Problem(
            ko.Equation(OPS["heat"], on=D, name="f", data=lambda x: jnp.cos(x[..., 1])),
            ko.Neumann(on=D.walls, name="q", data=0.0),
            ko.Initial(on=D.initial, name="u0", data=1.0),
            ko.Mean(on=D.initial, name="mean"),
        )
        T = ko.learn(problem, points=1000, method=ko.Subspace(200))
        u = T.march(10, mean=1.0)
        x = places(T, 10)
        assert np.allclose(u(x), 1.0 + np.sin(x[:, 1]), atol=1e-7)

    def test_places(self):
        u = learned("heat").march(3, 0.0, 0.0, 0.0)
        with pytest.raises(OutsideDomainError, match=r"times from 0 to 0\.9"):
            u([[0.5, 0.91]])
        with pytest.raises(OutsideDomainError):
            u.grad([[0.5, -0.1]])
        with pytest.raises(OutsideDomainError):
            u.apply(lambda v: v, [[1.5, 0.1]])
        blank = u([[0.5, 0.5], [0.5, 1.0], [2.0, 0.5]], outside="nan")
        assert np.isnan(blank).tolist() == [False, True, True]
        assert np.isfinite(u([[0.5, 0.95]], outside="extrapolate")).all()
        with pytest.raises(ShapeError):
            u([[0.5, 0.5, 0.5]])

    def test_what_it_says(self):
        u = learned("heat").march(3, 0.0, 0.0, lambda x: jnp.sin(PI * x[..., 0]))
        assert "3 slabs from t = 0 to 0.9" in repr(u)
        assert "spectral radius 0.743722" in repr(u)  # exp(−0.1 π² 0.3)
        assert "spectral radius" in u.report()
        assert "on the last" in u.report()


class TestStability:
    def test_the_radius_is_that_of_the_slowest_mode(self):
        u = learned("heat").march(2, 0.0, 0.0, 0.0)
        assert u.spectral_radius == pytest.approx(np.exp(-0.1 * PI**2 * 0.3), rel=1e-8)
        assert u.removed == 0

    def test_a_growing_solution_is_said_to_grow_and_stays(self):
        T, rate = learned("growth"), 3.0 - 0.1 * PI**2
        with pytest.warns(AccuracyWarning, match="grows"):
            u = T.march(10, 0.0, 0.0, lambda x: jnp.sin(PI * x[..., 0]))
        assert u.spectral_radius == pytest.approx(np.exp(rate * 0.3), rel=1e-6)
        x = places(T, 10)
        assert relative(u(x), np.sin(PI * x[:, 0]) * np.exp(rate * x[:, 1])) < 1e-6

    @pytest.mark.parametrize("exact", [driven, moving])
    def test_modes_that_are_no_solutions_do_not_grow(self, exact):
        """With two points for each function some are multiplied by more than 1.5 in each slab: 1e10 after 60."""
        T = learned("wave", 1000, 2000)
        with warnings.catch_warnings():
            warnings.simplefilter("error", AccuracyWarning)
            u = T.march(60, **manufactured(T, exact))
        assert np.max(np.abs(np.linalg.eigvals(u.repetition.step.map))) > 1.5
        assert u.removed > 0
        assert u.spectral_radius < 1.04
        x = places(T, 60)
        assert relative(u(x), values(exact, x)) < 1e-6


class TestEstimates:
    @pytest.mark.parametrize(
        ("name", "exact", "centres", "steps"),
        [
            ("heat", driven, 60, 30),
            ("heat", driven, 200, 10),
            ("wave", standing, 60, 30),
            ("wave", standing, 200, 100),
            ("advection–diffusion", moving, 200, 30),
        ],
    )
    def test_not_below_the_truth_and_not_far_above(self, name, exact, centres, steps):
        T = learned(name, centres)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            u = T.march(steps, **manufactured(T, exact))
        x = places(T, steps, 3000)
        found, truth, estimate = u(x), values(exact, x), u.error_estimate()
        l2, linf = relative(found, truth), np.max(np.abs(found - truth)) / np.max(np.abs(truth))
        assert l2 <= estimate.relative_l2 <= 20.0 * l2
        assert linf <= estimate.relative_linf <= 40.0 * linf
        number = np.minimum((x[:, 1] / T.problem["f"].on.times[1]).astype(int), steps - 1)
        errors = np.array([np.sqrt(np.mean((found - truth)[number == k] ** 2)) for k in range(steps)])
        assert estimate.slabs_l2.shape == (steps,)
        assert np.all(errors <= 2.0 * estimate.slabs_l2)  # each has 30 to 300 points

    def test_arrays_alone(self):
        T = learned("heat")
        data, points = manufactured(T, driven), T.points
        given = {n: np.stack([data[n](later(points[n].x, 0.3 * k)) for k in range(8)]) for n in ("f", "g")}
        u = T.march(8, **given, u0=data["u0"](points["u0"].x))
        x = places(T, 8)
        estimate = u.error_estimate()
        assert estimate.source == "leave-one-out"
        assert relative(u(x), values(driven, x)) <= estimate.relative_l2
        assert u.error_estimate(**data).source == "fresh points"

    def test_batches(self):
        T = learned("heat")
        u = T.march(4, 0.0, 0.0, np.sin(np.outer(PI * T.points["u0"].x[:, 0], [1.0, 2.0])))
        estimate = u.error_estimate(u0=lambda x: np.sin(np.stack([PI * x[:, 0], 2 * PI * x[:, 0]], axis=1)))
        assert estimate.relative_l2.shape == (2,)
        assert estimate.slabs_l2.shape == (4, 2)
        assert estimate.residuals["u0"].rms.shape == (2,)

    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    def test_a_search_of_functions(self):
        T = learned("heat", 60)
        bump = lambda x: 1e3 * jnp.exp(-(((x[..., 0] - 0.51) ** 2 + (x[..., 1] - 0.7) ** 2) / 2e-5))
        u = T.march(3, bump, 0.0, 0.0)
        assert u.error_estimate(search=2**16).l2 > u.error_estimate().l2


class TestRefusals:
    def test_steps(self):
        T = learned("heat")
        for steps in (0, -1, 2.5, "3", True):
            with pytest.raises(ko.errors.KernopError, match="steps"):
                T.march(steps, 0.0, 0.0, 0.0)

    def test_inputs(self):
        T = learned("heat")
        n = len(T.points["f"])
        with pytest.raises(ShapeError, match=rf"f: got an array of shape \({n},\).*\(3, {n}\)"):
            T.march(3, np.zeros(n), 0.0, 0.0)
        with pytest.raises(ShapeError, match=r"shape \(2, "):
            T.march(3, np.zeros((2, n)), 0.0, 0.0)
        with pytest.raises(ShapeError, match="u0"):
            T.march(3, 0.0, 0.0, np.zeros((3, len(T.points["u0"]))).T[:, :, None])
        with pytest.raises(ShapeError, match="batches"):
            T.march(3, np.zeros((3, n, 2)), 0.0, np.zeros((len(T.points["u0"]), 4)))
        with pytest.raises(InputNameError):
            T.march(3, f=0.0, g=0.0)
        with pytest.raises(ko.errors.KernopError, match="f: got 'x'"):
            T.march(3, "x", 0.0, 0.0)

    @pytest.mark.parametrize(
        "op",
        [
            lambda u: ko.dt(u) - (lambda x: 0.1 + x[..., 1]) * ko.laplacian(u),
            lambda u: ko.dt(u) - 0.1 * ko.laplacian(u) + (lambda x: jnp.where(x[..., 1] > 1.7, 1.0, 0.0)) * u,
        ],
    )
    def test_coefficients_that_depend_on_time(self, op):
        T = ko.learn(parabolic(op), points=300, method=ko.Subspace(60))
        assert T.march(1, 0.0, 0.0, 0.0).steps == 1
        with pytest.raises(ArgumentError, match="'f' that depend on time"):
            T.march(10, 0.0, 0.0, 0.0)

    def test_regions_that_depend_on_time(self):
        D = slab(0.3)
        problem = ko.Problem(
            ko.Equation(OPS["heat"], on=D, name="f"),
            ko.Dirichlet(on=D.walls.where(lambda x: x[..., 1] < 0.1), name="g"),
            ko.Neumann(on=D.walls.where(lambda x: x[..., 1] >= 0.1), name="q"),
            ko.Initial(on=D.initial, name="u0"),
        )
        T = ko.learn(problem, points=300, method=ko.Subspace(60))
        with pytest.raises(ArgumentError, match="region of condition 'g'"):
            T.march(2, 0.0, 0.0, 0.0, 0.0)

    def test_parts_of_walls_are_welcome(self):
        D = slab(0.3)
        problem = ko.Problem(
            ko.Equation(OPS["heat"], on=D, name="f"),
            ko.Dirichlet(on=D.walls.where(lambda x: x[..., 0] < 0.5), name="g"),
            ko.Neumann(on=D.walls.where(lambda x: x[..., 0] >= 0.5), name="q"),
            ko.Initial(on=D.initial, name="u0"),
        )
        T = ko.learn(problem, points=1000, method=ko.Subspace(200))
        u = T.march(10, 0.0, 0.0, 0.0, lambda x: jnp.sin(PI * x[..., 0] / 2))
        x = places(T, 10)
        assert relative(u(x), np.sin(PI * x[:, 0] / 2) * np.exp(-0.1 * PI**2 / 4 * x[:, 1])) < 1e-6

    def test_domains_and_conditions(self):
        still = ko.learn(
            ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"), ko.Dirichlet(on=LINE.boundary)),
            points=60,
            method=ko.Subspace(12),
        )
        with pytest.raises(ArgumentError, match="SpaceTime"):
            still.march(2, 0.0, 0.0)
        D = slab(0.3)
        equation = ko.Equation(OPS["heat"], on=D, name="f")
        walls = ko.Dirichlet(on=D.walls, name="g")
        for condition, words in ((ko.Dirichlet(on=D.final, name="u1"), "final time"), (None, "without a condition")):
            problem = ko.Problem(equation, walls, *(() if condition is None else (condition,)))
            with pytest.warns(IllPosedWarning):
                T = ko.learn(problem, points=300, method=ko.Subspace(60))
            with pytest.raises(ArgumentError, match=words):
                T.march(2, *[0.0] * len(problem.inputs))

    def test_a_wave_without_velocity(self):
        D = slab(0.5)
        problem = ko.Problem(
            ko.Equation(OPS["wave"], on=D, name="f"),
            ko.Dirichlet(on=D.walls, name="g"),
            ko.Initial(on=D.initial, name="u0"),
        )
        with pytest.warns(IllPosedWarning):
            T = ko.learn(problem, points=300, method=ko.Subspace(60))
        with pytest.raises(ArgumentError, match="order 2 in time with 1"):
            T.march(2, 0.0, 0.0, 0.0)

    def test_streams(self):
        T = ko.learn(parabolic(OPS["heat"]), points=400, method=ko.Subspace(60, batch=150))
        with pytest.raises(ArgumentError, match="materialize"):
            T.march(2, 0.0, 0.0, 0.0)
        u = T.materialize().march(3, 0.0, 0.0, lambda x: jnp.sin(PI * x[..., 0]))
        x = places(T, 3, 100)
        assert relative(u(x), values(decaying, x)) < 1e-3


class TestMethodsAndFiles:
    @pytest.mark.parametrize("method", [ko.Full(), ko.LowRank()])
    def test_kernel_methods(self, method):
        T = ko.learn(
            parabolic(OPS["heat"]), points=500, method=method, kernel=ko.Gaussian([0.5, 0.3]), regularization=1e-10
        )
        u = T.march(4, 0.0, 0.0, lambda x: jnp.sin(PI * x[..., 0]))
        x = places(T, 4, 200)
        assert relative(u(x), values(decaying, x)) < 1e-2

    def test_an_envelope(self):
        D = slab(0.3)
        problem = ko.Problem(ko.Equation(OPS["heat"], on=D, name="f"), ko.Initial(on=D.initial, name="u0"))
        rho = lambda x: x[..., 0] * (1.0 - x[..., 0]) * (1.0 + x[..., 1])  # in the time of a slab
        T = ko.learn(problem, points=800, method=ko.Subspace(200, envelope=rho))
        u = T.march(5, 0.0, lambda x: jnp.sin(PI * x[..., 0]))
        x = places(T, 5, 300)
        assert relative(u(x), values(decaying, x)) < 1e-5
        assert relative(u.grad(x)[:, 1], -0.1 * PI**2 * values(decaying, x)) < 1e-3
        assert relative(u.apply(lambda v: ko.dt(v), x), -0.1 * PI**2 * values(decaying, x)) < 1e-3

    def test_files(self, path):
        T = learned("wave")
        given = {"f": 0.0, "g": 0.0, "u0": lambda x: jnp.sin(PI * x[..., 0]), "v0": 0.0}
        T.save(path)
        x = places(T, 6, 100)
        assert np.array_equal(ko.load(path).march(6, **given)(x), T.march(6, **given)(x))

    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    def test_files_of_functions(self, path):
        a = lambda x: 0.1 + 0.05 * x[..., 0]
        problem = parabolic(lambda u: ko.dt(u) - a * ko.laplacian(u))
        T = ko.learn(problem, points=300, method=ko.Subspace(60))
        T.save(path)
        with pytest.raises(MissingFunctionError, match="problem"):
            ko.load(path).march(3, 0.0, 0.0, 1.0)
        assert ko.load(path, problem=problem).march(3, 0.0, 0.0, 1.0).steps == 3


def test_matrix_fields_are_applied_entry_by_entry():
    T = learned("heat")
    u, x = T.march(3, f=0.0, g=0.0, u0=lambda x: np.sin(PI * x[..., 0])), places(T, 3, 40)
    both = (0, 1)
    second = u.apply(lambda v: ko.grad(ko.grad(v, axes=both), axes=both), x)
    for j in both:
        for k in both:
            own = u.apply(lambda v, j=j, k=k: ko.partial(ko.partial(v, j), k), x)
            np.testing.assert_allclose(second[:, j, k], own, rtol=1e-9, atol=1e-9)


def test_one_input_of_a_batch_begins_with_its_own_values():
    T = learned("heat")
    values = np.sin(PI * T.points["u0"].x[:, :1]) * np.array([1.0, 2.0])
    u = T.march(3, f=0.0, g=0.0, u0=values)
    np.testing.assert_array_equal(u[1].slabs[0].inputs["u0"], values[:, 1])
    x = places(T, 3, 40)
    np.testing.assert_allclose(u[1](x), T.march(3, f=0.0, g=0.0, u0=values[:, 1])(x), rtol=1e-9, atol=1e-10)


def test_the_misfit_of_a_sum_is_known():
    T = learned("heat")
    u = T.march(3, f=0.0, g=0.0, u0=lambda x: np.sin(PI * x[..., 0]))
    assert (u + u).misfit == pytest.approx(u.misfit, rel=1e-6)
    with pytest.raises(ArgumentError, match=r"u\.slabs\[k\]"):
        u.std([[0.5, 0.1]])
