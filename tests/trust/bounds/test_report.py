"""The report: its numbers are those of the functions, and what it cannot speak of is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop import bounds
from kernop.basics.errors import ArgumentError, ArgumentTypeError, InputNameError, ShapeError
from kernop.basics.precision import float64
from kernop.collocation.ansatz import collocate
from kernop.trust.criteria import spectrum

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"), ko.Dirichlet(on=LINE.boundary, name="g")
)
LAM = 1e-3


def learned(method=None, **settings):
    return ko.learn(
        PROBLEM,
        kernel=ko.Gaussian(0.5),
        points={"f": 60, "g": 2},
        sampling="uniform",
        regularization=LAM,
        method=method or ko.Full(),
        **settings,
    )


def f(x):
    return jnp.sin(3.0 * x[..., 0])


@pytest.fixture(scope="module")
def operator():
    return learned()


def test_numbers_are_those_of_the_functions(operator):
    found = bounds.report(operator, (f, 0.3), delta=0.1)
    known = bounds.constants(PROBLEM, ko.Gaussian(0.5), operator.points)
    functionals = collocate(PROBLEM, operator.points)
    data = np.concatenate([np.sin(3.0 * operator.points["f"].x[:, 0]), [0.3, 0.3]])
    seen = spectrum(ko.Gaussian(0.5), functionals, np.ones(62), data[:, None])
    source, rank = bounds.source(seen), bounds.effective_rank(seen)
    assert (found.points, found.rows, found.regularization, found.delta) == (62, 62, LAM, 0.1)
    assert found.constants == known
    assert found.rank == pytest.approx(rank)
    assert found.source.gamma == pytest.approx(source.gamma)
    assert found.pathwise == pytest.approx(bounds.pathwise(62, LAM, known.norm, source.solution_norm, 0.1))
    assert found.sharper == pytest.approx(bounds.sharper(62, LAM, known.functional, source.gap(LAM), 0.1))
    assert found.uniform == pytest.approx(
        bounds.uniform(62, LAM, known.norm, rank, source.gamma, source.size, 0.1), rel=1e-5
    )
    assert found.approximation == pytest.approx(bounds.approximation(LAM, source.gamma, source.size), rel=1e-5)
    assert found.total == pytest.approx(found.uniform + found.approximation)
    assert found.points_needed == pytest.approx(bounds.points_needed(LAM, known.norm, 0.1))


def test_text_says_what_is_known(operator):
    text = str(bounds.report(operator, {"f": f, "g": 0.0}))
    for part in ("N = 62", "λ = 0.001", "closed form", "probability 0.95", "independent points", "γ = ", "total:"):
        assert part in text
    assert "None" not in text


def test_without_inputs_it_is_relative(operator):
    found = bounds.report(operator)
    with_inputs = bounds.report(operator, (f, 0.0))
    assert found.source is found.uniform is found.approximation is found.total is None
    assert found.pathwise * with_inputs.source.solution_norm == pytest.approx(with_inputs.pathwise)
    assert found.rank == pytest.approx(with_inputs.rank)
    assert "give inputs" in str(found)
    assert "None" not in str(found)


def test_low_rank_is_the_same_estimator(operator):
    full, low = bounds.report(operator, (f, 0.0)), bounds.report(learned(ko.LowRank()), (f, 0.0))
    assert low.total == pytest.approx(full.total, rel=1e-6)
    assert low.pathwise == pytest.approx(full.pathwise, rel=1e-6)


def test_inputs_in_every_form(operator):
    values = np.sin(3.0 * operator.points["f"].x[:, 0])
    with float64():
        traceable = jnp.asarray(values)
    forms = [(f, 0.0), {"f": f, "g": 0.0}, (values, 0.0), (traceable, np.zeros(2)), (values[:, None], 0.0)]
    found = [bounds.report(operator, form).pathwise for form in forms]
    np.testing.assert_allclose(found, found[0], rtol=1e-4)  # the norm of u is sensitive to rounding in its data


def test_a_known_exponent_is_used(operator):
    assert bounds.report(operator, (f, 0.0), gamma=0.25).source.gamma == 0.25


def test_weights_count(operator):
    weighted = bounds.report(learned(weights={"f": 4.0, "g": 1.0}), (f, 0.0))
    assert weighted.constants.coefficient == pytest.approx(2.0)
    assert weighted.constants.norm == pytest.approx(2.0 * bounds.report(operator).constants.norm)


def test_few_rows_stand_for_all():
    operator = learned()
    some, whole = bounds.report(operator, (f, 0.0), rows=40), bounds.report(operator, (f, 0.0))
    assert (some.rows, whole.rows) == (40, 62)
    assert some.points == whole.points == 62
    assert some.rank == pytest.approx(whole.rank, rel=0.5)


def test_what_it_cannot_speak_of_is_refused(operator):
    with pytest.raises(ArgumentTypeError, match="operator: got"):
        bounds.report(PROBLEM)
    with pytest.raises(ArgumentError, match=r"operator: got one learned by Subspace.*ko.Full"):
        bounds.report(learned(ko.Subspace(centers=10)))
    smooth = ko.learn(
        PROBLEM, kernel=ko.Matern(2.5, 0.5), points={"f": 5, "g": 2}, regularization=0.0, method=ko.Full()
    )
    with pytest.raises(ArgumentError, match="λ = 0"):
        bounds.report(smooth)
    with pytest.raises(InputNameError, match="no 'g'"):
        bounds.report(operator, {"f": f})
    with pytest.raises(InputNameError, match="3 inputs"):
        bounds.report(operator, (f, 0.0, 1.0))
    with pytest.raises(ShapeError, match="f: got"):
        bounds.report(operator, (np.zeros(7), 0.0))
    with pytest.raises(ArgumentError, match="zero everywhere"):
        bounds.report(operator, (0.0, 0.0))
    with pytest.raises(ArgumentError, match="delta: got 1"):
        bounds.report(operator, delta=1.0)
    with pytest.raises(ArgumentError, match="gamma: got 2"):
        bounds.report(operator, (f, 0.0), gamma=2.0)
    with pytest.raises(ArgumentError, match="rows: got 0"):
        bounds.report(operator, rows=0)
    with pytest.raises(ArgumentTypeError, match="traced"):
        jax.jit(lambda a: bounds.report(operator, (a, 0.0)))(jnp.ones(60))
