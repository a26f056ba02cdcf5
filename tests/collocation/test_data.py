"""Inputs by name, values at points, places: what comes out, and what is refused."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, InputNameError, OutsideDomainError, ShapeError
from kernop.collocation.data import all_values, named_inputs, places, values_at
from kernop.collocation.functionals import Layout

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"),
    ko.Dirichlet(on=LINE.boundary, name="g"),
    ko.Condition(lambda u: u, on=LINE, name="fixed", data=3.0),
)
SCALARS = (Layout(),) * 3
POINTS = {"f": LINE.sample(5), "g": LINE.boundary.sample(2), "fixed": LINE.sample(3)}


class TestNamedInputs:
    def test_by_order_and_by_name(self):
        for values, named in [((1, 2), {}), ((1,), {"g": 2}), ((), {"g": 2, "f": 1})]:
            assert named_inputs(PROBLEM, values, named) == {"f": 1, "g": 2}

    @pytest.mark.parametrize(
        ("values", "named", "message"),
        [
            ((1, 2, 3), {}, "got 3 inputs"),
            ((1,), {"f": 2, "g": 3}, "'f' twice"),
            ((1,), {}, "no 'g'"),
            ((1, 2), {"h": 3}, "unknown input 'h'"),
            ((1, 2), {"fixed": 3}, "its data is fixed in the problem"),
        ],
    )
    def test_refused(self, values, named, message):
        with pytest.raises(InputNameError, match=message):
            named_inputs(PROBLEM, values, named)


class TestAllValues:
    def test_one_below_the_other(self):
        found = all_values(PROBLEM, {"f": lambda x: x[..., 0] ** 2, "g": 7.0}, POINTS, SCALARS)
        np.testing.assert_array_equal(found, [*(POINTS["f"].x[:, 0] ** 2), 7.0, 7.0, 3.0, 3.0, 3.0])

    def test_one_input_is_repeated_beside_several(self):
        columns = np.arange(10.0).reshape(5, 2)
        found = all_values(PROBLEM, {"f": columns, "g": 7.0}, POINTS, SCALARS)
        np.testing.assert_array_equal(found, np.vstack([columns, np.full((2, 2), 7.0), np.full((3, 2), 3.0)]))

    def test_jax_stays_jax_in_float64(self):
        found = all_values(PROBLEM, {"f": jnp.ones(5), "g": 0.0}, POINTS, SCALARS)
        assert found.dtype == np.float64
        assert not isinstance(found, np.ndarray)

    def test_batches_that_disagree(self):
        with pytest.raises(ShapeError, match=r"'f' with 2, 'g' with 3"):
            all_values(PROBLEM, {"f": np.ones((5, 2)), "g": np.ones((2, 3))}, POINTS, SCALARS)


@pytest.mark.parametrize("value", [np.ones(4), np.ones((5, 2, 2)), np.ones((5, 0))])
def test_values_of_the_wrong_shape(value):
    with pytest.raises(ShapeError, match=r"f: got .* shape \(5,\) or \(5, B\)"):
        values_at(PROBLEM["f"], value, POINTS["f"], Layout())


class TestPlaces:
    def test_inside(self):
        np.testing.assert_array_equal(places(PROBLEM, [0.25, 1.0], "raise").x, [[0.25], [1.0]])

    def test_outside(self):
        with pytest.raises(OutsideDomainError, match=r"y: got 1 of 2 points .* outside='nan'"):
            places(PROBLEM, [0.5, 1.5], "raise", "y")
        assert len(places(PROBLEM, [0.5, 1.5], "extrapolate")) == 2
        assert len(places(PROBLEM, [0.5, 1.5], "nan")) == 2

    def test_a_remedy_that_there_is(self):
        """What has no ``outside=`` does not offer it."""
        with pytest.raises(OutsideDomainError, match=r"give points inside\.$"):
            places(PROBLEM, [1.5], None)

    def test_an_unknown_choice(self):
        with pytest.raises(ArgumentError, match="outside: got 'ignore'"):
            places(PROBLEM, [0.5], "ignore")
