"""One operator for points that are held and points that come in batches: what each of them can do, and says."""

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u) + 2.0 * u, on=LINE), ko.Dirichlet(on=LINE.boundary))
X = np.linspace(0, 1, 9)[:, None]
METHODS = {
    "full": ko.Full(),
    "low rank": ko.LowRank(),
    "subspace": ko.Subspace(12),
    "batches": ko.Subspace(12, batch=9),
}


@pytest.fixture(scope="module", params=METHODS)
def operator(request):
    given = {"points": {"f": 40, "g": 2}, "kernel": ko.Gaussian([0.3]), "regularization": 1e-4}
    return ko.learn(PROBLEM, method=METHODS[request.param], **given)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_several_inputs_are_several_calls(operator):
    values = np.linspace(0, 1, 80).reshape(40, 2)
    found = operator.solve([(1.0, 0.0), {"g": 2.0, "f": values}])
    for u, v in zip(found, (operator(1.0, 0.0), operator(values, 2.0)), strict=True):
        assert u.single == v.single
        np.testing.assert_allclose(u(X), v(X), rtol=1e-9, atol=1e-12)
    with pytest.raises(ArgumentTypeError, match=r"inputs: got .*; give a list of inputs, each a tuple \(f, g\)"):
        operator.solve({"f": 1.0, "g": 0.0})


def test_materialized_it_can_be_evaluated_at_fixed_points(operator):
    held = operator.materialize()
    assert (held is operator) == (operator.method.batch is None)
    assert held.materialize() is held
    assert held.diagnosis is operator.diagnosis
    np.testing.assert_allclose(held.on(X)(1.0, 0.0), operator(1.0, 0.0)(X), rtol=1e-8, atol=1e-10)


def test_a_client_is_for_passes(operator):
    np.testing.assert_array_equal(operator.with_client(None)(1.0, 0.0)(X), operator(1.0, 0.0)(X))
    if operator.method.batch is None:
        with pytest.raises(ArgumentError, match=r"client: got one for an operator that passes over no points; leave"):
            operator.with_client(object())


def test_the_same_from_any_source(operator):
    """T says how many points it has, and takes more."""
    assert type(operator) is ko.SolutionOperator
    assert operator.n_points == 42
    assert operator.counts == {"f": 40, "g": 2}
    assert operator.update({"f": [[0.3], [0.7]]}).n_points == 44
