"""Unknowns: their names and components, and how operators say which of them they take."""

import functools

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, OperatorError
from kernop.language.fields import Field, Unknown, VectorField
from kernop.language.unknowns import Unknowns, read_unknowns

D = ko.Box([0.0, 0.0], [1.0, 1.0])
FLOW = Unknowns((("u", 2), ("p", 1)))


class Chosen:
    """An operator that is an object: its parameter is that of its call."""

    def __call__(self, p):
        return p


def taken(op, of=None, unknowns=FLOW):
    """Which unknowns an operator is given, by what they are."""
    return unknowns.apply(op, of, {"u": "velocity", "p": "pressure"}, "f")


# ---- names and components


def test_components_are_counted_through():
    sizes = Unknowns((("u", 2), ("p", 1), ("w", 3)))
    assert sizes.slices == {"u": slice(0, 2), "p": slice(2, 3), "w": slice(3, 6)}
    assert sizes.names == ("u", "p", "w")
    assert sizes.total == 6
    assert sizes.single is None


@pytest.mark.parametrize(
    ("sizes", "components", "single"),
    [((("u", 1),), None, "u"), ((("u", 2),), 2, "u"), ((("u", 1), ("v", 1)), 2, None), ((("w", 1),), None, "w")],
)
def test_a_single_scalar_has_no_axis_of_components(sizes, components, single):
    assert (Unknowns(sizes).components, Unknowns(sizes).single) == (components, single)


def test_fields_are_scalars_and_vectors_of_their_components():
    fields = FLOW.fields(lambda k: Unknown.component(k, 2, False))
    assert isinstance(fields["p"], Field)
    assert isinstance(fields["u"], VectorField)
    (only,) = fields["p"].terms
    assert only == (2, (0, 0))
    assert [next(iter(part.terms))[0] for part in fields["u"].parts] == [0, 1]


def test_a_problem_has_one_scalar_unless_it_says_otherwise():
    assert ko.Problem(ko.Dirichlet(D.boundary)).unknowns == Unknowns() == read_unknowns(None)
    assert ko.Problem(ko.Dirichlet(D.boundary), unknowns={"u": np.int64(3)}).unknowns.total == 3


@pytest.mark.parametrize("name", ["", "u v", "1u", "lambda", "class", "_u", "__class__", 3, None, ("u",)])
def test_names_that_cannot_be_attributes_are_refused(name):
    with pytest.raises(ArgumentError, match=r"unknowns: got the name .*give unknowns="):
        read_unknowns({name: 1})


@pytest.mark.parametrize(("size", "kind"), [(0, ArgumentError), (-1, ArgumentError), (True, None), (1.5, None)])
def test_numbers_of_components_are_whole_and_positive(size, kind):
    with pytest.raises(kind or ArgumentTypeError, match=r"unknowns\['u'\]: got .*whole number, at least 1"):
        read_unknowns({"u": size})


@pytest.mark.parametrize("value", [["u"], "u", 2, {"u", "p"}])
def test_unknowns_are_a_dictionary(value):
    with pytest.raises(ArgumentTypeError, match=r"unknowns: got .*dictionary from names to numbers"):
        ko.Problem(ko.Dirichlet(D.boundary), unknowns=value)


def test_there_is_at_least_one_unknown():
    with pytest.raises(ArgumentError, match="unknowns: got no names"):
        read_unknowns({})


@pytest.mark.parametrize("name", ["grad", "report", "std", "data", "function", "problem", "misfit", "error_estimate"])
def test_names_that_a_solution_needs_are_refused_when_learning(name):
    problem = ko.Problem(ko.Dirichlet(D.boundary), unknowns={name: 1})
    with pytest.raises(ArgumentError, match=f"unknowns: got the name '{name}', which means something else"):
        ko.learn(problem, points=8)


# ---- what operators take


@pytest.mark.parametrize(
    ("op", "wanted"),
    [
        (lambda u, p: (u, p), ("velocity", "pressure")),
        (lambda p, u: (p, u), ("pressure", "velocity")),
        (lambda p: p, "pressure"),
        (lambda u, *, p: (u, p), ("velocity", "pressure")),
        (lambda p, factor=2.0: (p, factor), ("pressure", 2.0)),
        (functools.partial(lambda factor, p: (factor, p), 3.0), (3.0, "pressure")),
        (Chosen(), "pressure"),
    ],
)
def test_operators_take_unknowns_by_the_names_of_their_parameters(op, wanted):
    assert taken(op) == wanted


@pytest.mark.parametrize("op", [lambda u: u, lambda v: v, lambda *all: all[0], lambda v, factor=1.0: v])
def test_of_says_which_one_whatever_the_parameter_is_called(op):
    assert taken(op, of="p") == "pressure"


@pytest.mark.parametrize("op", [lambda u: u, lambda v: v, lambda *all: all[0]])
def test_a_single_unknown_needs_no_name(op):
    assert taken(op, unknowns=Unknowns((("p", 1),))) == "pressure"


SILENT = "an operator that does not say which unknowns it takes; the unknowns are u, p; .*by of="


@pytest.mark.parametrize("op", [lambda v: v, lambda *all: all, lambda **all: all, lambda: 0, max, ko.div, ko.laplacian])
def test_an_operator_that_does_not_say_what_it_takes_is_refused(op):
    with pytest.raises(OperatorError, match=SILENT):
        FLOW.arguments(op, None, "f")


def test_an_operator_of_something_else_is_refused():
    with pytest.raises(OperatorError, match="f: got an operator with a parameter 'q'; the unknowns are u, p"):
        FLOW.arguments(lambda u, q: u, None, "f")


def test_an_operator_of_several_for_one_unknown_is_refused():
    with pytest.raises(OperatorError, match=r"f: got an operator of 2 fields, \(u, p\); the unknown is u alone"):
        ko.Problem(ko.Equation(lambda u, p: u, on=D))


def test_of_names_one_of_the_unknowns():
    with pytest.raises(OperatorError, match="f: got of='q'; name one of the unknowns: u, p"):
        FLOW.arguments(lambda u: u, "q", "f")
    with pytest.raises(ArgumentTypeError, match="of: got 3; give the name of an unknown"):
        ko.Dirichlet(D.boundary, of=3)


T = ko.SpaceTime(ko.Interval(0.0, 1.0), (0.0, 1.0))
FORGOTTEN = {
    "dirichlet": ko.Dirichlet(D.boundary, name="h"),
    "neumann": ko.Neumann(D.boundary, name="h"),
    "robin": ko.Robin(1.0, 2.0, D.boundary, name="h"),
    "mean": ko.Mean(D, name="h"),
    "integral": ko.Integral(2.0, D, name="h"),
    "initial": ko.Initial(T.initial, name="h"),
    "laplacian": ko.Equation(ko.laplacian, on=D, name="h"),
}


@pytest.mark.parametrize("condition", FORGOTTEN.values(), ids=FORGOTTEN)
@pytest.mark.parametrize("names", [("u", "p"), ("v", "q")])
def test_a_condition_that_forgets_of_is_refused_whatever_the_unknowns_are_called(condition, names):
    """``u`` is what the conditions of kernop call their own parameter; it must not pass for the name of an unknown."""
    with pytest.raises(OperatorError, match=r"h: got an operator that does not say .*by of="):
        ko.Problem(
            condition, ko.Condition(lambda w: w, condition.on, "f", of=names[0]), unknowns=dict.fromkeys(names, 1)
        )
