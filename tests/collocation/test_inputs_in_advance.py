"""Inputs that are given in advance: tuples and dictionaries, functions and numbers, and nothing else."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, InputNameError, KernopError, NonFiniteError
from kernop.collocation.data import inputs_in_advance

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"),
    ko.Dirichlet(on=SQUARE.face("left"), name="fixed", data=0.0),
    ko.Dirichlet(on=SQUARE.face("right"), name="g"),
)
SINGLE = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"))


def f(x):
    return x[..., 0]


class TestReading:
    @pytest.mark.parametrize("value", [(f, 2.0), [f, 2.0], {"f": f, "g": 2.0}, {"g": 2.0, "f": f}])
    def test_by_order_or_by_name(self, value):
        assert inputs_in_advance(PROBLEM, [value]) == [{"f": f, "g": 2.0}]

    def test_several_in_order(self):
        found = inputs_in_advance(PROBLEM, ((f, 1.0), {"g": f, "f": 3.0}))
        assert found == [{"f": f, "g": 1.0}, {"f": 3.0, "g": f}]

    def test_the_only_input_needs_no_tuple(self):
        assert inputs_in_advance(SINGLE, [f, 2.0, (3.0,)]) == [{"f": f}, {"f": 2.0}, {"f": 3.0}]

    @pytest.mark.parametrize("number", [0, -1.5, np.float32(2.5), np.int64(3), np.array(4.0), jnp.asarray(5.0)])
    def test_numbers(self, number):
        assert float(inputs_in_advance(SINGLE, [number])[0]["f"]) == float(number)

    def test_what_was_given_is_not_changed(self):
        given = {"f": 1.0, "g": 2.0}
        inputs_in_advance(PROBLEM, [given])[0]["f"] = 3.0
        assert given == {"f": 1.0, "g": 2.0}


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        (f, ArgumentTypeError, r"inputs: got <function f.*; give a list of inputs, each a tuple \(f, g\) or a dict"),
        ({"f": 1.0, "g": 2.0}, ArgumentTypeError, "inputs: got {"),
        ("fg", ArgumentTypeError, "inputs: got 'fg'"),
        (3.0, ArgumentTypeError, "inputs: got 3.0"),
        (iter([(1.0, 2.0)]), ArgumentTypeError, "inputs: got"),
        (np.ones((2, 2)), ArgumentTypeError, r"inputs: got an array of shape \(2, 2\)"),
        ([], ArgumentError, "inputs: got none; give a list of inputs"),
        ([(f,)], InputNameError, r"inputs: got no .g.; give \(f, g\)"),
        ((f, 2.0), InputNameError, r"inputs: got no .g.; give \(f, g\)"),
        ([(f, 1.0, 0.0)], InputNameError, r"inputs: got 3 inputs; give \(f, g\)"),
        ([{"f": f}], InputNameError, r"inputs: got no 'g'; give \(f, g\)"),
        ([{}], InputNameError, r"inputs: got no .f. and no .g.; give \(f, g\)"),
        (
            [{"f": f, "g": 1.0, "fixed": 0.0}],
            InputNameError,
            r"inputs: got the unknown input .fixed. .*; give",
        ),
        ([{1: f, "g": 1.0}], InputNameError, r"inputs: got the unknown input 1; give \(f, g\)"),
        ([(np.ones(10), 0.0)], ArgumentError, r"inputs\['f'\]: got an array of shape \(10,\); give a function"),
        ([(1.0, [1.0, 2.0])], ArgumentError, r"inputs\['g'\]: got \[1\.0, 2\.0\]; give a function or a number"),
        ([(1.0, [[1.0], [1.0, 2.0]])], ArgumentError, r"inputs\['g'\]: got \[\[1\.0\], \[1\.0, 2\.0\]\]"),
        ([(1.0, "sin")], ArgumentTypeError, r"inputs\['g'\]: got 'sin'; give a function or a number"),
        ([(1.0, None)], ArgumentTypeError, r"inputs\['g'\]: got None"),
        ([(1.0, np.nan)], NonFiniteError, r"inputs\['g'\]: got nan"),
        ([(1.0, 0.0), (1.0, np.inf)], NonFiniteError, r"inputs\['g'\]: got inf"),
    ],
)
def test_refusals(inputs, error, message):
    with pytest.raises(error, match=message) as caught:
        inputs_in_advance(PROBLEM, inputs)
    assert isinstance(caught.value, KernopError)
