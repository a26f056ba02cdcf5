"""Axes that are resolved as finely as the inputs ask for."""

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.units import FINEST, frame_of
from kernop.learning.axes import TRIALS, as_data_vary, finer, followed

SQUARE = ko.Box([0, 0], [1, 1])


def poisson(domain=SQUARE):
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g")
    )


def stripes(x):
    return np.sin(16 * np.pi * x[..., 0]) * np.sin(np.pi * x[..., 1])


def heat(domain):
    return ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u) / (40 * np.pi) ** 2, on=domain, name="f"),
        ko.Dirichlet(on=domain.walls, name="g"),
        ko.Initial(on=domain.initial, name="u0"),
    )


def fineness(frame):
    return np.ones(len(frame.units)) if frame.fineness is None else frame.fineness


class TestTheGuess:
    def test_is_the_ratio_of_wave_numbers(self):
        problem = poisson()
        found = as_data_vary(problem, [{"f": stripes, "g": 0.0}], frame_of(problem), 0)
        assert fineness(found) == pytest.approx([16.0, 1.0], rel=0.1)

    def test_counts_in_units_of_each_axis(self):
        """Along time a unit is the duration: one period over 10 seconds is as coarse as one over a length of 1."""
        domain = ko.SpaceTime(ko.Interval(0, 1), (0, 10))
        problem = heat(domain)
        wave = lambda x: np.sin(8 * np.pi * x[..., 0]) * np.cos(0.2 * np.pi * x[..., 1])
        found = as_data_vary(problem, [{"f": wave, "g": 0.0, "u0": 0.0}], frame_of(problem), 0)
        assert fineness(found) == pytest.approx([4.0, 1.0], rel=0.1)

    def test_is_not_misled_by_an_initial_state_that_reads_the_time(self):
        domain = ko.SpaceTime(ko.Interval(0, 1), (0, 1))
        problem = heat(domain)
        state = lambda x: np.cos(3 * x[..., 0]) * np.cos(1000 * x[..., 1])
        found = as_data_vary(problem, [{"f": 0.0, "g": 0.0, "u0": state}], frame_of(problem), 0)
        assert np.array_equal(fineness(found), [1.0, 1.0])

    def test_of_numbers_is_the_frame(self):
        frame = frame_of(poisson())
        assert as_data_vary(poisson(), [{"f": 1.0, "g": 0.0}], frame, 0) is frame

    def test_leaves_out_data_that_are_not_finite_beside_the_domain(self):
        problem = poisson()
        root = lambda x: np.sqrt(np.where(x[..., 0] * (1 - x[..., 0]) >= 0, x[..., 1], np.nan))
        found = as_data_vary(problem, [{"f": stripes, "g": root}], frame_of(problem), 0)
        assert fineness(found)[0] > 4.0

    def test_leaves_out_functions_that_raise_beside_their_region(self):
        problem = poisson()

        def known_inside(x):
            if np.any(x < 0.0) or np.any(x > 1.0):
                raise ZeroDivisionError
            return x[..., 1]

        found = as_data_vary(problem, [{"f": stripes, "g": known_inside}], frame_of(problem), 0)
        assert fineness(found)[0] > 4.0


class TestTheSearch:
    @pytest.mark.parametrize("best", [(1.0, 8.0), (32.0, 1.0), (4.0, 1.0, 1.0), (1.0, 1.0, 16.0), (8.0, 8.0, 1.0)])
    def test_finds_the_valley(self, best):
        """Of |log₂ r − log₂ best|, which falls along axes."""
        start = frame_of(poisson(ko.Box([0] * len(best), [1] * len(best))))

        def residual(frame):
            return 10.0 ** np.sum(np.abs(np.log2(fineness(frame)) - np.log2(best)))

        found = followed(start, start, residual, 0.0)
        assert fineness(found) == pytest.approx(best)

    def test_keeps_the_frame_if_nothing_is_better(self):
        start = frame_of(poisson())
        assert followed(start, finer(start, np.array([2.0, 1.0])), lambda frame: 1.0, 0.0) is start

    def test_is_bounded(self):
        start, tried = frame_of(poisson(ko.Box([0] * 4, [1] * 4))), []

        def residual(frame):
            tried.append(frame)
            return 0.5 ** len(tried)

        followed(start, start, residual, 0.0)
        assert len(tried) == TRIALS

    def test_no_axis_is_finer_than_the_finest(self):
        start = frame_of(poisson())
        assert np.max(fineness(finer(start, np.array([1e6, 1.0])))) == FINEST


class TestLearning:
    def test_stripes_are_resolved_along_one_axis(self):
        problem, inputs = poisson(), {"f": lambda x: 257 * np.pi**2 * stripes(x), "g": 0.0}
        T = ko.learn(problem, inputs=[inputs], budget=700)
        plain = ko.learn(problem, budget=700)
        x = SQUARE.sample(400, seed=3).x
        errors = [np.max(np.abs(operator(**inputs)(x) - stripes(x))) for operator in (T, plain)]
        assert errors[0] < 1e-8 < 5e-3 < errors[1]
        assert str(T.report).startswith("learned by default with axes resolved 16")
        assert plain.report.space == ""

    def test_a_mode_that_diffuses_slowly(self):
        domain = ko.SpaceTime(ko.Interval(0, 1), (0, 1))
        truth = lambda x: np.exp(-x[..., 1]) * np.sin(40 * np.pi * x[..., 0])
        inputs = {"f": 0.0, "g": 0.0, "u0": truth}
        T = ko.learn(heat(domain), inputs=[inputs], budget=900)
        x = domain.sample(400, seed=3).x
        assert np.max(np.abs(T(**inputs)(x) - truth(x))) < 1e-5
