"""Learning to a tolerance: the search by itself, and real problems."""

import itertools
import warnings

import jax.numpy as jnp
import numpy as np
import pytest
from fake_search import Fake, Known

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, InputNameError, NonFiniteError
from kernop.basics.precision import float64
from kernop.learning.growing import FEWEST_ROWS
from kernop.learning.heldout import Findings
from kernop.learning.refine import Level, Report, ToleranceWarning, refine
from kernop.trust.metrics import relative_l2

LINE, SQUARE = ko.Interval(0, 1), ko.Box([0, 0], [1, 1])
CYLINDER = ko.SpaceTime(ko.Interval(0, 1), (0, 1))


def search(errors, tol=1e-6, budget=10_000, dim=2, solutions=None, known=""):
    """Search with errors, and solutions at one point, that are known in advance; the operator and what was said."""
    empty = itertools.repeat(np.empty((1, 0)))
    values = empty if solutions is None else ([[value]] for value in solutions)
    said: list[str] = []
    coming = (Findings(error, error, 0.0, np.asarray(value)) for error, value in zip(errors, values, strict=False))
    measure = Known(coming, known, () if solutions is None else ("f = 1",))
    found = refine(Fake, tol, budget, lambda _: measure, dim, said.append)
    return found, said


class TestSearch:
    def test_stops_as_soon_as_the_tolerance_is_met(self):
        found, said = search([1e-1, 2e-2, 1e-7, 1e-9])
        assert found.report.status == "met"
        assert found.report.met
        assert [level.centers for level in found.report.levels] == [100, 256, 655]
        assert found.centers == 655
        assert found.report.error == 1e-7
        assert len(said) == 3
        assert "655 centres: error 1.0e-07" in said[-1]

    def test_steps_are_as_long_as_exponential_convergence_asks_for(self):
        """log error = −√L / 2 in two dimensions: √L must grow by 2 log(error / 1e-6) from the third level on."""
        root = np.sqrt(655.0)
        third = 2e-2 * np.exp(-0.5 * (root - 16.0))
        assert search([1e-1, 2e-2, third, 1e-7])[0].centers == round((root + 2.0 * np.log(third / 1e-6)) ** 2)

    def test_steps_are_not_too_short(self):
        assert search([1e-1, 2e-2, 1.1e-6, 1e-7])[0].centers == round(1.3 * 655)

    @pytest.mark.parametrize(("dim", "start"), [(1, 16), (2, 100), (3, 200), (4, 300), (7, 300)])
    def test_starts_small(self, dim, start):
        assert search([0.0], dim=dim)[0].centers == start

    def test_two_levels_without_progress_end_it_and_the_best_is_returned(self):
        found, _ = search([1e-1, 1e-3, 1e-4, 0.9e-4, 1e-3, 1e-9])
        assert found.report.status == "stagnated"
        assert not found.report.met
        assert found.report.returned == 3
        assert found.centers == found.report.levels[3].centers
        assert found.report.error == 0.9e-4
        assert len(found.report.levels) == 5

    def test_one_level_without_progress_does_not(self):
        assert search([1e-1, 1e-3, 1e-3, 1e-5, 1e-5, 1e-7])[0].report.met

    def test_patience_until_anything_is_resolved(self):
        assert search([1.0] * 6 + [0.9] * 3 + [1e-3, 1e-7], budget=10**7)[0].report.met

    def test_budget(self):
        found, _ = search([1.0, 0.5, 0.2, 0.1], budget=225)
        assert found.report.status == "budget"
        assert [level.centers for level in found.report.levels] == [100, 225]
        assert search([1.0], budget=5)[0].centers == 5

    def test_a_bad_start_is_survived(self):
        assert search([np.inf, np.inf, 1e-3, 1e-7])[0].report.met

    def test_never_a_finite_residual(self):
        found, _ = search([np.inf] * 9, budget=225)
        assert found.report.status == "budget"
        assert found.report.error == np.inf

    def test_solutions_that_still_settle_keep_it_going(self):
        """As at a corner: the residual does not fall, u does. The last level at which either got better is returned."""
        solutions = [1.5, 1.1, 1.01, 1.001, 1.008, 1.001, 1.0]
        found, _ = search([2e-3, 1e-3, 4e-3, 3e-3, 5e-3, 4e-3, 1e-9], solutions=solutions)
        assert found.report.status == "stagnated"
        assert len(found.report.levels) == 6
        assert found.report.returned == 3
        assert found.centers == found.report.best.centers == found.report.levels[3].centers
        assert found.report.error == 3e-3
        assert found.report.levels[0].change is None
        assert found.report.levels[3].change == pytest.approx(0.009 / 1.001)

    def test_constant_data_is_followed_while_it_can_meet_the_tolerance(self):
        """The known solutions are met at once; û of constant data falls by ten at each level, and meets it later."""
        solutions = [1.0 + 10.0**-k for k in range(2, 12)]
        found, _ = search([1e-9] * 9, solutions=solutions, known="smooth solutions")
        assert found.report.met
        assert found.report.missed == {}
        assert found.report.estimates[0] <= 1e-6
        assert found.report.returned == len(found.report.levels) - 1 > 2

    def test_constant_data_that_cannot_meet_it_is_left(self):
        solutions = [1.0 + 0.8**k for k in range(20)]
        found, _ = search([1e-9] * 9, budget=3000, solutions=solutions, known="smooth solutions")
        assert found.report.met
        assert len(found.report.levels) == 3
        assert list(found.report.missed) == ["f = 1"]
        assert found.report.missed["f = 1"] > 0.01

    @pytest.mark.parametrize("power", [0.4, 1.0, 3.0])
    @pytest.mark.parametrize("errors", [[1.0, 1.0, 1e-9], [1.0, 1e-3, 1e-4, 1e-5, 1e-9]], ids=["leaps", "steps"])
    def test_an_estimate_is_the_error_of_what_converges_like_a_power(self, power, errors):
        """û = 1 + δ L^−p with a small δ, whatever the steps are; and 1.5 times too much where it converges fast."""
        numbers = [level.centers for level in search(errors)[0].report.levels]
        excess = 1e-3 * np.array(numbers, dtype=float) ** -power
        found, _ = search(errors, solutions=[*(1.0 + excess), 1.0], known="smooth solutions", budget=numbers[-1])
        assert [level.centers for level in found.report.levels] == numbers
        assert found.report.estimates[0] == pytest.approx(excess[-1], rel=0.6)
        assert found.report.estimates[0] >= 0.99 * excess[-1]

    def test_an_estimate_is_at_most_four_changes(self):
        found, _ = search([1.0, 0.9, 0.8], budget=655, solutions=[1.3, 1.2, 1.1], known="smooth solutions")
        assert found.report.estimates == pytest.approx((4.0 * found.report.best.change,))

    def test_the_last_step_is_not_a_small_one(self):
        found, _ = search([1.0] * 9, budget=720)
        assert [level.centers for level in found.report.levels] == [100, 256, 720]


def test_report_says_what_happened():
    levels = (
        Level(centers=40, points=120, error=1e-2, seconds=0.1),
        Level(centers=64, points=192, error=2e-5, seconds=0.25),
    )
    text = str(
        Report(
            status="met",
            tol=1e-4,
            levels=levels,
            returned=1,
            measured="smooth solutions",
            followed=("f = 1", "g = 1"),
            estimates=(3e-3, 1e-9),
        )
    )
    first = text.splitlines()[0]
    assert first.startswith("tolerance met: error 2.0e-05 on smooth solutions, asked for 1.0e-04. Not covered: corner")
    assert first.endswith("missed for constant data: f = 1 (estimated error 3e-03)")
    assert "40 centres,    120 points: error 1.0e-02, 0.10 s" in text
    assert len(text.splitlines()) == 3
    assert str(Report(status="met", tol=1e-4, levels=levels, returned=1)).startswith(
        "tolerance met: residual 2.0e-05 of inputs, asked for 1.0e-04"
    )
    estimated = Report(
        status="stagnated", tol=1e-4, levels=levels, returned=1, followed=("f = 1", "g = 1"), estimates=(1e-9, 3e-4)
    )
    assert "help: estimated error 3.0e-04 for f = 1, g = 1, asked for 1.0e-04" in str(estimated)
    assert str(Report(status="budget", tol=1e-6, levels=levels, returned=1)).startswith("NOT met: the budget")
    assert str(Report(status="stagnated", tol=1e-6, levels=levels, returned=1)).startswith(
        "NOT met: more centres did not help"
    )


@pytest.mark.parametrize(("misfit", "promise"), [(1e-6, 3e-4), (1e-2, 3e-2)])
def test_data_may_leave_a_little_more_than_those_that_were_measured(misfit, promise):
    levels = (
        Level(centers=40, points=120, error=1e-2, seconds=0.1, misfit=0.5),
        Level(centers=64, points=192, error=2e-5, seconds=0.25, misfit=misfit),
    )
    assert Report(status="met", tol=1e-4, levels=levels, returned=1).promise == pytest.approx(promise, rel=1e-12)


def dirichlet(domain, op, **fixed):
    return ko.Problem(ko.Equation(op, on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g", **fixed))


def poisson(u):
    return -ko.laplacian(u)


def helmholtz(omega):
    return dirichlet(LINE, lambda u: -ko.laplacian(u) - omega**2 * u)


POISSON = dirichlet(SQUARE, poisson)
HEAT = ko.Problem(
    ko.Equation(lambda u: ko.dt(u) - 0.1 * ko.laplacian(u), on=CYLINDER),
    ko.Dirichlet(on=CYLINDER.walls),
    ko.Initial(on=CYLINDER.initial),
)


def smooth(x):
    k = jnp.arange(1, x.shape[-1] + 1)
    return jnp.sin(jnp.sum(k * x, axis=-1)) + 0.5 * jnp.exp(-jnp.sum(x, axis=-1)) + x[..., 0] ** 3


def swinging(x):
    return jnp.cos(20.0 * x[..., 0] + 0.3)


def error(operator, solution):
    u = operator(**operator.problem.manufacture(solution, operator.points))
    x = operator.problem.conditions[0].on.sample(400, "uniform", seed=99).x
    with float64():
        exact = np.asarray(solution(x))
    return float(relative_l2(u(x), exact))


@pytest.mark.filterwarnings("error::kernop.learning.refine.ToleranceWarning")
@pytest.mark.parametrize(
    ("problem", "solution", "tolerances"),
    [
        (POISSON, smooth, (1e-3, 1e-6)),
        (HEAT, smooth, (1e-3, 1e-6)),
        (helmholtz(20.0), swinging, (1e-2, 1e-6, 1e-9)),
    ],
    ids=["Poisson", "heat", "Helmholtz"],
)
def test_tolerances_are_met(problem, solution, tolerances):
    operators = [ko.learn(problem, tol=tol, method=ko.Subspace()) for tol in tolerances]
    for operator, tol in zip(operators, tolerances, strict=True):
        report = operator.report
        assert report.met
        assert report.error <= tol
        assert report.tol == tol
        assert error(operator, solution) <= 10 * tol
        assert operator.method.centers == report.best.centers
        assert operator.n_points == report.best.points
        assert report.levels[0].error > tol
    centers = [operator.method.centers for operator in operators]
    assert centers == sorted(centers)
    assert centers[-1] > centers[0]


def test_waves_that_are_not_resolved_are_noticed():
    with pytest.warns(ToleranceWarning, match="NOT met: the budget"):
        t = ko.learn(helmholtz(2000.0), tol=1e-6, budget=100, method=ko.Subspace())
    assert t.report.status == "budget"
    assert not t.report.met
    assert max(level.centers for level in t.report.levels) == 100
    assert np.all(np.isfinite(t(1.0, 0.0)([[0.3], [0.6]])))


class TestInputs:
    def test_a_jump_is_not_met(self):
        step = lambda x: 1.0 * (x[..., 0] > 0.5)
        with pytest.warns(ToleranceWarning):
            t = ko.learn(POISSON, tol=1e-4, budget=200, inputs=[(step, 0.0)], method=ko.Subspace())
        assert not t.report.met
        assert t.report.error > 1e-2

    def test_smooth_ones_are(self):
        harmonic = lambda x: jnp.sin(x[..., 0]) * jnp.cosh(x[..., 1])
        t = ko.learn(POISSON, tol=1e-4, inputs=[(0.0, harmonic), {"g": 1.0, "f": 0.0}])
        assert t.report.met
        x = SQUARE.sample(100, "uniform", seed=5).x
        np.testing.assert_allclose(t(0.0, harmonic)(x), np.sin(x[:, 0]) * np.cosh(x[:, 1]), atol=1e-3)

    @pytest.mark.parametrize(
        ("inputs", "error", "message"),
        [
            ([(np.ones(10), 0.0)], ArgumentError, r"inputs\['f'\]: got an array"),
            ([(1.0,)], InputNameError, "inputs: got no 'g'"),
            ([(1.0, 0.0, 0.0)], InputNameError, "inputs: got 3 inputs"),
            ([{"f": 1.0}], InputNameError, "got no 'g'"),
            ([{"f": 1.0, "g": 0.0, "h": 0.0}], InputNameError, "got the unknown input 'h'"),
            ([], ArgumentError, "inputs: got"),
            (3, ArgumentTypeError, "inputs: got 3"),
        ],
    )
    def test_bad_ones(self, inputs, error, message):
        with pytest.raises(error, match=message):
            ko.learn(POISSON, tol=1e-2, inputs=inputs)


def test_given_points_are_kept():
    given = {"f": SQUARE.sample(1500, seed=11), "g": SQUARE.boundary.sample(300, seed=11)}
    t = ko.learn(POISSON, tol=1e-3, points=given)
    assert t.report.met
    np.testing.assert_array_equal(t.points["f"].x, given["f"].x)
    np.testing.assert_array_equal(t.points["g"].x, given["g"].x)
    assert {level.points for level in t.report.levels} == {1800}


def test_given_points_limit_the_centres():
    with pytest.warns(ToleranceWarning):
        t = ko.learn(POISSON, tol=1e-12, points={"f": 130, "g": 70})
    assert max(level.centers for level in t.report.levels) == int(200 / FEWEST_ROWS)


def test_all_data_fixed():
    problem = ko.Problem(
        ko.Equation(poisson, on=SQUARE, data=0.0), ko.Dirichlet(on=SQUARE.boundary, data=lambda x: x[..., 0])
    )
    for inputs in (None, [()], [{}]):
        t = ko.learn(problem, tol=1e-3, inputs=inputs)
        assert t.report.met
        x = SQUARE.sample(100, "uniform", seed=5).x
        np.testing.assert_allclose(t()(x), x[:, 0], atol=1e-3)


def test_an_envelope_does_not_stand_in_the_way():
    """The probes vanish where the envelope does; otherwise they ask for solutions with singular corners."""
    rho = lambda x: x[..., 0] * (1 - x[..., 0]) * x[..., 1] * (1 - x[..., 1])
    problem = ko.Problem(ko.Equation(poisson, on=SQUARE))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ToleranceWarning)
        t = ko.learn(problem, tol=1e-3, method=ko.Subspace(envelope=rho), budget=700)
    assert t.report.met
    assert error(t, lambda x: jnp.sin(jnp.pi * x[..., 0]) * jnp.sin(jnp.pi * x[..., 1])) < 1e-2


def test_no_tolerance_no_report_unless_numbers_of_functions_are_tried():
    assert ko.learn(POISSON, points=200, method=ko.Subspace(80)).report is None
    assert not ko.learn(POISSON, points=200).report.asked


def test_levels_are_shown(capsys):
    ko.learn(POISSON, tol=0.5, progress=True)
    assert "100 centres: error" in capsys.readouterr().out


class TestErrors:
    @pytest.mark.parametrize("method", [ko.Full(), ko.LowRank(), ko.Subspace(50), ko.Subspace(np.zeros((5, 2)))])
    def test_methods_that_do_not_grow(self, method):
        with pytest.raises(ArgumentError, match=r"(?s)tol: got a tolerance with .*; leave tol out"):
            ko.learn(POISSON, tol=1e-3, method=method)

    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            ({"tol": 0.0}, ArgumentError, "tol: got 0; give a number that is greater than 0"),
            ({"tol": -1e-3}, ArgumentError, "tol: got -0.001"),
            ({"tol": np.nan}, NonFiniteError, "tol: got nan"),
            ({"tol": "small"}, ArgumentTypeError, "tol: got 'small'"),
            ({"tol": 1e-3, "budget": 0}, ArgumentError, "budget: got 0"),
            ({"tol": 1e-3, "budget": 1e3}, ArgumentTypeError, "budget: got 1000.0"),
        ],
    )
    def test_numbers(self, changes, error, message):
        with pytest.raises(error, match=message):
            ko.learn(POISSON, **changes)


def test_a_coefficient_that_is_not_resolved_does_not_hide_that_more_functions_are_better():
    """At 256 functions nobody looks at the coefficient, since the tolerance is missed anyway; at 655 it is seen."""
    a = lambda x: 1.0 + 0.9 * jnp.sin(70.0 * x[..., 0]) * jnp.sin(70.0 * x[..., 1])
    problem = ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary))
    with pytest.warns(ToleranceWarning), pytest.warns(ko.AccuracyWarning, match="not resolved"):
        T = ko.learn(problem, tol=1e-6, method=ko.Subspace(), budget=700)
    assert T.report.best.centers == 700
    assert T.report.best.roughness > 0.0
