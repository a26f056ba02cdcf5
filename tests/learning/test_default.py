"""learn without a tolerance: the search by itself, and problems with known solutions."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from fake_search import Fake
from hypothesis import given
from hypothesis import strategies as st

import kernop as ko
from kernop.learning.heldout import Findings
from kernop.learning.refine import LEVELS, NEARLY, SMALL, ToleranceWarning, by_default, planned

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
    triples = zip(planned(dim, budget), scores, scores if errors is None else errors, strict=False)
    found = {number: Findings(error, score, 0.0, np.empty((1, 0))) for number, score, error in triples}
    said: list[str] = []
    return by_default(Fake, budget, lambda _: ByNumber(found), dim, said.append), said


@dataclass
class ByNumber:
    """A measure that knows in advance what it finds for each number of functions; between them, that of fewer."""

    found: dict[int, Findings]
    known: str = "smooth solutions"
    unknown: tuple[str, ...] = ()

    def __call__(self, operator):
        return self.found[max(number for number in self.found if number <= operator.centers)]


class TestSearch:
    @given(
        pairs=st.lists(st.tuples(*[st.floats(-13.0, 1.0)] * 2), min_size=4, max_size=4),
        dim=st.integers(1, 4),
        budget=st.integers(1, 5000),
    )
    def test_what_is_returned_is_the_best_that_was_seen_or_nearly(self, pairs, dim, budget):
        scores, errors = 10.0 ** np.array(pairs).T
        found, said = search(scores, errors, budget, dim)
        numbers, tried = planned(dim, budget), [level.centers for level in found.report.levels]
        seen = [max(k for k, number in enumerate(numbers) if number <= own) for own in tried]
        returned = seen[found.report.returned]
        assert scores[returned] <= max(NEARLY * np.min(scores[seen]), SMALL)
        assert found.centers == found.report.best.centers == tried[found.report.returned] <= budget
        assert found.report.error == errors[returned]
        assert tried == sorted(set(tried))
        assert len(tried) == len(said) <= max(2, len(numbers))
        assert not found.report.asked

    def test_a_level_that_is_worse_is_not_taken(self):
        found, said = search([1e-3, 1e-5, 1e-2, 1e-1])
        assert found.report.returned == 1
        assert len(said) == 3

    def test_what_is_good_enough_is_not_improved(self):
        found, said = search([1e-4, 1e-7, 1e-12, 1e-13])
        assert len(said) == 2
        assert found.report.met

    def test_what_is_excellent_at_once_is_compared_with_nothing(self):
        found, said = search([1e-4, 1e-11, 1e-12, 1e-13])
        assert [level.centers for level in found.report.levels] == [LEVELS[1][1]]
        assert len(said) == 1

    def test_what_is_excellent_in_the_mean_only_gets_a_few_more_functions(self):
        """Errors like exp(−c √L) are 1e-8 where √L is 8 / 7 times as large as for 1e-7."""
        found, said = search([1e-4, 1e-11, 1e-12, 1e-13], [1e-3, 1e-7, 1e-8, 1e-8])
        assert found.centers == round(LEVELS[1][1] * (8 / 7) ** 2)
        assert len(said) == 2

    def test_what_is_only_good_is_compared_with_fewer_functions(self):
        """As of an equation of fourth order on a line, where many functions are dependent."""
        found, said = search([1e-12, 1e-9, 1e-6, 1e-5], dim=1)
        assert found.centers == LEVELS[0][0]
        assert len(said) == 2

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


def test_an_equation_that_is_not_resolved_at_all_is_told():
    """Waves of ω = 60 on a disk, and 250 functions: the report had an error of 1, and nothing was said."""
    disk = ko.Ball([0, 0], 1)
    equation = ko.Equation(lambda u: -ko.laplacian(u) - 3600.0 * u, on=disk)
    with pytest.warns(ko.AccuracyWarning, match="known solutions are missed altogether") as told:
        ko.learn(ko.Problem(equation, ko.Dirichlet(on=disk.boundary)), budget=250)
    assert len(told) == 1
