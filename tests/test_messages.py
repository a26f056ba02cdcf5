"""Messages for common mistakes, and the representations of operators, solutions and problems."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from scipy.interpolate import CubicSpline, RegularGridInterpolator

import kernop as ko
from kernop.basics.errors import ArgumentTypeError, NonlinearOperatorError, OperatorError
from kernop.collocation.ansatz import normal_form

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary))
X = SQUARE.sample(4).x


@pytest.fixture(scope="module")
def operator():
    return ko.learn(PROBLEM, points=200, method=ko.Subspace(60))


@pytest.fixture(scope="module")
def u(operator):
    return operator(1.0, 0.0)


def read(op):
    return normal_form(op, SQUARE.sample(3), name="f")


# --- Values that JAX traces -------------------------------------------------------------------------------------------

BY_PLACE = {
    "grad of u(x)": lambda T, u: jax.grad(lambda x: u(x)[0])(jnp.asarray(X)),
    "grad of u at one point": lambda T, u: jax.grad(lambda x: u(x[None])[0])(jnp.asarray(X[0])),
    "jit of u": lambda T, u: jax.jit(u)(jnp.asarray(X)),
    "vmap of u": lambda T, u: jax.vmap(lambda x: u(x[None])[0])(jnp.asarray(X)),
    "u.grad(x)": lambda T, u: jax.grad(lambda x: u.grad(x)[0, 0])(jnp.asarray(X)),
    "u.apply(op, x)": lambda T, u: jax.grad(lambda x: u.apply(lambda v: v, x)[0])(jnp.asarray(X)),
    "u.std(x)": lambda T, u: jax.grad(lambda x: u.std(x)[0])(jnp.asarray(X)),
    "T.on(x)": lambda T, u: jax.grad(lambda x: T.on(x)(1.0, 0.0)[0])(jnp.asarray(X)),
    "u.residual(name, x)": lambda T, u: jax.grad(lambda x: u.residual("f", x)[0])(jnp.asarray(X)),
}


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("use", BY_PLACE.values(), ids=BY_PLACE)
def test_places_that_jax_traces(operator, u, use):
    message = r"(x|points): got coordinates that JAX traces, .*; for derivatives by x use u.grad\(x\) .* S = T.on\(x\)"
    with pytest.raises(ArgumentTypeError, match=message):
        use(operator, u)


@pytest.mark.parametrize("data", [lambda s: s, lambda s: lambda x: s * x[..., 0]], ids=["number", "function"])
def test_data_that_jax_traces(operator, data):
    message = (
        r"T: got traced JAX values, as data inside jit, grad or vmap; use S = T.on\(x\), then S\(f, g\), which JAX diff"
    )
    with pytest.raises(ArgumentTypeError, match=message):
        jax.grad(lambda s: operator(data(s), 0.0)(X)[0])(1.0)


def test_other_arguments_that_jax_traces():
    with pytest.raises(
        ArgumentTypeError, match=r"lengthscale: got values that JAX traces, .*; call it outside of them"
    ):
        jax.grad(lambda eta: ko.Gaussian(eta)(X[0], X[1]))(1.0)


# --- Coefficients that JAX cannot differentiate -----------------------------------------------------------------------

GRID = RegularGridInterpolator((np.linspace(0, 1, 5),) * 2, np.ones((5, 5)))
SPLINE = CubicSpline(np.linspace(0, 1, 5), np.ones(5))
NOT_JAX = {
    "NumPy": lambda x: np.exp(x[..., 0]),
    "SciPy": lambda x: scipy.special.erf(x[..., 0]),
    "interpolation": lambda x: np.interp(x[..., 0], [0, 1], [1, 2]),
    "grid": GRID,
    "spline": lambda x: SPLINE(x[..., 1]),
}
UNDER = {
    "div, grad": lambda a: lambda v: -ko.div(a * ko.grad(v)),
    "laplacian": lambda a: lambda v: ko.laplacian(a * v),
    "partial": lambda a: lambda v: ko.partial(a * v, 1),
}


@pytest.mark.parametrize("a", NOT_JAX.values(), ids=NOT_JAX)
@pytest.mark.parametrize("under", UNDER.values(), ids=UNDER)
def test_coefficients_that_are_differentiated(under, a):
    message = (
        r"^f: coefficient: got a function that JAX cannot differentiate; write it with jax.numpy instead of NumPy or"
        r" SciPy: its derivative is needed, because it stands under grad, div, laplacian or partial"
    )
    with pytest.raises(OperatorError, match=message):
        read(under(a))


@pytest.mark.parametrize("a", NOT_JAX.values(), ids=NOT_JAX)
def test_elsewhere_they_are_welcome(a):
    form = read(lambda v: -(a * ko.laplacian(v)))
    np.testing.assert_allclose(-form.coefficients[:, 0], a(form.x), rtol=1e-12)


def test_what_a_user_traces_is_told_apart(operator):
    with pytest.raises(OperatorError, match=r"^f: got a function that hands values which JAX traces to NumPy or SciPy"):
        jax.grad(lambda s: operator.on(X)(lambda x: np.exp(s) * x[..., 0], 0.0)[0])(1.0)


# --- Arithmetic with functions alone ----------------------------------------------------------------------------------


def a(x):
    return 1.0 + x[..., 0]


@pytest.mark.parametrize("function", [a, jax.jit(a), functools.partial(a), GRID], ids=["def", "jit", "partial", "grid"])
def test_functions_cannot_be_negated(function):
    message = (
        r"^f: got -a for a function a, and Python cannot negate a .*; put the sign .*, as in -\(a \* laplacian\(u\)\)"
    )
    with pytest.raises(OperatorError, match=message) as caught:
        read(lambda v: -function * ko.laplacian(v))
    assert not isinstance(caught.value, NonlinearOperatorError)
    assert np.all(read(lambda v: -(function * ko.laplacian(v))).coefficients < 0)


@pytest.mark.parametrize(
    "op",
    [
        lambda v: 2 * a * ko.laplacian(v),
        lambda v: 1.0 / a * ko.laplacian(v),
        lambda v: (a + 1) * ko.laplacian(v),
        lambda v: a * a * ko.laplacian(v),
        lambda v: a**2 * ko.laplacian(v),
        lambda v: 1j * a * v,
        lambda v: jnp.asarray(2.0) * a * v,
        lambda v: 2 * GRID * v,
        lambda v: abs(a) * v,
        lambda v: jnp.exp(a) * v,
        lambda v: np.exp(a) * v,
        lambda v: a[0] * v,
    ],
    ids=["2 a", "1/a", "a + 1", "a b", "a²", "i a", "array", "an object", "|a|", "jnp", "np", "a[0]"],
)
def test_functions_cannot_be_computed_with(op):
    message = (
        r"^f: got arithmetic with functions alone, and Python cannot .*; multiply the field, as in 2 \* \(a \* lapl"
    )
    with pytest.raises(OperatorError, match=message) as caught:
        read(op)
    assert not isinstance(caught.value, NonlinearOperatorError)


def test_functions_of_x_are_not_called_with_u():
    with pytest.raises(
        OperatorError, match=r"^f: got .* not subscriptable\); .* write a \* u for a\(x\) u\(x\)"
    ) as caught:
        read(lambda v: a(v) * v)
    assert not isinstance(caught.value, NonlinearOperatorError)


def test_other_failures_are_told_as_before():
    with pytest.raises(
        NonlinearOperatorError, match=r"^f: got an operator that fails on a field \(unsupported .*linear"
    ):
        read(lambda v: v @ a)


# --- How things are shown ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "shown"),
    [
        (ko.Gaussian(1 / 3), "Gaussian(lengthscale=0.333)"),
        (ko.Gaussian([1 / 3, 12345.678]), "Gaussian(lengthscale=[0.333, 12300.0])"),
        (ko.Matern(2.5, 2 / 3), "Matern(nu=2.5, lengthscale=0.667)"),
        (ko.Wendland(2, 2), "Wendland(k=2, lengthscale=2.0)"),
        (
            ko.Gaussian(0.1) + 2 / 3 * ko.Gaussian(1 / 7),
            "Gaussian(lengthscale=0.1) + 0.667 * (Gaussian(lengthscale=0.143))",
        ),
    ],
)
def test_kernels(kernel, shown):
    assert repr(kernel) == shown


def bump(x):
    return x[..., 0] * (1 - x[..., 0]) * x[..., 1] * (1 - x[..., 1])


ALONE = ko.Problem(PROBLEM["f"])
KERNEL = ko.Gaussian(1 / 3)
SHOWN = {
    "default": (
        {"points": 100, "method": ko.Subspace(50)},
        "Gaussian(lengthscale=[0.857, 0.857]) ⊕ Polynomials(degree 0), Subspace(50 centres))",
    ),
    "own centres": (
        {"points": 100, "kernel": KERNEL, "method": ko.Subspace(X)},
        "Gaussian(lengthscale=0.333), Subspace(4 centres))",
    ),
    "representers": (
        {"points": 100, "kernel": KERNEL, "method": ko.Subspace(30, basis="representers")},
        "Gaussian(lengthscale=0.333), Subspace(30 centres, basis='representers'))",
    ),
    "full": (
        {"points": 100, "kernel": KERNEL, "method": ko.Full()},
        "Gaussian(lengthscale=0.333), Full(100 functions))",
    ),
    "low rank": (
        {"points": 100, "kernel": KERNEL, "method": ko.LowRank(rank=30, tol=1 / 30000)},
        "Gaussian(lengthscale=0.333), LowRank(30 functions, rank=30, tol=3.33e-05))",
    ),
}


@pytest.mark.parametrize(("arguments", "shown"), SHOWN.values(), ids=SHOWN)
def test_operators(arguments, shown):
    T = ko.learn(PROBLEM, **arguments)
    assert repr(T) == f"SolutionOperator((f, g) ↦ u; points {{f: 55, g: 45}}, {shown}"


def test_streams_envelopes_and_solutions(u):
    T = ko.learn(ALONE, points=100, method=ko.Subspace(20, envelope=bump, batch=60), kernel=ko.Gaussian(1 / 3))
    method = "Subspace(20 centres, envelope=bump, batch=60)"
    assert repr(T) == f"SolutionOperator((f) ↦ u; 100 points, Gaussian(lengthscale=0.333), {method})"
    assert "60 functions, Gaussian(lengthscale=[0.795, 0.795]) ⊕ Polynomials(degree 1), leaves" in repr(u)
