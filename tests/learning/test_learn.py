"""learn: what it accepts, what it refuses, and what it leaves alone."""

import json
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics import checks
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    InputNameError,
    MemoryLimitError,
    NonFiniteError,
    NonlinearOperatorError,
    OutsideDomainError,
    RoughKernelError,
    ShapeError,
)
from kernop.collocation import assembly

SQUARE = ko.Box([0, 0], [1, 1])


def poisson(op=lambda u: -ko.laplacian(u)):
    return ko.Problem(ko.Equation(op, on=SQUARE, name="f"), ko.Dirichlet(on=SQUARE.boundary, name="g"))


def learn(problem=None, **changes):
    settings = {"kernel": ko.Gaussian(0.8), "points": 60, "regularization": 1e-8, "method": ko.Full()}
    return ko.learn(problem or poisson(), **{**settings, **changes})


def value(operator):
    return operator(1.0, 0.0)([[0.4, 0.6]])


def test_points_as_total_dict_arrays_and_points_objects():
    given = {"f": SQUARE.sample(40).x, "g": SQUARE.boundary.sample(20)}
    assert learn(points=given).n_points == 60
    assert learn(points={"f": 40, "g": 20}).points["f"].x.shape == (40, 2)
    assert abs(learn(points=200).n_points - 200) < 20
    np.testing.assert_array_equal(learn(points=given).points["f"].x, given["f"])


def test_the_seed_decides_the_points():
    a, b, c = learn(seed=1), learn(seed=1), learn(seed=2)
    np.testing.assert_array_equal(a.points["f"].x, b.points["f"].x)
    np.testing.assert_array_equal(value(a), value(b))
    assert not np.array_equal(a.points["f"].x, c.points["f"].x)


def test_a_function_is_accepted_as_a_kernel():
    own = learn(kernel=lambda x, y: jnp.exp(-jnp.sum((x - y) ** 2) / 0.64))
    np.testing.assert_allclose(value(own), value(learn()), rtol=1e-6)


def test_a_second_operator_with_other_coefficients_does_not_compile_again(monkeypatch):
    monkeypatch.setattr(assembly, "FEW", 0)  # else so few entries are computed in NumPy

    def with_permeability(a):
        return poisson(lambda u: -ko.div(a * ko.grad(u)))

    learn(with_permeability(lambda x: 1 + x[..., 0] * x[..., 1]))
    before = assembly.compiled_functions()
    learn(with_permeability(lambda x: jnp.exp(x[..., 0] + 2 * x[..., 1])), kernel=ko.Gaussian(0.6), points=61)
    assert assembly.compiled_functions() == before


def test_progress_bar_names_the_stages(capsys):
    t = learn(progress=True)
    assert "factorise" in capsys.readouterr().out
    assert set(t.stats) == {"sample", "collocate", "factorise", "examine"}


def test_neither_imports_nor_results_depend_on_the_users_settings_of_jax():
    """In a process of its own, in which nobody has changed a setting yet."""
    code = """
import jax, json
before = dict(jax.config.values)
import kernop as ko
import jax.numpy as jnp
changed = [key for key, value in jax.config.values.items() if before[key] != value]
kind, D = str(jnp.zeros(1).dtype), ko.Interval(0, 1)

def answer(x64):
    jax.config.update("jax_enable_x64", x64)
    a = lambda x: jnp.exp(x[..., 0])
    P = ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=D), ko.Dirichlet(on=D.boundary))
    T = ko.learn(P, kernel=ko.Gaussian(0.3), points=40, regularization=1e-12, method=ko.Full())
    return T(lambda x: jnp.sin(x[..., 0]), 0.0)([[0.3], [0.7]]).tolist()

print(json.dumps([changed, kind, answer(False), answer(True)]))
"""
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    changed, kind, single, double = json.loads(out)
    assert changed == []
    assert kind == "float32"
    assert single == double != [0.0, 0.0]


class TestBadInput:
    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            ({"regularization": -1e-3}, ArgumentError, "regularization: got -0.001; .*at least 0"),
            ({"regularization": np.nan}, NonFiniteError, "regularization: got nan"),
            ({"regularization": "small"}, ArgumentTypeError, "regularization: got 'small'"),
            ({"points": {"f": 30}}, InputNameError, "points: got none for condition 'g'"),
            ({"points": {"f": 30, "g": 0}}, ArgumentError, r"points\['g'\]: got 0"),
            ({"points": {"f": 30, "g": 5, "h": 5}}, InputNameError, "points: got the unknown condition 'h'"),
            ({"points": {"f": np.zeros((5, 3)), "g": 5}}, ShapeError, r"points\['f'\]: .*\(5, 3\).*\(n, 2\)"),
            ({"points": {"f": np.full((5, 2), 2.0), "g": 5}}, OutsideDomainError, r"points\['f'\]: got 5 of 5 points"),
            ({"points": {"f": [[np.nan, 0.0]], "g": 5}}, NonFiniteError, r"points\['f'\]: got 1 of 2 values"),
            ({"points": 1}, ArgumentError, "points: got 1; give a whole number, at least 2"),
            ({"points": 30.5}, ArgumentTypeError, "points: got 30.5"),
            ({"sampling": "sobol"}, ArgumentError, "sampling: got 'sobol'; choose one of 'halton'"),
            ({"seed": -1}, ArgumentError, "seed: got -1"),
            ({"weights": "heavy"}, ArgumentError, "weights: got 'heavy'"),
            ({"weights": {"f": -1.0}}, ArgumentError, r"weights\['f'\]: got -1"),
            ({"weights": {"h": 1.0}}, InputNameError, "weights: got the unknown condition 'h'"),
            ({"method": "full"}, ArgumentTypeError, "method: got 'full'"),
            ({"kernel": "gaussian"}, ArgumentTypeError, "kernel: got 'gaussian'"),
            ({"kernel": ko.Gaussian([1, 1, 1])}, ShapeError, "lengthscale: got 3 numbers .* 2 dimensions"),
            ({"kernel": ko.Matern(1.5, 1.0)}, RoughKernelError, "condition 'f' needs 4; use nu = 2.5 or more"),
            ({"kernel": ko.Wendland(1, 1.0)}, RoughKernelError, "condition 'f' needs 4; use k = 2 or more"),
            (
                {"kernel": lambda x, y: jnp.exp(-jnp.sqrt(jnp.sum((x - y) ** 2)))},
                NonFiniteError,
                "derivatives at x = y",
            ),
        ],
    )
    def test_settings(self, changes, error, message):
        with pytest.raises(error, match=message):
            learn(**changes)

    def test_not_a_problem(self):
        with pytest.raises(ArgumentTypeError, match="problem: got"):
            ko.learn(lambda u: u, kernel=ko.Gaussian(1.0))

    def test_nonlinear_operator(self):
        with pytest.raises(NonlinearOperatorError, match=r"f: got .*P\(u \+ v\) = .* but P\(u\) \+ P\(v\) = "):
            learn(poisson(lambda u: -ko.laplacian(u) + u * u))

    def test_coefficient_that_is_not_finite(self):
        with pytest.raises(NonFiniteError, match=r"f: got a coefficient of ∂\^\(0, 0\) that is nan at x = "):
            learn(poisson(lambda u: -ko.laplacian(u) + (lambda x: jnp.log(x[..., 0] - 0.5)) * u))

    def test_gram_that_does_not_fit_is_refused_before_it_is_allocated(self, monkeypatch):
        monkeypatch.setattr(checks, "available_memory", lambda: 2**20)
        with pytest.raises(MemoryLimitError, match=r"points: got .* × .*needs 0\.\d+ GiB where 0\.0 GiB"):
            learn(points=2000)

    def test_gram_larger_than_this_machine(self):
        points = {"f": SQUARE.sample(500_000), "g": 10}
        with pytest.raises(MemoryLimitError, match="500010 × 500010, which needs 1862"):
            learn(points=points)


def test_all_points_of_a_cloud_are_learned_from():
    """More than a plain learn takes elsewhere."""
    box = ko.Box([0, 0], [1, 1])
    cloud = ko.PointCloud(box.sample(2600).x, box.boundary.sample(300).x)
    T = ko.learn(ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=cloud), ko.Dirichlet(on=cloud.boundary)))
    for name, region in (("f", cloud), ("g", cloud.boundary)):
        np.testing.assert_array_equal(T.points[name].x, region.points.x)
