"""The subspace estimator: against the full one, against NumPy, with an envelope, and as the default."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, RoughKernelError, ShapeError, SingularGramError
from kernop.basics.precision import float64
from kernop.trust.metrics import relative_l2

SQUARE = ko.Box([0, 0], [1, 1])
# More than 64 points everywhere, and a lengthscale for each axis: few functions are compiled.
X = SQUARE.sample(80, "uniform", seed=5).x
ETA, L, N_F, N_G = 0.2, 70, 90, 66
KERNEL = ko.Gaussian([ETA, ETA])
CENTRES = np.random.default_rng(7).uniform(-0.1, 1.1, size=(L, 2))


def poisson(u):
    return -ko.laplacian(u)


def dirichlet(domain, op=poisson):
    return ko.Problem(ko.Equation(op, on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g"))


PROBLEM = dirichlet(SQUARE)


@jax.jit
def smooth(x):
    """A solution without symmetries, in any dimension."""
    k = jnp.arange(1, x.shape[-1] + 1)
    return jnp.sin(jnp.sum(k * x, axis=-1)) + 0.5 * jnp.exp(-jnp.sum(x, axis=-1)) + x[..., 0] ** 3


def error(operator, solution, count=300):
    """The relative error for a manufactured solution, at points of its own."""
    problem = operator.problem
    u = operator(**problem.manufacture(solution, operator.points))
    x = problem.conditions[0].on.sample(count, "uniform", seed=99).x
    with float64():
        exact = np.asarray(solution(x))
    return float(relative_l2(u(x), exact))


def some_data(operator, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=len(points)) for points in operator.points.values()]


SETTINGS = {"kernel": KERNEL, "points": {"f": N_F, "g": N_G}, "regularization": 1e-6, "weights": "unit"}


@pytest.fixture(scope="module")
def full():
    return ko.learn(PROBLEM, method=ko.Full(), **SETTINGS)


@pytest.fixture(scope="module")
def everything():
    return ko.learn(PROBLEM, method=ko.Subspace(N_F + N_G, basis="representers", penalty="rkhs"), **SETTINGS)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
class TestAgainstFull:
    def test_all_representers_give_the_full_estimator(self, full, everything):
        data = some_data(full)
        expected = full(*data)(X)
        np.testing.assert_allclose(everything(*data)(X), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())

    def test_weights_too(self):
        changed = {**SETTINGS, "weights": {"f": 0.01, "g": 30.0}}
        full = ko.learn(PROBLEM, method=ko.Full(), **changed)
        subspace = ko.learn(PROBLEM, method=ko.Subspace(N_F + N_G, basis="representers", penalty="rkhs"), **changed)
        data = some_data(full)
        expected = full(*data)(X)
        np.testing.assert_allclose(subspace(*data)(X), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())

    def test_posterior_deviation_where_the_representer_is_in_the_subspace(self, full, everything):
        # At a Dirichlet point K(x, ·) is one of the functions, so the subspace leaves nothing of the prior out.
        at = full.points["g"].x
        np.testing.assert_allclose(everything.std(at), full.std(at), rtol=1e-4)

    def test_fewer_representers_do_not_fit_better(self, full):
        few = ko.learn(PROBLEM, method=ko.Subspace(15, basis="representers", penalty="rkhs"), **SETTINGS)
        f, g = some_data(full)

        def misfit(operator):
            u = operator(f, g)
            return np.sum(u.residual("f", full.points["f"], f) ** 2) + np.sum(u.residual("g", full.points["g"], g) ** 2)

        assert len(few.factorisation.expansion.functionals) == 15
        assert misfit(few) > misfit(full)


def laplacian_and_value(x, z):
    """−ΔK and K of exp(−r²/η²) in two dimensions."""
    r2 = ((x[:, None] - z[None]) ** 2).sum(-1) / ETA**2
    return (4 - 4 * r2) / ETA**2 * np.exp(-r2), np.exp(-r2)


def design(operator):
    inside, _ = laplacian_and_value(operator.points["f"].x, CENTRES)
    _, boundary = laplacian_and_value(operator.points["g"].x, CENTRES)
    return np.vstack([inside, boundary])


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
class TestAgainstNumPy:
    def learn(self, solver, regularization=1e-6, weights="unit", **more):
        return ko.learn(
            PROBLEM,
            kernel=KERNEL,
            points={"f": N_F, "g": N_G},
            regularization=regularization,
            weights=weights,
            method=ko.Subspace(CENTRES, solver=solver, **more),
        )

    def test_normal_equations_are_the_algorithm_of_the_paper(self):
        t = self.learn("normal")
        data = some_data(t)
        a = design(t)
        c = np.linalg.inv(a.T @ a + 1e-6 * np.eye(L)) @ (a.T @ np.concatenate(data))
        expected = laplacian_and_value(X, CENTRES)[1] @ c
        np.testing.assert_allclose(t(*data)(X), expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())

    @pytest.mark.parametrize("solver", ["qr", "normal"])
    def test_weighted_least_squares(self, solver):
        t = self.learn(solver, 1e-4, {"f": 0.02, "g": 7.0})
        data = some_data(t)
        roots = np.sqrt(np.repeat([0.02, 7.0], [N_F, N_G]))
        stacked = np.vstack([roots[:, None] * design(t), np.sqrt(1e-4) * np.eye(L)])
        right = np.concatenate([roots * np.concatenate(data), np.zeros(L)])
        c = np.linalg.lstsq(stacked, right, rcond=None)[0]
        expected = laplacian_and_value(X, CENTRES)[1] @ c
        np.testing.assert_allclose(t(*data)(X), expected, rtol=1e-7, atol=1e-8 * np.abs(expected).max())

    @pytest.mark.parametrize("solver", ["qr", "normal"])
    def test_penalty_in_the_norm_of_the_kernel(self, solver):
        t = self.learn(solver, 1e-5, penalty="rkhs")
        data = some_data(t)
        a, (_, m) = design(t), laplacian_and_value(CENTRES, CENTRES)
        c = np.linalg.solve(a.T @ a + 1e-5 * (N_F + N_G) * m, a.T @ np.concatenate(data))
        expected = laplacian_and_value(X, CENTRES)[1] @ c
        np.testing.assert_allclose(t(*data)(X), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())

    @pytest.mark.parametrize("solver", ["qr", "normal"])
    def test_balanced_weights_are_those_of_the_blocks_of_the_design_matrix(self, solver):
        t = self.learn(solver, 1e-3, "balanced")
        data = some_data(t)
        a = design(t)
        norms = np.array([np.sum(a[:N_F] ** 2), np.sum(a[N_F:] ** 2)])
        w = np.repeat(np.sqrt(norms[0] * norms[1]) / norms, [N_F, N_G])
        c = np.linalg.solve(a.T @ (w[:, None] * a) + 1e-3 * np.eye(L), a.T @ (w * np.concatenate(data)))
        expected = laplacian_and_value(X, CENTRES)[1] @ c
        np.testing.assert_allclose(t(*data)(X), expected, rtol=1e-7, atol=1e-8 * np.abs(expected).max())

    @pytest.mark.parametrize("solver", ["qr", "normal"])
    def test_std_is_that_of_random_coefficients(self, solver):
        t = self.learn(solver, 1e-2)
        a, e = design(t), laplacian_and_value(X, CENTRES)[1]
        variance = 1e-2 * np.einsum("ij,ji->i", e, np.linalg.solve(a.T @ a + 1e-2 * np.eye(L), e.T))
        np.testing.assert_allclose(t.std(X) ** 2, variance, rtol=1e-6)

    def test_centres_are_those_given(self):
        t = self.learn("qr")
        np.testing.assert_array_equal(t.factorisation.expansion.functionals.blocks[0].x, CENTRES)
        assert ko.Subspace(CENTRES.tolist()).centers.shape == (L, 2)

    def test_chosen_regularization_is_next_to_nothing(self):
        t = self.learn("qr", None)
        assert 0 <= t.regularization < 1e-20
        c = np.linalg.lstsq(design(t), np.concatenate(some_data(t)), rcond=None)[0]
        expected = laplacian_and_value(X, CENTRES)[1] @ c
        np.testing.assert_allclose(t(*some_data(t))(X), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("factor", [1e-3, 1e3, -1e3])
def test_the_scale_of_an_equation_does_not_matter(factor):
    def solve(factor):
        t = ko.learn(dirichlet(SQUARE, lambda u: factor * ko.laplacian(u)), points=300, method=ko.Subspace(80))
        f = lambda x: factor * jnp.sin(3 * x[..., 0] + x[..., 1])
        return t(f, lambda x: jnp.cos(x[..., 0]))(X)

    np.testing.assert_allclose(solve(factor), solve(1.0), rtol=1e-6)


@pytest.fixture(scope="module", params=["qr", "normal"])
def operator(request):
    return ko.learn(PROBLEM, points={"f": 200, "g": 100}, method=ko.Subspace(L, solver=request.param))


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
class TestFixedPoints:
    @pytest.mark.parametrize(("count", "matrices"), [(66, 1), (91, 1), (92, 2), (150, 2)])
    def test_two_thin_matrices_if_they_are_smaller(self, operator, count, matrices):
        assert ((count + 300) * L < count * 300) == (matrices == 2)
        x = SQUARE.sample(count, "uniform", seed=1).x
        s = operator.on(x)
        assert len(s.matrices) == matrices
        f, g = some_data(operator)
        expected = operator(f, g)(x)
        np.testing.assert_allclose(s(f, g), expected, atol=1e-6 * np.abs(expected).max())
        both = s(np.stack([f, -f], axis=1), np.stack([g, -g], axis=1))
        np.testing.assert_allclose(both, np.stack([expected, -expected], axis=1), atol=1e-6 * np.abs(expected).max())

    def test_basis_is_the_operator_as_a_matrix(self, operator):
        psi = operator.basis(X)
        assert psi.shape == (80, 300)
        f, g = some_data(operator)
        expected = operator(f, g)(X)
        np.testing.assert_allclose(psi @ np.concatenate([f, g]), expected, atol=1e-6 * np.abs(expected).max())
        column = np.zeros(200)
        column[17] = 1.0
        np.testing.assert_allclose(psi[:, 17], operator(column, 0.0)(X), atol=1e-6 * np.abs(psi).max())

    def test_derivatives(self, operator):
        f, g = some_data(operator)
        expected = operator(f, g).grad(X)[:, 1]
        found = operator.on(X, lambda u: ko.partial(u, 1))(f, g)
        np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())

    def test_std_needs_a_prior(self, operator):
        with pytest.raises(ko.errors.ArgumentError, match=r"std: got .*without regularisation.*ko\.Full"):
            operator.std(X)


def vanishing(x):
    return x[..., 0] * (1 - x[..., 0]) * x[..., 1] * (1 - x[..., 1])


def waves(x):
    return jnp.sin(jnp.pi * x[..., 0]) * jnp.sin(jnp.pi * x[..., 1])


@pytest.fixture(scope="module")
def enveloped():
    problem = ko.Problem(ko.Equation(poisson, on=SQUARE, name="f"))
    return ko.learn(problem, points=600, method=ko.Subspace(envelope=vanishing))


@pytest.fixture(scope="module")
def solution(enveloped):
    return enveloped(**enveloped.problem.manufacture(waves, enveloped.points))


class TestEnvelope:
    def test_vanishes_on_the_boundary(self, solution):
        x = SQUARE.boundary.sample(200).x
        assert np.abs(solution(x)).max() < 1e-12

    def test_finds_the_solution_without_a_boundary_condition(self, enveloped):
        assert error(enveloped, waves) < 3e-12

    def test_gradient_and_operators_against_differences(self, solution):
        x, h = 0.1 + 0.8 * X, 3e-4
        steps = h * np.eye(2)
        central = np.stack([(solution(x + s) - solution(x - s)) / (2 * h) for s in steps], axis=1)
        np.testing.assert_allclose(solution.grad(x), central, atol=1e-6)
        second = sum((solution(x + s) - 2 * solution(x) + solution(x - s)) / h**2 for s in steps)
        np.testing.assert_allclose(solution.apply(poisson, x), -second, atol=1e-4)
        np.testing.assert_allclose(solution.residual("f", x, 3.0), -second - 3.0, atol=1e-4)

    def test_fixed_points_and_their_derivatives(self, enveloped, solution):
        data = enveloped.problem.manufacture(waves, enveloped.points)
        np.testing.assert_allclose(enveloped.on(X)(**data), solution(X), atol=1e-9)
        slope = enveloped.on(X, lambda u: ko.partial(u, 0))(**data)
        np.testing.assert_allclose(slope, solution.grad(X)[:, 0], atol=1e-8)
        np.testing.assert_allclose(enveloped.basis(X) @ data["f"], solution(X), atol=1e-9)

    def test_certain_on_the_boundary(self, enveloped):
        t = ko.learn(enveloped.problem, points=600, regularization=1e-8, method=ko.Subspace(envelope=vanishing))
        assert np.all(t.std(X) > 0.0)
        assert np.all(t.std(SQUARE.boundary.sample(20).x) <= 1e-12 * t.std(X).max())

    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    def test_constant_envelope_changes_nothing_but_the_scale(self):
        settings = {"points": {"f": N_F, "g": N_G}, "kernel": KERNEL}
        plain = ko.learn(PROBLEM, method=ko.Subspace(L), **settings)
        twice = ko.learn(PROBLEM, method=ko.Subspace(L, envelope=lambda x: 2.0 + 0 * x[..., 0]), **settings)
        f = lambda x: jnp.sin(x[..., 0])
        np.testing.assert_allclose(twice(f, 1.0)(X), plain(f, 1.0)(X), rtol=1e-6)


class TestDefault:
    """Nothing is chosen but 1500 points; the accuracy for every equation is in tests/test_truth.py."""

    @pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
    def test_small_and_large_domains(self, scale):
        t = ko.learn(dirichlet(ko.Box([0, 0], [scale, scale])), points=1500)
        assert error(t, lambda x: smooth(x / scale)) < 2e-12

    def test_far_from_the_origin(self):
        t = ko.learn(dirichlet(ko.Box([1000, -500], [1001, -499])), points=1500)
        assert error(t, lambda x: smooth(x - jnp.array([1000, -500]))) < 2e-12

    def test_long_domain(self):
        t = ko.learn(dirichlet(ko.Box([0, 0], [10, 1])), points=1500)
        assert error(t, smooth) < 5e-13

    @pytest.mark.parametrize("duration", [1.0, 100.0, 0.01])
    def test_heat_in_any_unit_of_time(self, duration):
        cylinder = ko.SpaceTime(ko.Interval(0, 1), (0, duration))
        problem = ko.Problem(
            ko.Equation(lambda u: ko.dt(u) - 0.1 / duration * ko.laplacian(u), on=cylinder),
            ko.Dirichlet(on=cylinder.walls),
            ko.Initial(on=cylinder.initial),
        )

        def decaying(x):
            t = x[..., 1] / duration
            return jnp.sin(2.0 * x[..., 0] + 0.4) * jnp.exp(-t) + t**2

        assert error(ko.learn(problem, points=1500), decaying) < 2e-12

    @pytest.mark.parametrize("scale", [1e-5, 1.0, 1e5])
    def test_representers_on_small_and_large_domains(self, scale):
        problem = dirichlet(ko.Box([0, 0], [scale, scale]))
        t = ko.learn(problem, points=500, method=ko.Subspace(basis="representers"))
        assert error(t, lambda x: smooth(x / scale)) < 1e-5

    def test_number_of_centres(self):
        """Half of the rows; somewhat more where they are tried."""
        assert 150 <= len(ko.learn(PROBLEM, points=300).factorisation.expansion) <= 200
        assert len(ko.learn(PROBLEM, points=600, kernel=ko.Gaussian(0.5)).factorisation.expansion) == 300
        one = ko.learn(PROBLEM, points=600, method=ko.Subspace(np.int64(77)))
        assert len(one.factorisation.expansion) == 77

    def test_more_centres_than_points(self):
        t = ko.learn(PROBLEM, points={"f": N_F, "g": N_G}, method=ko.Subspace(300))
        u = t(**PROBLEM.manufacture(smooth, t.points))
        x = t.points["g"].x
        np.testing.assert_allclose(u(x), np.asarray(smooth(x)), atol=1e-6)
        assert error(t, smooth) < 1e-3

    def test_given_centres_get_a_kernel_that_fits_them(self):
        centres = np.random.default_rng(0).uniform(-0.2, 1.2, size=(300, 2))
        t = ko.learn(PROBLEM, points=1500, method=ko.Subspace(centres))
        assert error(t, smooth) < 1e-6

    def test_a_rough_kernel_serves_translates(self):
        kernel = ko.Matern(1.5, 1.0)  # translates need s derivatives, representers 2s
        assert ko.Subspace().derivatives_needed(2) == 2
        assert ko.Subspace(penalty="rkhs").derivatives_needed(2) == 4
        assert ko.Subspace(basis="representers").derivatives_needed(2) == 4
        assert np.all(np.isfinite(ko.learn(PROBLEM, kernel=kernel, points=600)(1.0, 0.0)(X)))
        with pytest.raises(RoughKernelError):
            ko.learn(PROBLEM, kernel=kernel, points=600, method=ko.Subspace(basis="representers"))


class TestErrors:
    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            ({"basis": "splines"}, ArgumentError, "basis: got 'splines'; choose one of 'translates'"),
            ({"solver": "svd"}, ArgumentError, "solver: got 'svd'; choose one of 'qr', 'normal'"),
            ({"penalty": "tv"}, ArgumentError, "penalty: got 'tv'; choose one of 'coefficients', 'rkhs'"),
            ({"centers": 0}, ArgumentError, "centers: got 0; give a whole number, at least 1"),
            ({"centers": 2.5}, ArgumentTypeError, "centers: got 2.5"),
            ({"centers": True}, ArgumentTypeError, "centers: got True"),
            ({"centers": "many"}, ArgumentTypeError, "centers: got 'many'"),
            ({"centers": np.zeros((0, 2))}, ShapeError, "centers: got an empty array"),
            ({"centers": np.zeros(5)}, ShapeError, r"centers: got an array of shape \(5,\)"),
            ({"centers": [[np.nan, 0.0]]}, ArgumentError, "centers: got 1 of 2 values"),
            ({"envelope": 3.0}, ArgumentTypeError, "envelope: got 3.0; give a function"),
            ({"envelope": vanishing, "basis": "representers"}, ArgumentError, "envelope: got one with representers"),
            ({"centers": np.eye(2), "basis": "representers"}, ArgumentError, "centers: got an array of shape"),
        ],
    )
    def test_arguments(self, changes, error, message):
        with pytest.raises(error, match=message):
            ko.Subspace(**changes)

    def test_centres_of_another_dimension(self):
        with pytest.raises(ShapeError, match=r"centers: .*; give centres in 2 dimensions"):
            ko.learn(PROBLEM, points=60, method=ko.Subspace(np.arange(15.0).reshape(5, 3)))

    def test_normal_equations_without_regularisation(self):
        with pytest.raises(SingularGramError, match=r"regularization: got 0.*solver='qr'"):
            ko.learn(PROBLEM, points={"f": N_F, "g": N_G}, regularization=0.0, method=ko.Subspace(300, solver="normal"))

    def test_no_unique_solution(self):
        centres = np.concatenate([CENTRES[:40], CENTRES[:40]])
        with pytest.raises(SingularGramError, match=r"regularization: got 0.*larger λ"):
            ko.learn(
                PROBLEM, points={"f": N_F, "g": N_G}, regularization=0.0, method=ko.Subspace(centres, solver="normal")
            )


def test_centres_that_coincide_count_once():
    line, centres = ko.Interval(0, 1), np.linspace(-0.2, 1.2, 12)[:, None]
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=line), ko.Dirichlet(on=line.boundary))
    twice = np.vstack([centres, centres[3:7], centres[:1]])
    one, other = (ko.learn(problem, points=60, method=ko.Subspace(z))(1.0, 0.0) for z in (centres, twice))
    np.testing.assert_array_equal(other.coefficients, one.coefficients)


def test_a_complex_problem_is_resolved_by_as_many_functions_as_a_real_one():
    def functions(alpha):
        robin = ko.Robin(alpha, 1.0, on=SQUARE.boundary)
        operator = ko.learn(ko.Problem(ko.Equation(poisson, on=SQUARE), robin), points=200)
        return len(operator.factorisation.expansion) // operator.ansatz.count

    assert functions(1.0j) == functions(1.0) >= 100


def test_the_envelope_of_a_clamped_plate():
    """Δ²u = 1, u = ∂u/∂n = 0: 0.0012653191 at the centre. An envelope r⁴ at corners, where u ~ r^3.74, is worse."""

    @jax.jit
    def at_corners_like_r(x):
        w = x * (1 - x)
        return (w[..., 0] + w[..., 1] - jnp.sqrt(w[..., 0] ** 2 + w[..., 1] ** 2)) ** 2

    @jax.jit
    def at_corners_like_r_squared(x):
        return jnp.prod(x * (1 - x), axis=-1) ** 2

    problem = ko.Problem(ko.Equation(lambda u: ko.laplacian(ko.laplacian(u)), on=ko.Box([0, 0], [1, 1])))
    errors = []
    for envelope in (at_corners_like_r, at_corners_like_r_squared):
        u = ko.learn(problem, points=1500, method=ko.Subspace(300, envelope=envelope)).answer({"f": 1.0})
        errors.append(abs(u([[0.5, 0.5]])[0] / 0.0012653191 - 1))
    assert errors[0] < 5e-5
    assert errors[0] < 0.1 * errors[1]


def test_says_how_long_least_squares_will_take(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    line = ko.Interval(0, 1)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=line), ko.Dirichlet(on=line.boundary))
    ko.learn(problem, points=60, method=ko.Subspace(20), progress=True)
    assert "about" not in capsys.readouterr().out  # at once
    monkeypatch.setattr("kernop.methods.subspace.qr_seconds", lambda rows, columns: (rows + columns) / 10)
    ko.learn(problem, points=60, method=ko.Subspace(20), progress=True)
    assert "least squares, 60 × 20: about 8 s" in capsys.readouterr().out
