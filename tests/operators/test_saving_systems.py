"""Systems and complex problems in files: the same bits, without the user's functions and with them."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, MissingFunctionError
from kernop.language.calculus import div, grad, identity, laplacian, normal_component, sym, trace

SQUARE = ko.Box([0.0, 0.0], [1.0, 1.0])
LEFT = SQUARE.boundary.where(lambda x: x[..., 0] < 1e-9)
REST = SQUARE.boundary.where(lambda x: x[..., 0] >= 1e-9)
K = 2.0


def viscosity(x):
    return 1.0 + 0.5 * x[..., 0]


def stokes(mu=viscosity):
    return ko.Problem(
        ko.Equation(lambda u, p: grad(p) - laplacian(u) * mu, on=SQUARE, name="f"),
        ko.Equation(lambda u: div(u), on=SQUARE, name="m", data=0.0),
        ko.Dirichlet(on=SQUARE.boundary, name="g", of="u"),
        ko.Mean(on=SQUARE, of="p", data=0.0),
        unknowns={"u": 2, "p": 1},
    )


def stress(u):
    return sym(grad(u)) * 2.0 + identity(2) * trace(grad(u))


def elasticity():
    return ko.Problem(
        ko.Equation(lambda u: -div(stress(u)), on=SQUARE, name="f"),
        ko.Dirichlet(on=LEFT, name="g", data=(0.0, 0.0)),
        ko.Equation(lambda u: normal_component(stress(u)), on=REST, name="t"),
        unknowns={"u": 2},
    )


def impedance(k=K):
    return ko.Problem(
        ko.Equation(lambda u: laplacian(u) + (lambda x: k**2 * (1.0 + 0.1 * x[..., 1])) * u, on=SQUARE, name="f"),
        ko.Robin(-1j * k, 1.0, on=SQUARE.boundary, name="r"),
    )


def weighed():
    """The weight of the integral, and complex data, are functions."""
    return ko.Problem(
        ko.Equation(lambda u: -laplacian(u), on=SQUARE, name="f"),
        ko.Neumann(on=SQUARE.boundary, name="q", data=lambda x: 1j * x[..., 0]),
        ko.Integral(lambda x: 1.0 + x[..., 0], on=SQUARE, name="w"),
    )


def force(x):
    return jnp.stack([jnp.sin(3.0 * x[..., 1]), x[..., 0]], axis=-1)


def wave(x):
    return jnp.exp(1j * K * x[..., 0])


CASES = {
    "Stokes": (stokes, {"f": force, "g": 0.0}, {}),
    "Stokes, constant": (lambda: stokes(2.0), {"f": force, "g": 0.0}, {}),
    "Stokes by Full": (
        stokes,
        {"f": force, "g": 0.0},
        {"method": ko.Full(), "kernel": ko.Gaussian(0.5), "regularization": 1e-8, "points": 60},
    ),
    "Stokes, streamed": (stokes, {"f": force, "g": 0.0}, {"method": ko.Subspace(20, batch=200)}),
    "elasticity": (elasticity, {"f": force, "t": 0.0}, {}),
    "elasticity, streamed": (elasticity, {"f": force, "t": 0.0}, {"method": ko.Subspace(20, batch=60)}),
    "impedance": (impedance, {"f": 0.0, "r": wave}, {}),
    "impedance, streamed": (impedance, {"f": 0.0, "r": wave}, {"method": ko.Subspace(20, batch=60)}),
    "integral": (weighed, {"f": wave, "w": 0.5}, {}),
}
SOME = SQUARE.sample(7, seed=5).x
QUIET = ("ignore::kernop.errors.AccuracyWarning", "ignore::kernop.errors.IllPosedWarning")
pytestmark = pytest.mark.filterwarnings(*QUIET)


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory):
    problem, inputs, settings = CASES[request.param]
    T = ko.learn(problem(), **{"points": 150, "method": ko.Subspace(20), **settings})
    path = tmp_path_factory.mktemp("systems") / "file"
    T.save(path)
    return T, problem, inputs, path


def same(one, other):
    for mine, theirs in zip(_parts(one), _parts(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def _parts(values):
    return values if isinstance(values, tuple) else (values,)


def test_the_same_bits_without_the_functions_of_the_user(case):
    T, _, inputs, path = case
    S = ko.load(path)
    u, v = T(**inputs), S(**inputs)
    same(u(SOME), v(SOME))
    for name in T.problem.unknowns.names:
        same(u[name].grad(SOME), v[name].grad(SOME))
    for name in T.problem.names:
        same(u.residual(name, T.points[name]), v.residual(name, S.points[name]))
        same(T.points[name].weight, S.points[name].weight)
    assert (S.ansatz.scales, S.ansatz.complex, S.problem.unknowns) == (
        T.ansatz.scales,
        T.ansatz.complex,
        T.problem.unknowns,
    )
    assert S.diagnosis == T.diagnosis


def test_written_again(case, tmp_path):
    _, _, inputs, path = case
    S = ko.load(path)
    S.save(tmp_path / "again")
    same(ko.load(tmp_path / "again")(**inputs)(SOME), S(**inputs)(SOME))


def test_the_problem_brings_everything_back(case):
    T, problem, inputs, path = case
    S = ko.load(path, problem=problem())
    u, v = T(**inputs), S(**inputs)
    elsewhere = {name: T.problem[name].on.sample(5, seed=9) for name in T.problem.names if not T.problem[name].integral}
    for name, points in elsewhere.items():
        same(u.residual(name, points), v.residual(name, points))
    one, other = (solution.error_estimate(search=2**12) for solution in (u, v))
    assert (one.relative_l2, one.relative_linf) == (other.relative_l2, other.relative_linf)


def test_updates_go_on(case):
    T, problem, inputs, path = case
    S, more = ko.load(path, problem=problem()), {"f": SQUARE.sample(3, seed=3)}
    same(T.update(more)(**inputs)(SOME), S.update(more)(**inputs)(SOME))


@pytest.mark.parametrize(
    ("kind", "other", "match"),
    [
        ("Stokes", lambda: stokes(lambda x: 1.0 + 0.6 * x[..., 0]), r"coefficient .* of ∂\^\(0, 2\)"),
        ("Stokes", elasticity, "conditions"),
        ("Stokes", lambda: ko.Problem(*stokes().conditions, unknowns={"u": 2, "p": 1, "q": 1}), "the unknowns"),
        ("impedance", lambda: impedance(2.1), "coefficient"),
        (
            "impedance",
            lambda: ko.Problem(impedance()["f"], ko.Robin(-K, 1.0, on=SQUARE.boundary, name="r")),
            "complex coefficients in only one",
        ),
        (
            "elasticity",
            lambda: ko.Problem(
                elasticity()["f"], ko.Dirichlet(on=LEFT, data=(0.0, 1.0)), elasticity()["t"], unknowns={"u": 2}
            ),
            "'g' with other data",
        ),
        (
            "integral",
            lambda: ko.Problem(
                weighed()["f"], weighed()["q"], ko.Equation(lambda u: (lambda x: 1.0 + x[..., 0]) * u, SQUARE, "w")
            ),
            "an integral, or a jump, in only one",
        ),
    ],
)
def test_another_problem_is_refused(kind, other, match, tmp_path):
    problem, _, _ = CASES[kind]
    ko.learn(problem(), points=100, method=ko.Subspace(10)).save(tmp_path / "file")
    with pytest.raises(ArgumentError, match=match):
        ko.load(tmp_path / "file", problem=other())


def test_coefficients_elsewhere_are_missed(tmp_path):
    T = ko.learn(stokes(), points=100, method=ko.Subspace(10))
    T.save(tmp_path / "file")
    u = ko.load(tmp_path / "file")(force, 0.0)
    with pytest.raises(MissingFunctionError, match=r"the operator of condition 'f' \(at x = "):
        u.residual("f", SQUARE.sample(3, seed=9))
    assert np.all(np.isfinite(u.residual("m", SQUARE.sample(3, seed=9))))  # div u has no function


def test_learned_again_from_what_a_file_knows(tmp_path):
    """Tables are of the unknowns themselves, so they serve an ansatz with other scales, and of complex values."""
    for problem in (stokes, impedance):
        T = ko.learn(problem(), points=100, method=ko.Subspace(10))
        T.save(tmp_path / "file")
        S = ko.load(tmp_path / "file")
        again = ko.learn(S.problem, points=S.points, method=ko.Subspace(10), kernel=T.kernel)
        assert again.ansatz == T.ansatz
        for mine, theirs in zip(again.collocated.blocks, T.collocated.blocks, strict=True):
            assert mine.terms == theirs.terms
            np.testing.assert_array_equal(mine.coefficients, theirs.coefficients)
