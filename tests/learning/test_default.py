"""learn without a tolerance: the search by itself, and problems with known solutions."""

import warnings

import numpy as np
import pytest
from fake_search import Fake, Known
from hypothesis import given
from hypothesis import strategies as st

import kernop as ko
from kernop.learning.default import LEVELS, NEARLY, SMALL, by_default, planned
from kernop.learning.heldout import Findings
from kernop.learning.refine import ToleranceWarning

LINE, SQUARE = ko.Interval(0.0, 1.0), ko.Box([0, 0], [1, 1])
POISSON = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"), ko.Dirichlet(on=SQUARE.boundary, name="g")
)


class TestPlanned:
    @given(dim=st.integers(1, 9), budget=st.integers(1, 10_000))
    def test_grows_within_the_budget(self, dim, budget):
        found = planned(dim, budget)
        assert list(found) == sorted(set(found))
        assert 1 <= found[-1] <= budget
        assert found[-1] >= min(budget / 1.25, LEVELS[min(dim, 3) - 1][-1])

    def test_the_levels_themselves(self):
        assert planned(1, 10**6) == LEVELS[0]
        assert planned(2, 10**6) == LEVELS[1]
        assert planned(3, 10**6) == planned(7, 10**6) == LEVELS[2]

    def test_a_small_budget_is_all_that_is_tried(self):
        assert planned(2, 60) == (60,)
        assert planned(1, 1) == (1,)


def search(scores, errors=None, budget=10_000, dim=2):
    """Search with scores and errors that are known in advance; the operator and what was said."""
    pairs = zip(scores, scores if errors is None else errors, strict=True)
    measure = Known(Findings(error, score, 0.0, np.empty((1, 0))) for score, error in pairs)
    said: list[str] = []
    return by_default(Fake, budget, lambda _: measure, dim, said.append), said


class TestSearch:
    @given(
        pairs=st.lists(st.tuples(*[st.floats(-13.0, 1.0)] * 2), min_size=4, max_size=4),
        dim=st.integers(1, 4),
        budget=st.integers(1, 5000),
    )
    def test_what_is_returned_is_the_best_that_was_seen_or_nearly(self, pairs, dim, budget):
        scores, errors = 10.0 ** np.array(pairs).T
        found, said = search(scores, errors, budget, dim)
        seen = scores[: len(said)]
        returned = found.report.returned
        assert scores[returned] <= max(NEARLY * np.min(seen), SMALL)
        assert found.centers == found.report.best.centers == planned(dim, budget)[returned] <= budget
        assert found.report.error == errors[returned]
        assert len(found.report.levels) == len(said) <= len(planned(dim, budget))
        assert not found.report.asked

    def test_a_level_that_is_worse_is_not_taken(self):
        found, said = search([1e-3, 1e-5, 1e-2, 1e-1])
        assert found.report.returned == 1
        assert len(said) == 3

    def test_what_is_good_enough_is_not_improved(self):
        found, said = search([1e-4, 1e-7, 1e-12, 1e-13])
        assert len(said) == 2
        assert found.report.met

    def test_where_nothing_is_resolved_all_is_tried(self):
        assert len(search([0.5, 0.9, 0.8, 0.3])[1]) == 4

    def test_errors_that_are_not_finite_are_survived(self):
        found, _ = search([np.inf, np.inf, 1e-3, np.inf], [np.inf, np.inf, 1e-2, np.inf])
        assert found.report.returned == 2


def plate():
    """u\u2033\u2033 = \u22121 with u = u\u2033 = 0 at both ends: u = \u2212(x\u2074 \u2212 2x\u00b3 + x) / 24."""
    return ko.Problem(
        ko.Equation(lambda u: ko.partial(u, 0, 4), on=LINE, name="f"),
        ko.Dirichlet(on=LINE.boundary, name="g"),
        ko.Condition(lambda u: ko.partial(u, 0, 2), LINE.boundary, "m"),
    )


class TestLearned:
    def test_a_beam_under_its_weight(self):
        """A thousand functions have 3e-3 here, forty 2e-9."""
        x = np.linspace(0.0, 1.0, 101)
        u = ko.learn(plate())(-1.0, 0.0, 0.0)(x[:, None])
        np.testing.assert_allclose(u, -(x**4 - 2 * x**3 + x) / 24.0, rtol=0, atol=1e-11)

    def test_quietly(self):
        """Sixty functions do not resolve what they are measured by to 1e-6, and nobody asked for it."""
        with warnings.catch_warnings():
            warnings.simplefilter("error", ToleranceWarning)
            operator = ko.learn(POISSON, budget=60)
        assert not operator.report.met
        assert operator.report.levels[-1].centers == len(operator.factorisation.expansion) == 60

    def test_the_promise_is_that_of_an_operator_without_report(self):
        found = ko.learn(POISSON, budget=100)
        once = ko.learn(POISSON, points=300, method=ko.Subspace(100))
        assert once.report is None
        assert found.promise == once.promise

    def test_points_that_are_given_bound_the_number_of_functions(self):
        operator = ko.learn(POISSON, points={"f": 150, "g": 50})
        assert operator.n_points == 200
        assert 100 <= operator.report.best.centers <= 134  # of 200 rows

    @pytest.mark.parametrize(
        "setting",
        [
            {"kernel": ko.Gaussian(0.5)},
            {"regularization": 1e-8},
            {"noise": 1e-3},
            {"method": ko.Subspace(50)},
            {"method": ko.Subspace(solver="normal")},
            {"method": ko.Subspace(basis="representers")},
            {"method": ko.LowRank(20)},
        ],
        ids=str,
    )
    def test_nothing_is_tried_where_the_functions_are_given(self, setting):
        assert ko.learn(POISSON, points=120, **setting).report is None
