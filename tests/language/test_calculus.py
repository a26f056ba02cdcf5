"""The words for vectors and matrices: against derivatives by nested JAX, read both ways; what they refuse."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop import (
    div,
    dot,
    dt,
    grad,
    identity,
    laplacian,
    matvec,
    normal_component,
    normal_derivative,
    partial,
    sym,
    trace,
    transpose,
)
from kernop.basics.errors import ArgumentTypeError, NonlinearOperatorError, OperatorError, ShapeError
from kernop.basics.precision import float64
from kernop.collocation.ansatz import Ansatz
from kernop.language.unknowns import Unknowns

FLOW = Unknowns((("u", 2), ("p", 1), ("w", 3)))
INSIDE = ko.Box([0.2, 0.3], [1.2, 1.1]).sample(5, seed=1)
RIM = ko.Ball([0.3, 0.1], 0.9).boundary.sample(5, seed=1)
TIMED = ko.SpaceTime(ko.Interval(0.2, 1.2), (0.0, 0.5)).sample(5, seed=1)


@jax.jit
def velocity(x):
    first, second, last = x[..., 0], x[..., 1], x[..., -1]
    return jnp.stack([first * first * second * last, jnp.exp(first - 2.0 * second) * last], axis=-1)


@jax.jit
def pressure(x):
    return jnp.exp(x[..., 0] * x[..., 1]) * x[..., -1]


@jax.jit
def triple(x):
    first, second = x[..., 0], x[..., 1]
    return jnp.stack([first * second, first * first, second * second * first], axis=-1)


@jax.jit
def a(x):
    return 1.5 + x[..., 0] * x[..., 1]


@jax.jit
def b(x):
    return jnp.stack([jnp.cos(x[..., 1]), x[..., 0] * x[..., 1]], axis=-1)


@jax.jit
def A(x):
    rows = [[2.0 + x[..., 0], x[..., 0] * x[..., 1]], [x[..., 0] ** 2, 3.0 - x[..., 1]]]
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


FUNCTIONS = {"u": velocity, "p": pressure, "w": triple}


def jacobian(f):
    """∂f_i/∂x_j at one point."""
    return jax.jacfwd(f)


def divergence(m):
    """Σ_j ∂M_ij/∂x_j of a matrix function, or Σ_j ∂v_j/∂x_j of a vector function, at one point."""
    return lambda x: jnp.einsum("...jj->...", jax.jacfwd(m)(x))


def strain(x):
    j = jacobian(velocity)(x)
    return 0.5 * (j + j.T)


def stress(x):
    return 2.0 * a(x) * strain(x) - pressure(x) * jnp.eye(2)


#: The operator as it is written, and the same by hand at one point x with the normal n.
CASES = {
    "a component": (lambda u: u[1], lambda x, n: velocity(x)[1]),
    "the last component": (lambda w: w[-1], lambda x, n: triple(x)[2]),
    "grad of a scalar": (lambda p: grad(p), lambda x, n: jacobian(pressure)(x)),
    "a row of a gradient": (lambda u: grad(u)[1], lambda x, n: jacobian(velocity)(x)[1]),
    "div": (lambda u: div(u), lambda x, n: jnp.trace(jacobian(velocity)(x))),
    "trace of the gradient": (lambda u: trace(grad(u)), lambda x, n: jnp.trace(jacobian(velocity)(x))),
    "laplacian of a vector": (laplacian, lambda x, n: jnp.einsum("ijj->i", jax.hessian(velocity)(x))),
    "div of grad": (lambda u: div(grad(u)), lambda x, n: jnp.einsum("ijj->i", jax.hessian(velocity)(x))),
    "div of a transpose": (
        lambda u: div(transpose(grad(u))),
        lambda x, n: jnp.einsum("iij->j", jax.hessian(velocity)(x)),
    ),
    "a transpose, row by row": (lambda w: transpose(grad(w))[0], lambda x, n: jacobian(triple)(x)[:, 0]),
    "viscous stress": (
        lambda u: div(2.0 * (a * sym(grad(u)))),
        lambda x, n: divergence(lambda y: 2 * a(y) * strain(y))(x),
    ),
    "stress with pressure": (
        lambda u, p: div(a * (2.0 * sym(grad(u))) - p * identity(u)),
        lambda x, n: divergence(stress)(x),
    ),
    "dilatation": (
        lambda u: div(a * (trace(grad(u)) * identity(grad(u)))),
        lambda x, n: jacobian(lambda y: a(y) * jnp.trace(jacobian(velocity)(y)))(x),
    ),
    "advection": (lambda u: dot(b, grad(u)), lambda x, n: jacobian(velocity)(x) @ b(x)),
    "advection of three": (lambda w: dot([2.0, a], grad(w)), lambda x, n: jacobian(triple)(x) @ jnp.array([2.0, a(x)])),
    "a vector along a vector": (lambda u: dot(b, u), lambda x, n: velocity(x) @ b(x)),
    "a vector along a function": (lambda u: dot([a, 3.0], u), lambda x, n: velocity(x) @ jnp.array([a(x), 3.0])),
    "a matrix of functions": (lambda u: matvec(A, u), lambda x, n: A(x) @ velocity(x)),
    "anisotropic": (
        lambda p: div(matvec(A, grad(p))),
        lambda x, n: divergence(lambda y: A(y) @ jacobian(pressure)(y))(x),
    ),
    "partial": (lambda u: partial(u, 0), lambda x, n: jacobian(velocity)(x)[:, 0]),
    "partial, twice": (lambda u: partial(u, 1, 2), lambda x, n: jax.hessian(velocity)(x)[:, 1, 1]),
    "multiples": (lambda u: 2 * u / 4 - u / a + a * u, lambda x, n: velocity(x) * (0.5 - 1 / a(x) + a(x))),
    "sums": (lambda u, p: sum([u, grad(p), -u, 3.0 * u]), lambda x, n: 3.0 * velocity(x) + jacobian(pressure)(x)),
    "a scalar times numbers": (
        lambda p: p * np.array([1.0, 2.0, 3.0]),
        lambda x, n: pressure(x) * jnp.arange(1.0, 4.0),
    ),
    "a scalar times numbers of JAX": (
        lambda p: jnp.arange(1.0, 3.0) * p,
        lambda x, n: pressure(x) * jnp.arange(1.0, 3.0),
    ),
    "pressure as a matrix": (lambda p: div(p * identity(2)), lambda x, n: jacobian(pressure)(x)),
    "normal component": (lambda u: normal_component(u), lambda x, n: velocity(x) @ n),
    "normal derivative": (normal_derivative, lambda x, n: jacobian(velocity)(x) @ n),
    "traction": (
        lambda u, p: normal_component(a * (2.0 * sym(grad(u))) - p * identity(2)),
        lambda x, n: stress(x) @ n,
    ),
    "a complex combination": (
        lambda u, p: (1.0 + 2.0j) * u - 1j * grad(p),
        lambda x, n: (1.0 + 2.0j) * velocity(x) - 1j * jacobian(pressure)(x),
    ),
}
OF = {"laplacian of a vector": "u", "normal derivative": "u"}
every_case = pytest.mark.parametrize("case", CASES)


@functools.cache
def by_hand(case):
    _op, at = CASES[case]
    with float64():
        return np.asarray(jax.jit(jax.vmap(at))(RIM.x, RIM.normal))


def everything(x):
    """All components at one point, (m,)."""
    return jnp.concatenate([jnp.atleast_1d(own(x)) for own in FUNCTIONS.values()])


@pytest.fixture(scope="module")
def tables():
    """∂^α of all components on the rim, (n, m), for |α| ≤ 2."""
    with float64():
        x = jnp.asarray(RIM.x)
        values, first, second = (
            np.asarray(jax.jit(jax.vmap(f))(x)) for f in (everything, jacobian(everything), jax.hessian(everything))
        )
    return {
        (0, 0): values,
        (1, 0): first[..., 0],
        (0, 1): first[..., 1],
        (2, 0): second[..., 0, 0],
        (1, 1): second[..., 0, 1],
        (0, 2): second[..., 1, 1],
    }


@every_case
def test_on_known_functions(case):
    found = ko.apply_operator(CASES[case][0], FUNCTIONS, RIM, unknowns=FLOW, of=OF.get(case))
    wanted = by_hand(case)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@every_case
def test_as_linear_forms(case, tables):
    """Σ φ_{k,α} ∂^α u_k with coefficients from the one reading and derivatives by JAX."""
    rows = Ansatz(FLOW).functionals(CASES[case][0], RIM, of=OF.get(case))
    (layout,) = rows.layouts
    values = [
        sum(c * tables[alpha][:, k] for (k, alpha), c in zip(block.terms, block.coefficients.T, strict=True))
        for block in rows.blocks
    ]
    found = layout.values(np.concatenate(values)[:, None])[..., 0]
    np.testing.assert_allclose(found, by_hand(case), rtol=1e-12, atol=1e-12)


def test_in_space_and_time_words_are_spatial():
    """grad, div and laplacian leave time out, also for vectors; dt is ∂/∂t of every part."""

    def heat(x):
        return jacobian(velocity)(x)[:, 1] - 3.0 * jax.hessian(velocity)(x)[:, 0, 0]

    with float64():
        wanted = np.asarray(jax.jit(jax.vmap(heat))(TIMED.x))
    found = ko.apply_operator(lambda u: dt(u) - laplacian(u) - 2.0 * div(grad(u)), FUNCTIONS, TIMED, unknowns=FLOW)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_several_functions_at_once():
    """A function (n,) of one unknown goes with B functions of another."""
    many = lambda x: jnp.stack([pressure(x), 2.0 * pressure(x), x[..., 0]], axis=-1)
    op = lambda u, p: u + grad(p)
    two = Unknowns((("u", 2), ("p", 1)))
    found = ko.apply_operator(op, {"u": velocity, "p": many}, INSIDE, unknowns=two)
    assert found.shape == (5, 2, 3)
    for column in range(3):
        alone = ko.apply_operator(op, {"u": velocity, "p": lambda x, c=column: many(x)[..., c]}, INSIDE, unknowns=two)
        np.testing.assert_allclose(found[..., column], alone, rtol=1e-13)


def test_identity_counts_rows():
    seen = {}

    def op(w):
        seen.update(vector=identity(w), matrix=identity(grad(w)), number=identity(4))
        return w

    ko.apply_operator(op, FUNCTIONS, INSIDE, unknowns=FLOW)
    assert [len(m) for m in seen.values()] == [3, 3, 4]
    np.testing.assert_array_equal(seen["number"], np.eye(4))


# ---- refusals

REFUSED = {
    "a matrix": (lambda u: grad(u), OperatorError, r"returns a matrix field of shape \(2, 2\); return a scalar field"),
    "a tuple": (lambda u, p: (u, p), OperatorError, "an operator that returns .*return a scalar field"),
    "nothing": (lambda u: None, OperatorError, "an operator that returns None"),
    "a product": (lambda u, p: p * u, NonlinearOperatorError, r"not linear: at x = .* P\(u \+ v\)"),
    "a quotient": (lambda u, p: u / p, NonlinearOperatorError, "not linear|multiplies or divides"),
    "convection": (lambda u: dot(u, grad(u)), NonlinearOperatorError, "not linear"),
    "vector times vector": (lambda u: u * u, OperatorError, r"the product of two vector fields; use dot\(b, v\)"),
    "vector plus scalar": (lambda u, p: u + p, OperatorError, "got a scalar field; give a vector field"),
    "scalar plus vector": (lambda u, p: p + u, OperatorError, "the sum of a scalar and a vector field"),
    "vector plus number": (lambda u: u + 1.0, OperatorError, "got 1.0; give a vector field"),
    "shapes": (lambda u, w: u + w, OperatorError, r"the sum of fields of shapes \(2,\) and \(3,\)"),
    "vector plus matrix": (lambda u: u + grad(u), OperatorError, r"shapes \(2,\) and \(2, 2\)"),
    "div of three": (lambda w: div(w), OperatorError, r"div\(v\): got a vector of 3 parts for 2 axes"),
    "div of a scalar": (lambda p: div(p), OperatorError, r"div\(v\): got a scalar field; give a vector field"),
    "grad of a matrix": (lambda u: grad(grad(u)), OperatorError, r"grad\(u\): got a matrix field of shape \(2, 2\)"),
    "transpose of a vector": (
        lambda u: transpose(u),
        OperatorError,
        r"transpose\(m\): got a vector field.*matrix field",
    ),
    "trace of a scalar": (lambda p: trace(p), OperatorError, r"trace\(m\): got a scalar field; give a matrix field"),
    "trace of 3 × 2": (
        lambda w: trace(grad(w)),
        OperatorError,
        r"trace\(m\): got a matrix.*\(3, 2\); give a square one",
    ),
    "sym of 3 × 2": (lambda w: sym(grad(w)), OperatorError, r"sym\(m\): got a matrix.*\(3, 2\); give a square one"),
    "identity": (lambda u: trace(grad(u)) * identity("u"), ArgumentTypeError, r"identity\(m\): got 'u'"),
    "dot of three": (lambda w: dot([1.0, 2.0], w), ShapeError, r"b: got shape \(2,\); give shape \(3,\)"),
    "no third part": (lambda u: u[2], OperatorError, "axis: got 2; give a whole number from -2 to 1"),
    "normals inside": (lambda u: normal_component(u), OperatorError, "normal_component: got points without normals"),
    "normals of three": (lambda w: normal_component(w), OperatorError, "a vector of 3 parts in 2 dimensions"),
    "a zero part": (lambda p: p * np.array([1.0, 0.0]), OperatorError, "an operator that is zero in one of its parts"),
    "no time": (lambda u: dt(u), OperatorError, r"dt\(u\): got a problem that has no time"),
}


@pytest.mark.parametrize(("op", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_refusals(op, kind, message):
    with pytest.raises(kind, match=f"f: .*{message}"):
        Ansatz(FLOW).functionals(op, INSIDE, name="f")


@pytest.mark.parametrize(
    ("functions", "kind", "message"),
    [
        (velocity, ArgumentTypeError, "give a dictionary with a function for each of the unknowns: u, p, w"),
        ({"u": velocity}, ArgumentTypeError, "u: got functions of u; give a function for each"),
        ({**FUNCTIONS, "q": pressure}, ArgumentTypeError, "got functions of u, p, w, q"),
        ({**FUNCTIONS, "u": pressure}, ShapeError, r"return \(n, 2\) or \(n, 2, B\) for an unknown with 2 components"),
        ({**FUNCTIONS, "u": triple}, ShapeError, r"return \(n, 2\) or \(n, 2, B\)"),
        ({**FUNCTIONS, "p": 3.0}, ArgumentTypeError, "give a function of x"),
    ],
)
def test_known_functions_fit_the_unknowns(functions, kind, message):
    with pytest.raises(kind, match=message):
        ko.apply_operator(lambda u, p: u + grad(p), functions, INSIDE, unknowns=FLOW)
