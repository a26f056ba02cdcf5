"""Data that are fixed in a problem: they are resolved without being told again, and constants cost nothing."""

from __future__ import annotations

import warnings

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.learning.fixed_data import fixed_alone, inputs_to_measure

SQUARE = ko.Box([0, 0], [1, 1])
X = SQUARE.sample(500, "uniform", seed=11).x
DECAY = ko.SpaceTime(ko.Interval(0, 1), (0, 1))


def waves(x):
    """Ten periods along x, half of one along y."""
    return np.sin(20.0 * np.pi * x[..., 0]) * np.sin(np.pi * x[..., 1])


def source(x):
    """−Δ of it."""
    return 401.0 * np.pi**2 * waves(x)


def poisson(f=None, g=None, k=0.0):
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) + k * u, on=SQUARE, name="f", data=f),
        ko.Dirichlet(on=SQUARE.boundary, name="g", data=g),
    )


def decay(walls=None, u0=None, f=0.0):
    return ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=DECAY, name="f", data=f),
        ko.Dirichlet(on=DECAY.walls, name="walls", data=walls),
        ko.Initial(on=DECAY.initial, name="u0", data=u0),
    )


class TestAllDataFixed:
    def test_waves_along_one_axis_are_resolved_as_if_they_were_told(self):
        u = ko.learn(poisson(source, 0.0))()
        assert np.linalg.norm(u(X) - waves(X)) < 1e-9 * np.linalg.norm(waves(X))  # by smooth fields alone: 1e-4

    def test_a_layer_of_constant_data_is_resolved_with_parts(self):
        epsilon = 1e-4  # −ε u″ + u′ = 1, u = 0 at both ends: u = x − (e^((x − 1)/ε) − e^(−1/ε)) / (1 − e^(−1/ε))
        line = ko.Interval(0, 1)
        problem = ko.Problem(
            ko.Equation(lambda u: -epsilon * ko.laplacian(u) + ko.partial(u, 0), on=line, data=1.0),
            ko.Dirichlet(on=line.boundary, data=0.0),
        )
        x = np.concatenate([np.linspace(0.0, 0.99, 50), 1.0 - epsilon * np.geomspace(0.1, 30.0, 20)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            T = ko.learn(problem)
            u = T()
        assert isinstance(T.method, ko.Partition)
        assert u(x[:, None]) == pytest.approx(x - np.exp((x - 1.0) / epsilon), abs=1e-6)

    @pytest.mark.parametrize("data", [1.0, lambda x: jnp.ones(x.shape[:-1])])
    def test_constants_are_no_news(self, data):
        assert inputs_to_measure(poisson(data, 0.0), None) is None

    def test_on_a_line_they_are(self):
        line = ko.Interval(0, 1)
        beam = [ko.Equation(lambda u: ko.partial(u, 0, 4), on=line, data=1.0), ko.Dirichlet(line.boundary, data=0.0)]
        assert inputs_to_measure(ko.Problem(*beam), None) == [{}]
        assert inputs_to_measure(ko.Problem(ko.Equation(lambda u: u, on=line, data=0.0)), None) is None

    def test_the_operator_of_constants_is_the_one_of_no_data(self):
        one, other = ko.learn(poisson(1.0, 0.0)), ko.learn(poisson())
        assert len(one.report.levels) == len(other.report.levels) == 1
        assert len(one.factorisation.expansion) == len(other.factorisation.expansion)

    def test_inputs_of_the_user_go_first(self):
        assert inputs_to_measure(poisson(source), [(0.0,)]) == [(0.0,)]


class TestSomeDataFixed:
    def test_fixed_data_that_are_not_resolved_are_measured_by_too(self):
        width, line = 1e-3, ko.Interval(0, 1)

        def bump(x):
            return np.exp(-0.5 * ((x[..., 0] - 0.4) / width) ** 2)

        def f(x):  # −u″ of it
            return bump(x) * (1.0 - ((x[..., 0] - 0.4) / width) ** 2) / width**2

        T = ko.learn(
            ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=line, data=f), ko.Dirichlet(on=line.boundary))
        )
        x = 0.4 + width * np.linspace(-5.0, 5.0, 41)[:, None]
        assert T(0.0)(x) == pytest.approx(bump(x), abs=1e-5)
        assert T(lambda x: x[..., 0])(x) == pytest.approx(bump(x) + x[:, 0], abs=1e-5)

    def test_they_do_not_spoil_what_is_given_beside_them(self):
        T = ko.learn(poisson(source))
        line = lambda x: x[..., 0] - 2.0 * x[..., 1]
        assert np.max(np.abs(T(line)(X) - T(0.0)(X) - line(X))) < 1e-9

    @pytest.mark.parametrize(
        ("problem", "expected"),
        [
            (poisson(None, lambda x: x[..., 0]), [{"f": 0.0}]),
            (poisson(source), [{"g": 0.0}]),
            (poisson(None, 1.0), None),  # constants
            (poisson(0.0, 0.0), None),  # nothing
            (poisson(1.0, 0.0), [{}]),
            (decay(walls=lambda x: 1.0 + x[..., 1]), None),  # u0 = 0 would contradict the walls
            (decay(walls=0.0, f=lambda x: x[..., 0]), [{"u0": 0.0}]),
        ],
    )
    def test_nothing_but_the_fixed_data(self, problem, expected):
        assert fixed_alone(problem) == expected
