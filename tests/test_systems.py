"""Several unknowns from the problem to the answer: Stokes, elasticity and a coupled pair, by every method."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

import kernop as ko
from kernop import div, grad, identity, laplacian, sym, trace
from kernop.basics.errors import IllPosedWarning, InputNameError, KernopError, OperatorError, ShapeError
from kernop.basics.precision import float64
from kernop.collocation import assembly

D = ko.Box([0.0, 0.0], [1.0, 1.0])
X = D.sample(20, seed=9).x
UNKNOWNS = {"u": 2, "p": 1}


def stokes(viscosity=1.0, mean=True):
    conditions = [
        ko.Equation(lambda u, p: -viscosity * laplacian(u) + grad(p), on=D),
        ko.Condition(div, D, "c", of="u"),
        ko.Dirichlet(D.boundary, of="u"),
    ]
    return ko.Problem(*conditions, *([ko.Mean(D, name="m", of="p")] if mean else []), unknowns=UNKNOWNS)


def velocity(x):
    a, b = x[..., 0], x[..., 1]
    return jnp.stack([jnp.exp(b) * jnp.cos(a), jnp.exp(b) * jnp.sin(a)], axis=-1)


def pressure(x):
    return jnp.sin(2.0 * x[..., 0] + x[..., 1])


EXACT = {"u": velocity, "p": pressure}


def errors(s, viscosity=1.0):
    """The largest errors of u, and of p in units of viscosity."""
    u, p = np.asarray(velocity(X.astype(np.float64))), np.sin(2.0 * X[:, 0] + X[:, 1])
    return np.abs(s.u(X) - u).max(), np.abs(s.p(X) / viscosity - p).max()


@pytest.fixture(scope="module")
def flow():
    """Stokes by the default method, and the data of the exact solution."""
    T = ko.learn(stokes(), points=300)
    return T, T.problem.manufacture(EXACT, T.points)


#: The errors of u and of p that are allowed, and the difference of T(…)(x) and T.on(x)(…): normal equations square the
#: condition number.
METHODS = {
    "full": (ko.Full(), 1e-4, 1e-2, 1e-10),
    "lowrank": (ko.LowRank(), 1e-4, 1e-2, 1e-10),
    "normal": (ko.Subspace(solver="normal"), 1e-3, 1e-1, 1e-6),
    "representers": (ko.Subspace(basis="representers"), 1e-4, 1e-2, 1e-10),
    "default": (None, 1e-4, 1e-2, 1e-10),
}


@pytest.mark.parametrize(("method", "of_u", "of_p", "apart"), METHODS.values(), ids=METHODS)
def test_stokes_by_every_method(method, of_u, of_p, apart):
    T = ko.learn(stokes(), points=250, method=method)
    data = T.problem.manufacture(EXACT, T.points)
    s, fixed = T(**data), T.on(X)(**data)
    u, p = errors(s)
    assert (u < of_u, p < of_p) == (True, True)
    np.testing.assert_allclose(fixed.u, s.u(X), rtol=0, atol=apart)
    np.testing.assert_allclose(fixed.p, s.p(X), rtol=0, atol=apart)


@pytest.mark.parametrize("viscosity", [1e-6, 1e6])
def test_units_do_not_matter(viscosity, flow):
    T = ko.learn(stokes(viscosity), points=300)
    exact = {"u": velocity, "p": lambda x: viscosity * pressure(x)}
    found, plain = errors(T(**T.problem.manufacture(exact, T.points)), viscosity), errors(flow[0](**flow[1]))
    np.testing.assert_allclose(found, plain, rtol=0.1)


def test_the_error_estimate_of_each_unknown(flow):
    T, data = flow
    s = T(**data)
    estimate = s.error_estimate()
    truth = {"u": np.asarray(velocity(X)), "p": np.asarray(pressure(X))}
    for name, exact in truth.items():
        l2 = np.sqrt(np.mean((s[name](X) - exact) ** 2) / np.mean(exact**2))
        assert l2 / 3.0 < estimate.of[name].relative_l2 < 1e3 * l2
    assert estimate.relative_l2 == max(own.relative_l2 for own in estimate.of.values())
    assert "relative L2 error, of p" in s.report()


def test_without_a_mean_the_pressure_is_not_determined():
    with pytest.warns(IllPosedWarning, match=r"in 'p' nearly constant: add ko.Mean"):
        assert ko.learn(stokes(mean=False), points=300).stability > 1e6


def test_an_unknown_that_no_condition_involves_is_named():
    problem = ko.Problem(
        ko.Equation(lambda u: -laplacian(u), on=D), ko.Dirichlet(D.boundary, of="u"), unknowns={"u": 1, "q": 1}
    )
    with pytest.warns(IllPosedWarning, match="in 'q' "):
        ko.learn(problem, points=200)


# ---- shapes of data and of answers


def columns(data, factors):
    return {name: values[..., None] * factors for name, values in data.items()}


@pytest.mark.parametrize(
    "factors", [np.array([1.0, -2.0, 0.5]), np.array([1.0, 2j, 1.0 - 1j])], ids=["real", "complex"]
)
def test_batches(flow, factors):
    T, data = flow
    one, many = T(**data)(X), T(**columns(data, factors))
    found = many(X)
    assert (found.u.shape, found.p.shape) == ((20, 2, 3), (20, 3))
    np.testing.assert_allclose(found.u, one.u[..., None] * factors, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.p, one.p[..., None] * factors, rtol=0, atol=1e-9)
    fixed = T.on(X)(**columns(data, factors))
    np.testing.assert_allclose(fixed.u, found.u, rtol=0, atol=1e-9)
    np.testing.assert_allclose(many.u(X), found.u, rtol=0, atol=1e-9)
    assert many.u.grad(X).shape == (20, 2, 2, 3)
    assert many.p.grad(X).shape == (20, 2, 3)
    assert many.std(X).u.shape == (20, 2, 3)
    assert many.samples(X, 4).p.shape == (20, 3, 4)
    assert many.error_estimate().of["p"].relative_l2.shape == (3,)


def test_functions_numbers_and_arrays_are_the_same_data(flow):
    T, _ = flow
    shapes = {name: (len(T.points[name].x), 2) for name in ("f", "g")}
    wanted = T(np.broadcast_to([1.0, 2.0], shapes["f"]), np.zeros(len(T.points["c"])), np.zeros(shapes["g"]), 0.5)(X)
    for inputs in ([1.0, 2.0], np.array([1.0, 2.0]), lambda x: jnp.broadcast_to(jnp.array([1.0, 2.0]), x.shape)):
        found = T(inputs, 0.0, 0.0, [0.5])(X)
        np.testing.assert_array_equal(found.u, wanted.u)
        np.testing.assert_array_equal(found.p, wanted.p)


def test_numbers_for_a_vector_are_known_everywhere(flow):
    s = flow[0]([1.0, 2.0], 0.0, [0.0, 0.0], 0.5)
    assert s.error_estimate(covering=None, search=None).source == "fresh points"
    assert s.residual("f", D.sample(6, seed=3)).shape == (6, 2)


BAD = {
    "(n,)": lambda n: np.ones(n),
    "(n, B)": lambda n: np.ones((n, 3)),
    "(k, n)": lambda n: np.ones((2, n)),
    "three numbers": lambda n: [1.0, 2.0, 3.0],
    "a scalar function": lambda n: lambda x: x[..., 0],
    "too many axes": lambda n: np.ones((n, 2, 3, 1)),
}


@pytest.mark.parametrize("make", BAD.values(), ids=BAD)
def test_data_of_a_vector_condition_of_a_wrong_shape(flow, make):
    T, _ = flow
    n = len(T.points["g"])
    with pytest.raises(ShapeError, match=rf"g: got .*shape \({n}, 2\) or \({n}, 2, B\)"):
        T(0.0, 0.0, make(n), 0.0)


def test_data_of_an_integral_is_one_number(flow):
    T, _ = flow
    for value in (np.ones(1024), np.ones(3), lambda x: x[..., 0]):
        with pytest.raises(KernopError, match=r"m: got .*give a number, or an array \(1, B\)"):
            T(0.0, 0.0, 0.0, value)
    with pytest.raises(KernopError, match=r"whose points are a quadrature rule"):
        T.update({"m": X})
    with pytest.raises(KernopError, match="m: got points without weights"):
        T(0.0, 0.0, 0.0, 1.0).residual("m", X)


def test_questions_to_a_solution_with_several_unknowns(flow):
    T, data = flow
    s = T(**data)
    np.testing.assert_allclose(s(X).u, s["u"](X), rtol=0, atol=1e-9)
    np.testing.assert_allclose(s.apply(div, X, of="u"), np.trace(s.u.grad(X), axis1=1, axis2=2), atol=1e-8)
    np.testing.assert_allclose(s.apply(lambda p: grad(p), X), s.p.grad(X), atol=1e-8)
    blank = s(np.array([[2.0, 2.0], [0.5, 0.5]]), outside="nan")
    assert np.isnan(blank.u).tolist() == [[True, True], [False, False]]
    with pytest.raises(InputNameError, match="the unknown 'q'; the unknowns are u, p"):
        s["q"]
    with pytest.raises(AttributeError, match="q"):
        _ = s.q
    with pytest.raises(KernopError, match=r"ask each of them: s.u.grad\(x\) and s.p.grad\(x\)"):
        s.grad(X)
    with pytest.raises(OperatorError, match="by of="):
        s.apply(div, X)


def test_the_basis_gives_the_answer(flow):
    T, data = flow
    psi, s = T.basis(X), T(**data)
    rows = np.concatenate([np.asarray(data[name]).T.ravel() for name in T.problem.names])
    np.testing.assert_allclose(psi.u @ rows, s.u(X), rtol=0, atol=1e-9)
    np.testing.assert_allclose(psi.p @ rows, s.p(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", [ko.Subspace(60), ko.Full()], ids=["subspace", "full"])
def test_updates_are_learning_from_scratch(method):
    problem = stokes()
    lam = 1e-9
    options = {"kernel": ko.Gaussian(0.7), "method": method, "weights": "unit"}
    T = ko.learn(problem, points={"f": 60, "c": 60, "g": 50, "m": 64}, regularization=lam, **options)
    new = {"f": D.sample(20, seed=5), "g": D.boundary.sample(9, seed=5)}
    more = T.update(new)
    factor = len(T.collocated) / len(more.collocated) if isinstance(method, ko.Full) else 1.0
    again = ko.learn(problem, points=more.points, regularization=lam * factor, **options)
    data = problem.manufacture(EXACT, more.points)
    np.testing.assert_allclose(more(**data).u(X), again(**data).u(X), rtol=0, atol=1e-6)
    np.testing.assert_allclose(more(**data).p(X), again(**data).p(X), rtol=0, atol=1e-5)
    gone = {name: np.arange(len(T.points[name]), len(more.points[name])) for name in new}
    before = problem.manufacture(EXACT, T.points)
    np.testing.assert_allclose(more.remove(gone)(**before).p(X), T(**before).p(X), rtol=0, atol=1e-5)


def test_jax_goes_through_a_fixed_operator(flow):
    T, data = flow
    S = T.on(X)
    with float64():
        f = jnp.asarray(data["f"])
        at = lambda f: S(f, data["c"], data["g"], data["m"])
        np.testing.assert_allclose(jax.jit(at)(f).p, S(**data).p, rtol=0, atol=1e-10)
        batch = jax.jit(jax.vmap(lambda f: at(f).u))(jnp.stack([f, 2.0 * f]))
        np.testing.assert_allclose(batch[1], at(2.0 * f).u, rtol=0, atol=1e-10)
        slope = jax.jit(jax.grad(lambda f: jnp.sum(at(f).p ** 2)))(f)
        step = np.random.default_rng(0).standard_normal(f.shape)
        ahead, behind = (float(jnp.sum(at(f + h * step).p ** 2)) for h in (1e-4, -1e-4))
    assert np.sum(np.asarray(slope) * step) == pytest.approx((ahead - behind) / 2e-4, rel=1e-6)


def test_threads_give_the_same_bits(flow):
    T, data = flow
    wanted = T(**data)(X)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: T(**data)(X), range(16)))
    assert all(np.array_equal(v.u, wanted.u) and np.array_equal(v.p, wanted.p) for v in found)


# ---- other systems


def test_a_matrix_field_is_applied_entry_by_entry(flow):
    """The stress −p I + 2 sym(∇u) of the exact solution, in closed form; of one input, of a batch, of one unknown."""
    T, data = flow
    a, b = X.T
    first, second = np.exp(b) * np.cos(a), np.exp(b) * np.sin(a)
    gradient = np.stack([np.stack([-second, first], axis=1), np.stack([first, second], axis=1)], axis=1)
    wanted = gradient + gradient.swapaxes(1, 2) - np.sin(2.0 * a + b)[:, None, None] * np.eye(2)
    stress = lambda u, p: 2.0 * sym(grad(u)) - p * identity(2)
    np.testing.assert_allclose(T(**data).apply(stress, X), wanted, atol=1e-3)
    batch = T(**{name: np.stack([values, 3.0 * values], axis=-1) for name, values in data.items()})
    found = batch.apply(stress, X)
    assert found.shape == (len(X), 2, 2, 2)
    np.testing.assert_allclose(found[..., 1], 3.0 * wanted, atol=3e-3)
    np.testing.assert_allclose(T(**data).u.apply(grad, X), gradient, atol=1e-3)


def test_elasticity_with_a_traction():
    """Plane strain: displacement on three sides, traction on the fourth."""
    first, second = 1.5, 1.0
    stress = lambda u: first * (trace(grad(u)) * identity(2)) + 2.0 * second * sym(grad(u))
    top = D.face("top")
    problem = ko.Problem(
        ko.Equation(lambda u: -div(stress(u)), on=D),
        ko.Dirichlet(D.face("left", "right", "bottom")),
        ko.Condition(lambda u: ko.normal_component(stress(u)), top, "t"),
        unknowns={"u": 2},
    )
    T = ko.learn(problem, points=300)
    data = problem.manufacture(velocity, T.points)
    u = T(**data)
    np.testing.assert_allclose(u(X), velocity(X), rtol=0, atol=1e-4)
    assert u.grad(X).shape == (20, 2, 2)
    np.testing.assert_allclose(T.on(X)(**data), u(X), rtol=0, atol=1e-9)


def test_a_coupled_pair_against_its_decoupled_form():
    """−Δu + v = f, −Δv + u = g: u ± v solve scalar equations −Δw ± w = f ± g."""
    points = {"f": D.sample(120), "g": D.sample(120), "a": D.boundary.sample(80), "b": D.boundary.sample(80)}
    pair = ko.Problem(
        ko.Equation(lambda u, v: -laplacian(u) + v, on=D),
        ko.Equation(lambda u, v: -laplacian(v) + u, on=D, name="g"),
        ko.Dirichlet(D.boundary, name="a", of="u"),
        ko.Dirichlet(D.boundary, name="b", of="v", data=0.0),
        unknowns={"u": 1, "v": 1},
    )
    f, g, a = (lambda x: np.cos(x[..., 0]), lambda x: x[..., 1], lambda x: x[..., 0])
    s = ko.learn(pair, points=points, kernel=ko.Gaussian(0.7), method=ko.Full())(f, g, a)
    for sign in (1.0, -1.0):
        scalar = ko.Problem(ko.Equation(lambda w, sign=sign: -laplacian(w) + sign * w, on=D), ko.Dirichlet(D.boundary))
        own = {"f": points["f"], "g": points["a"]}
        w = ko.learn(scalar, points=own, kernel=ko.Gaussian(0.7), method=ko.Full())(
            lambda x, sign=sign: f(x) + sign * g(x), a
        )
        np.testing.assert_allclose(s.u(X) + sign * s.v(X), w(X), rtol=0, atol=1e-3)


def test_a_mean_settles_pure_neumann_data():
    """−Δu = 0 with ∂u/∂n of x y and a mean: also on a boundary, on a part, and on a cloud."""
    rim = D.boundary.sample(60)
    cloud = ko.PointCloud(D.sample(150).x, rim.x, normals=rim.normal)
    exact = lambda x: x[..., 0] * x[..., 1]
    half = D.where(lambda x: x[..., 0] < 0.5)
    for where in (D, D.boundary, half, cloud):
        problem = ko.Problem(ko.Equation(lambda u: -laplacian(u), on=D), ko.Neumann(D.boundary), ko.Mean(where))
        with warnings.catch_warnings():
            warnings.simplefilter("error", IllPosedWarning)
            T = ko.learn(problem, points={"f": 120, "q": 80, "mean": where.quadrature(400)})
        data = problem.manufacture(exact, T.points)
        np.testing.assert_allclose(T(**data)(X), exact(X), rtol=0, atol=1e-4)


def test_integrals_that_cannot_be_are_refused():
    cloud = ko.PointCloud(D.sample(30).x, D.boundary.sample(9).x)
    with pytest.raises(KernopError, match=r"on: got PointCloud.*points have no volume: state ko.Mean"):
        ko.Integral(1.0, cloud)
    with pytest.raises(KernopError, match="conditions: got integrals alone; state an equation"):
        ko.Problem(ko.Mean(D))
    with pytest.raises(KernopError, match="weight: coefficient: got 'w'"):
        ko.Integral("w", D)


LINE = ko.Interval(0.0, 1.0)
PAIR = ko.Problem(
    ko.Equation(lambda u, v: -laplacian(u) + v, on=LINE, name="f"),
    ko.Equation(lambda u, v: -laplacian(v) + 2.0 * v - u, on=LINE, name="g"),
    ko.Dirichlet(LINE.boundary, of="u", name="a"),
    ko.Dirichlet(LINE.boundary, of="v", name="b"),
    unknowns={"u": 1, "v": 1},
)
#: Data of u = sin 3x and v = cos 2x.
PAIR_DATA = {
    "f": lambda x: 9.0 * np.sin(3.0 * x[..., 0]) + np.cos(2.0 * x[..., 0]),
    "g": lambda x: 6.0 * np.cos(2.0 * x[..., 0]) - np.sin(3.0 * x[..., 0]),
    "a": lambda x: np.sin(3.0 * x[..., 0]),
    "b": lambda x: np.cos(2.0 * x[..., 0]),
}
T01 = np.linspace(0.0, 1.0, 33)[:, None]


def pair_rows(operator):
    """The Gram matrix of the rows of a pair, the data of the exact solution, and the diagonal of the noise."""
    matrix = assembly.cross(operator.kernel, operator.collocated, operator.collocated)
    h = np.concatenate([np.asarray(PAIR_DATA[name](p.x)) for name, p in operator.points.items()])
    return matrix, h, operator.regularization * len(h) * np.eye(len(h))


class TestAPair:
    def test_to_a_tolerance(self):
        operator = ko.learn(PAIR, tol=1e-6)
        s = operator(**PAIR_DATA)
        assert operator.report.met
        assert operator.report.error <= 1e-6
        assert np.abs(s.u(T01) - np.sin(3.0 * T01[:, 0])).max() < 1e-6
        assert np.abs(s.v(T01) - np.cos(2.0 * T01[:, 0])).max() < 1e-6
        with pytest.warns(ko.ToleranceWarning, match="the budget of centres is used up"):
            assert not ko.learn(PAIR, tol=1e-12, budget=8, method=ko.Subspace()).report.met

    def test_tuned_by_leaving_out_each_row_in_turn(self):
        given = {"points": 28, "data": PAIR_DATA, "regularizations": [1e-7, 1e-5], "lengthscales": False}
        tuned = ko.tune(PAIR, ko.Gaussian(0.5), **given)
        matrix, h, noise = pair_rows(tuned.learn())
        assert len(tuned.path) == 2
        assert tuned.value == min(trial.value for trial in tuned.path)
        left_out = []
        for i in range(len(h)):
            rest = np.delete(np.arange(len(h)), i)
            c = np.linalg.solve((matrix + noise)[np.ix_(rest, rest)], h[rest])
            left_out.append(h[i] - matrix[i, rest] @ c)
        assert tuned.value == pytest.approx(np.mean(np.square(left_out)) / np.mean(h**2), rel=1e-4)

    def test_evidence_is_the_likelihood_of_the_data(self):
        operator = ko.learn(PAIR, method=ko.Full(), kernel=ko.Gaussian(0.5), points=40, regularization=1e-3)
        matrix, h, noise = pair_rows(operator)
        found = operator.evidence(**PAIR_DATA)
        scale = np.sqrt(h @ np.linalg.solve(matrix + noise, h) / len(h))
        expected = multivariate_normal(cov=scale**2 * (matrix + noise)).logpdf(h)
        assert found.scale == pytest.approx(scale, rel=1e-6)
        assert found.log_likelihood == pytest.approx(expected, rel=1e-6)
