"""T.green(x, y) against Green's functions in closed form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import k0

import kernop as ko

LINE, DISK, SQUARE = ko.Interval(0, 1), ko.Ball([0, 0], 1.0), ko.Box([0, 0], [1, 1])
ENDS = ko.Dirichlet(on=LINE.boundary)
SOURCES = np.array([[0.05], [0.3], [0.71], [0.98]])
FINE = np.linspace(0, 1, 101)[:, None]

Exact = Callable[[Any, Any], Any]


def exp(x: Any) -> Any:
    return jnp.exp(x[..., 0])


def halves(left: Any, right: Any, scale: float) -> Exact:
    """u₁(min) u₂(max) / scale."""
    return lambda x, y: left(np.minimum(x, y)) * right(np.maximum(x, y)) / scale


def drifting(x: Any, y: Any) -> Any:
    """Of −u″ + 5u′: p W = e^{5y}, whatever the place."""
    low, high = np.minimum(x, y), np.maximum(x, y)
    return np.expm1(5 * low) * (np.exp(5) - np.exp(5 * high)) / (5 * np.exp(5 * y) * np.expm1(5))


def clamped(x: Any, y: Any) -> Any:
    low, high = np.minimum(x, y), np.maximum(x, y)
    return low**2 * (1 - high) ** 2 * (3 * high - low - 2 * low * high) / 6


def decaying(x: Any, y: Any) -> Any:
    """Of −u″ + 10⁴ u, written without overflow."""
    low, high = np.minimum(x, y), np.maximum(x, y)
    return np.exp(100 * (low - high)) * np.expm1(-200 * low) * np.expm1(-200 * (1 - high)) / (-200 * np.expm1(-200))


LINES: dict[str, tuple[list[ko.Condition], Exact]] = {
    "−u″": ([ko.Equation(lambda u: -ko.laplacian(u), on=LINE), ENDS], halves(lambda s: s, lambda s: 1 - s, 1.0)),
    "u″, of the other sign": (
        [ko.Equation(lambda u: ko.laplacian(u), on=LINE), ENDS],
        halves(lambda s: -s, lambda s: 1 - s, 1.0),
    ),
    "Helmholtz, data fixed": (
        [
            ko.Equation(lambda u: -ko.laplacian(u) - 400.0 * u, on=LINE),
            ko.Dirichlet(on=LINE.boundary, data=3.0),
        ],
        halves(lambda s: np.sin(20 * s), lambda s: np.sin(20 * (1 - s)), 20 * np.sin(20)),
    ),
    "variable": (
        [ko.Equation(lambda u: -ko.div(exp * ko.grad(u)), on=LINE), ENDS],
        halves(lambda s: -np.expm1(-s), lambda s: np.exp(-s) - np.exp(-1), 1 - np.exp(-1)),
    ),
    "drift": ([ko.Equation(lambda u: -ko.laplacian(u) + 5 * ko.partial(u, 0), on=LINE), ENDS], drifting),
    "strong decay": ([ko.Equation(lambda u: -ko.laplacian(u) + 1e4 * u, on=LINE), ENDS], decaying),
    "Neumann and Robin": (
        [
            ko.Equation(lambda u: -ko.laplacian(u), on=LINE),
            ko.Neumann(on=LINE.face("left")),
            ko.Robin(2.0, 1.0, on=LINE.face("right")),
        ],
        lambda x, y: 1.5 - np.maximum(x, y),
    ),
    "clamped beam": (
        [ko.Equation(lambda u: ko.partial(u, 0, 4), on=LINE), ENDS, ko.Neumann(on=LINE.boundary)],
        clamped,
    ),
    "first order": (
        [ko.Equation(lambda u: ko.partial(u, 0) + u, on=LINE), ko.Dirichlet(on=LINE.face("left"))],
        lambda x, y: np.heaviside(x - y, 0.5) * np.exp(y - x),
    ),
}


@pytest.mark.parametrize("case", LINES)
def test_lines(case: str) -> None:
    conditions, exact = LINES[case]
    T = ko.learn(ko.Problem(*conditions), points=300, method=ko.Subspace(100))
    truth = exact(FINE, SOURCES[:, 0])
    assert T.green(FINE, SOURCES).shape == (101, 4)
    np.testing.assert_allclose(T.green(FINE, SOURCES), truth, atol=1e-8 * np.max(np.abs(truth)))


@pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")
@pytest.mark.parametrize("case", ["variable", "strong decay", "clamped beam"])
def test_estimates_on_lines(case: str) -> None:
    conditions, exact = LINES[case]
    T = ko.learn(ko.Problem(*conditions), points=60, method=ko.Subspace(24))  # not quite resolved
    G = T.point_source(SOURCES)
    error = np.max(np.abs(G(FINE) - exact(FINE, SOURCES[:, 0])), axis=0)
    rounding = 1e-14 * np.max(np.abs(exact(FINE, SOURCES[:, 0])))
    assert np.all(error <= 2 * G.error_estimate() + rounding)


def test_robin_with_complex_numbers() -> None:
    """−u″ − k²u = δ with waves that leave at both ends: G = i e^{ik|x−y|} / 2k."""
    k = 7.0
    T = ko.learn(
        ko.Problem(
            ko.Equation(lambda u: -ko.laplacian(u) - k**2 * u, on=LINE), ko.Robin(-1j * k, 1.0, on=LINE.boundary)
        ),
        points=200,
        method=ko.Subspace(60),
    )
    truth = 0.5j / k * np.exp(1j * k * np.abs(FINE - SOURCES[:, 0]))
    np.testing.assert_allclose(T.green(FINE, SOURCES), truth, atol=1e-8)


# The unit disk, by the image y / |y|² of y.

IN_DISK = np.array([[0.001, 0.0], [0.3, 0.2], [-0.5, 0.4]])


def image(x: Any, y: Any) -> tuple[Any, Any]:
    """|x − y|², and |y|² |x − y / |y|²|²."""
    size = np.sum(y**2, axis=1)
    return tuple(np.sum((x[:, None] - at) ** 2, axis=2) * by for at, by in ((y, 1.0), (y / size[:, None], size)))


def of_disk(x: Any, y: Any) -> Any:
    near, far = image(x, y)
    return np.log(far / near) / (4 * np.pi)


def of_plate(x: Any, y: Any) -> Any:
    near, far = image(x, y)
    rims = [1 - np.sum(p**2, axis=1) for p in (x, y)]
    return (near * np.log(near / far) + rims[0][:, None] * rims[1]) / (16 * np.pi)


def learned(
    op: Any, *others: ko.Condition, domain: Any = DISK, functions: int = 400, **settings: Any
) -> ko.SolutionOperator:
    conditions = others or (ko.Dirichlet(on=domain.boundary),)
    problem = ko.Problem(ko.Equation(op, on=domain), *conditions)
    return ko.learn(problem, **{"method": ko.Subspace(functions)} | settings)


@pytest.fixture(scope="module")
def laplace() -> ko.SolutionOperator:
    return learned(lambda u: -ko.laplacian(u))


def around(y: Any) -> Any:
    """Places all over the disk, and very near to the sources."""
    return np.concatenate([DISK.sample(500, seed=3).x, y + np.array([1e-3, 0]), y - np.array([0, 1e-6])])


def test_disk(laplace: ko.SolutionOperator) -> None:
    x = around(IN_DISK)
    np.testing.assert_allclose(laplace.green(x, IN_DISK), of_disk(x, IN_DISK), atol=1e-7)


def test_estimate_of_the_disk_is_honest_near_the_boundary(laplace: ko.SolutionOperator) -> None:
    y = np.array([[0.3, 0.2], [0.7, 0.0], [0.0, -0.9], [0.99, 0.0]])
    x = np.concatenate([DISK.sample(1000, seed=3).x, DISK.boundary.sample(1000).x])
    with pytest.warns(ko.AccuracyWarning, match=r"source at \[0.99 0"):
        G = laplace.point_source(y)
    error, estimate = np.max(np.abs(G(x) - of_disk(x, y)), axis=0), G.error_estimate()
    assert np.all(error <= estimate + 1e-14)
    assert np.all(estimate[1:] <= 50 * error[1:])


def test_a_source_at_a_point_of_the_operator(laplace: ko.SolutionOperator) -> None:
    y = laplace.points["f"].x[np.linalg.norm(laplace.points["f"].x, axis=1) < 0.5][:2]
    x = around(y)
    np.testing.assert_allclose(laplace.green(x, y), of_disk(x, y), atol=1e-7)


def test_infinite_at_the_source(laplace: ko.SolutionOperator) -> None:
    assert np.array_equal(laplace.green(IN_DISK, IN_DISK) == np.inf, np.eye(3, dtype=bool))
    down = learned(lambda u: ko.laplacian(u))
    assert np.array_equal(down.green(IN_DISK, IN_DISK) == -np.inf, np.eye(3, dtype=bool))


def test_sources_spread_over_a_disk(laplace: ko.SolutionOperator) -> None:
    """∫ G(x, y) f(|y|) dy over |y| < 1/2 is −log |x| ∫ f dy / 2π for |x| > 1/2, as Newton found."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    radii, angles = 0.25 + 0.25 * nodes, np.arange(24) * np.pi / 12
    y = np.stack([np.outer(radii, np.cos(angles)), np.outer(radii, np.sin(angles))], axis=-1).reshape(-1, 2)
    f = np.repeat((1 - 4 * radii**2) * 0.25 * weights * radii * np.pi / 12, 24)
    found = laplace.green(np.array([[0.9, 0.0], [0.0, -0.7]]), y) @ f
    np.testing.assert_allclose(found, -np.log([0.9, 0.7]) / (2 * np.pi) * np.sum(f), rtol=1e-3)


def test_drift_and_reaction() -> None:
    """With κ = 0 after u = e^{b·x/2} v, so that v is that of the disk."""
    b = np.array([2.0, -1.0])
    T = learned(lambda u: -ko.laplacian(u) + 2.0 * ko.partial(u, 0) - ko.partial(u, 1) - 1.25 * u)
    x = around(IN_DISK)
    truth = of_disk(x, IN_DISK) * np.exp(0.5 * (x[:, None] - IN_DISK) @ b)
    np.testing.assert_allclose(T.green(x, IN_DISK), truth, atol=1e-7)


def test_anisotropic() -> None:
    """A full matrix A, and a reaction so strong that the boundary is not felt: G = K₀(30 ρ) / (2π √det A)."""
    A = np.array([[2.0, 0.6], [0.6, 0.5]])
    T = learned(
        lambda u: (
            -2.0 * ko.partial(u, 0, 2) - 1.2 * ko.partial(ko.partial(u, 0), 1) - 0.5 * ko.partial(u, 1, 2) + 900.0 * u
        ),
        domain=SQUARE,
        functions=1000,
    )
    y = np.array([[0.5, 0.5]])
    x = y + np.array([[0.05, 0.02], [0.0, 0.06], [-0.1, 0.0]])
    rho = np.sqrt(np.sum((x - y) @ np.linalg.inv(A) * (x - y), axis=1))
    free = k0(30 * rho) / (2 * np.pi * np.sqrt(np.linalg.det(A)))
    np.testing.assert_allclose(T.green(x, y)[:, 0], free, atol=1e-5)


def test_variable_coefficient() -> None:
    """a = h² with h harmonic: G = G_Δ / (h(x) h(y))."""

    def h(x: Any) -> Any:
        return 2.0 + x[..., 0]

    T = learned(lambda u: -ko.div((lambda x: h(x) ** 2) * ko.grad(u)))
    x, G = around(IN_DISK), T.point_source(IN_DISK)
    error = np.max(np.abs(G(x) - of_disk(x, IN_DISK) / (h(x)[:, None] * h(IN_DISK))), axis=0)
    assert np.all(error < 1e-4)
    assert np.all(error <= 2 * G.error_estimate())


def test_plate() -> None:
    bilaplace = learned(
        lambda u: ko.laplacian(ko.laplacian(u)),
        ko.Dirichlet(on=DISK.boundary),
        ko.Neumann(on=DISK.boundary),
        functions=700,
    )
    x = np.concatenate([around(IN_DISK), IN_DISK[:1]])  # finite at the source
    truth = of_plate(x[:-1], IN_DISK)
    np.testing.assert_allclose(bilaplace.green(x[:-1], IN_DISK), truth, atol=1e-8)
    assert bilaplace.green(x[-1:], IN_DISK[:1])[0, 0] == pytest.approx(1 / (16 * np.pi), rel=1e-5)


def test_ball() -> None:
    ball = ko.Ball([0, 0, 0], 1.0)
    T = learned(lambda u: -ko.laplacian(u), domain=ball)
    y, x = np.array([[0.01, 0.0, 0.0], [0.2, 0.1, -0.1]]), ball.sample(300).x
    near, far = image(x, y)
    np.testing.assert_allclose(T.green(x, y), (near**-0.5 - far**-0.5) / (4 * np.pi), atol=1e-5)


def test_square_by_its_series() -> None:
    """G = Σ 2 sin(nπx₀) sin(nπy₀) sinh(nπ x₁<) sinh(nπ(1 − x₁>)) / (nπ sinh nπ), where |x₁ − y₁| ≥ 0.2."""
    T = learned(lambda u: -ko.laplacian(u), domain=SQUARE)
    y = np.array([[0.5, 0.4], [0.3, 0.6]])
    x = np.array([[0.2, 0.1], [0.7, 0.15], [0.6, 0.9], [0.45, 0.85]])
    k = np.pi * np.arange(1, 60)
    low, high = np.minimum(x[:, None, 1:], y[:, 1:]), np.maximum(x[:, None, 1:], y[:, 1:])
    decay = np.exp(k * (low - high)) * np.expm1(-2 * k * low) * np.expm1(-2 * k * (1 - high)) / -np.expm1(-2 * k)
    truth = np.sum(np.sin(k * x[:, None, :1]) * np.sin(k * y[:, :1]) * decay / k, axis=2)
    np.testing.assert_allclose(T.green(x, y), truth, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")
def test_symmetric_where_the_equation_is() -> None:
    """G(x, y) = G(y, x) for −div(A ∇u) + c u with a full matrix that varies; not for one with drift."""

    def flux(u: Any) -> Any:
        p, q = ko.grad(u)
        return ko.partial(p * exp + 0.3 * q, 0) + ko.partial(0.3 * p + q * (lambda x: 1.0 + x[..., 1] ** 2), 1)

    T = learned(lambda u: -flux(u) + 3.0 * u, domain=SQUARE)
    y = np.array([[0.35, 0.4], [0.6, 0.65], [0.4, 0.7]])
    G = T.green(y, y)
    apart = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(G[apart], G.T[apart], rtol=2e-2)
    error = T.point_source(y).error_estimate()
    assert np.all(np.abs(G[apart] - G.T[apart]) <= (error[:, None] + error)[apart])


def test_pieces_and_basis_are_not_the_same() -> None:
    """A column of the kernel basis is no Green's function: its sum over the points is that of G times weights."""
    T = ko.learn(ko.Problem(*LINES["−u″"][0]), points=100, method=ko.Subspace(40))
    y = T.points["f"].x
    column, G = T.basis(FINE)[:, 10], T.green(FINE, y[10:11])[:, 0]
    assert np.max(np.abs(column)) < 0.1 * np.max(np.abs(G))


def test_saved_and_loaded(tmp_path: Any) -> None:
    for case, known in (("−u″", True), ("variable", False)):
        conditions, _ = LINES[case]
        T = ko.learn(ko.Problem(*conditions), points=100, method=ko.Subspace(40))
        T.save(tmp_path / "T.kernop")
        back = ko.load(tmp_path / "T.kernop")
        if known:
            np.testing.assert_array_equal(back.green(FINE, SOURCES), T.green(FINE, SOURCES))
        else:
            with pytest.raises(ko.errors.MissingFunctionError, match="problem="):
                back.green(FINE, SOURCES)
            whole = ko.load(tmp_path / "T.kernop", problem=ko.Problem(*conditions))
            np.testing.assert_array_equal(whole.green(FINE, SOURCES), T.green(FINE, SOURCES))


def refusals() -> dict[str, tuple[Callable[[], Any], str]]:
    small: dict[str, Any] = {"points": 60, "method": ko.Subspace(20)}
    D, moving = SQUARE, ko.SpaceTime(LINE, (0, 1))
    inner = np.array([[0.5, 0.5]])

    def of(*conditions: ko.Condition, **settings: Any) -> ko.SolutionOperator:
        return ko.learn(ko.Problem(*conditions), **{**small, **settings})

    poisson = ko.Equation(lambda u: -ko.laplacian(u), on=D)
    wall = ko.Dirichlet(on=D.boundary)
    ball, half = ko.Ball([0.5, 0.5], 0.25), ko.Box([0.5, 0], [1, 1])
    coefficient = ko.Piecewise({half: 10.0}, otherwise=1.0)
    darcy = ko.Equation(lambda u: -ko.div(coefficient * ko.grad(u)), on=D)
    jump = "interfaces, or coefficients that jump"
    return {
        "interface": (lambda: of(poisson, ko.Interface(on=ball.boundary), wall).green(inner, inner + 0.1), jump),
        "jump": (lambda: of(darcy, wall).green(inner, inner + 0.1), jump),
        "system": (
            lambda: ko.learn(
                ko.Problem(
                    ko.Equation(lambda v: -ko.laplacian(v), on=D), ko.Dirichlet(on=D.boundary), unknowns={"v": 2}
                ),
                **small,
            ).green(inner, inner),
            "system",
        ),
        "time": (
            lambda: of(
                ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=moving),
                ko.Dirichlet(on=moving.walls),
                ko.Initial(on=moving.initial),
            ).green(inner, inner),
            "space and time",
        ),
        "mean": (
            lambda: of(poisson, ko.Neumann(on=D.boundary), ko.Mean(on=D)).green(inner, inner),
            "integral",
        ),
        "envelope": (
            lambda: of(
                poisson, method=ko.Subspace(20, envelope=lambda x: jnp.prod(x * (1 - x), axis=-1)), points=60
            ).green(inner, inner),
            "envelope",
        ),
        "stream": (
            lambda: of(poisson, wall, method=ko.Subspace(20, batch=30)).green(inner, inner),
            "materialize",
        ),
        "first order in the plane": (
            lambda: of(ko.Equation(lambda u: ko.partial(u, 0) + u, on=D), ko.Dirichlet(on=D.face("left"))).green(
                inner, inner
            ),
            "order 1",
        ),
        "hyperbolic": (
            lambda: of(ko.Equation(lambda u: ko.partial(u, 0, 2) - ko.partial(u, 1, 2) + 9.0 * u, on=D), wall).green(
                inner, inner
            ),
            "not elliptic",
        ),
        "complex": (
            lambda: of(ko.Equation(lambda u: -ko.laplacian(u) + 1j * u, on=D), wall).green(inner, inner),
            "complex",
        ),
        "fourth order, not a Δ²": (
            lambda: of(
                ko.Equation(lambda u: ko.partial(u, 0, 4) + ko.partial(u, 1, 4), on=D), wall, ko.Neumann(on=D.boundary)
            ).green(inner, inner),
            "not a Δ²",
        ),
        "two equations": (
            lambda: of(
                ko.Equation(lambda u: -ko.laplacian(u), on=D.where(lambda x: x[..., 0] < 0.5), name="f"),
                ko.Equation(lambda u: -ko.laplacian(u), on=D.where(lambda x: x[..., 0] >= 0.5), name="h"),
                wall,
            ).green(inner, inner),
            "2 equations",
        ),
        "on the boundary": (lambda: of(poisson, wall).green(inner, [[1.0, 0.5]]), "which lies on"),
        "outside": (lambda: of(poisson, wall).green(inner, [[1.2, 0.5]]), "outside the domain"),
        "x outside": (lambda: of(poisson, wall).green([[1.2, 0.5]], inner), "outside the domain"),
        "shape": (lambda: of(poisson, wall).green(inner, [0.5, 0.5, 0.5]), "y"),
    }


@pytest.mark.filterwarnings("ignore::kernop.IllPosedWarning", "ignore::kernop.AccuracyWarning")
@pytest.mark.parametrize("case", list(refusals()))
def test_refusals(case: str) -> None:
    asked, words = refusals()[case]
    with pytest.raises(ko.errors.ArgumentError, match=words):
        asked()


def test_a_stream_in_memory() -> None:
    T = learned(lambda u: -ko.laplacian(u), points=600, method=ko.Subspace(200, batch=300)).materialize()
    x = around(IN_DISK)
    np.testing.assert_allclose(T.green(x, IN_DISK), of_disk(x, IN_DISK), atol=1e-4)
