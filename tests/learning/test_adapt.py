"""Adaptive centres, on solutions that are known."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.precision import float64
from kernop.collocation.sampling import sample
from kernop.collocation.units import frame_of
from kernop.geometry import Points
from kernop.learning.adapt import adapted, marked, narrowed
from kernop.learning.strata import Residuals
from kernop.methods.spaces import Layers
from kernop.methods.spaces.layers import layers_in


def poisson(domain: Any) -> ko.Problem:
    equation = ko.Equation(lambda u: -ko.laplacian(u), on=domain, name="f")
    return ko.Problem(equation, ko.Dirichlet(on=domain.boundary, name="g"))


LINE, SQUARE = poisson(ko.Interval(0.0, 1.0)), poisson(ko.Box([0.0, 0.0], [1.0, 1.0]))
STEEP = 300.0


def layer(x: Any) -> Any:
    return jnp.tanh(STEEP * (x[..., 0] - 0.43))


def layer_data(x: Any) -> Any:
    return 2.0 * STEEP**2 * layer(x) * (1.0 - layer(x) ** 2)


def bump(x: Any) -> Any:
    return jnp.exp(-800.0 * jnp.sum((x - jnp.array([0.37, 0.61])) ** 2, axis=-1))


def bump_data(x: Any) -> Any:
    r2 = jnp.sum((x - jnp.array([0.37, 0.61])) ** 2, axis=-1)
    return (3200.0 - 4.0 * 800.0**2 * r2) * bump(x)


def learned(problem: ko.Problem, inputs: list[Any], tol: float, budget: int, start: int) -> ko.SolutionOperator:
    def build(centers: int | Layers, points: Mapping[str, Points]) -> ko.SolutionOperator:
        return ko.learn(problem, points=points, method=ko.Subspace(centers))

    def place(number: int) -> Mapping[str, Points]:
        return sample(problem, 3 * number, "halton", 0)

    return adapted(build, place, layers_in(frame_of(problem), start), problem, inputs, tol, budget)


def error(u: Any, truth: Any, x: np.ndarray) -> float:
    with float64():
        exact = np.asarray(truth(x))
    return float(np.max(np.abs(u(x) - exact)) / np.max(np.abs(exact)))


@pytest.fixture(scope="module")
def on_line() -> ko.SolutionOperator:
    return learned(LINE, [(layer_data, layer)], 1e-9, 400, 16)


def test_a_layer_on_a_line(on_line: ko.SolutionOperator) -> None:
    assert on_line.report is not None
    assert on_line.report.met
    count = on_line.report.best.centers
    x = np.linspace(0.0, 1.0, 4001)[:, None]
    assert error(on_line(layer_data, layer), layer, x) < 1e-7
    uniform = ko.learn(LINE, points=3 * count, method=ko.Subspace(count))
    assert error(uniform.answer({"f": layer_data, "g": layer}), layer, x) > 1e-2


def test_the_operator_is_like_any_other(on_line: ko.SolutionOperator, tmp_path: Path) -> None:
    """File, fixed places, more points, estimates, and data without a layer."""
    x = np.linspace(0.0, 1.0, 301)[:, None]
    u = on_line(layer_data, layer)
    on_line.save(tmp_path / "T")
    again = ko.load(tmp_path / "T", problem=LINE)
    assert again.method == on_line.method
    np.testing.assert_array_equal(again(layer_data, layer)(x), u(x))
    np.testing.assert_allclose(on_line.on(x)(layer_data, layer), u(x), atol=1e-9)
    more = on_line.update({"f": np.linspace(0.3, 0.6, 100)[:, None]})
    assert error(more(layer_data, layer), layer, x) < 1e-6
    less = more.remove({"f": np.arange(len(on_line.points["f"]), len(more.points["f"]))})
    np.testing.assert_allclose(less(layer_data, layer)(x), u(x), atol=1e-9)
    true = error(u, layer, x)
    assert true / 10 <= u.error_estimate().relative_linf <= max(1e3 * true, 1e-6)
    smooth = lambda x: jnp.sin(3.0 * x[..., 0])
    assert error(on_line(lambda x: 9.0 * smooth(x), smooth), smooth, x) < 1e-9


def test_a_bump_in_a_square() -> None:
    T = learned(SQUARE, [(bump_data, bump)], 1e-3, 600, 100)
    assert T.report is not None
    assert T.report.met
    count = T.report.best.centers
    x = np.vstack([SQUARE["f"].on.sample(2000, seed=5).x, [0.37, 0.61] + 0.1 * (SQUARE["f"].on.sample(500).x - 0.5)])
    own = error(T(bump_data, bump), bump, x)
    uniform = ko.learn(SQUARE, points=3 * count, method=ko.Subspace(count))
    assert own < 2e-3
    assert error(uniform.answer({"f": bump_data, "g": bump}), bump, x) > 100 * own


def test_smooth_data_have_wide_functions_only() -> None:
    smooth = lambda x: jnp.sin(7.0 * x[..., 0] + 1.0) * jnp.cos(5.0 * x[..., 1])
    T = learned(SQUARE, [(lambda x: 74.0 * smooth(x), smooth)], 1e-9, 1000, 100)
    assert T.report is not None
    assert T.report.met
    assert isinstance(T.method, ko.Subspace)
    assert T.method.centers == 410
    x = SQUARE["f"].on.sample(500, seed=5).x
    assert error(T(lambda x: 74.0 * smooth(x), smooth), smooth, x) < 1e-10


def test_cells_are_those_with_the_residual_and_the_budget_is_kept() -> None:
    layers = layers_in(frame_of(SQUARE), 100)
    x = np.random.default_rng(0).uniform(size=(20_000, 2))
    squares = np.exp(-np.sum((x - [0.28, 0.72]) ** 2, axis=1) / 0.02**2)
    found = Residuals(
        error=1.0, x=x, squares=squares, shares=np.full(len(x), 1 / len(x)), values=np.ones((1, 1)), misfit=1.0
    )
    chosen = marked(layers, found)
    low, side = chosen[:, 1:] / 2.0 ** chosen[:, :1], 0.5 ** chosen[:, :1]
    held = np.any(np.all((x[:, None] >= low) & (x[:, None] < low + side), axis=2), axis=1)
    assert squares[held].sum() / squares.sum() >= 0.9
    assert held.mean() < 0.05
    assert narrowed(layers, found, 150).size <= 150
    assert narrowed(layers, found, 110).size == 100  # not even one cell fits
