"""Problems without the user's functions: as much of them as needs no function, and the values of what does."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.codec import Decoder, Encoder
from kernop.basics.errors import FileError, fail
from kernop.collocation.ansatz import Ansatz, collocate, normal_form
from kernop.geometry.remembered import Remembered, remembered
from kernop.language.calculus import normal_derivative
from kernop.language.conditions import Condition, Mixed
from kernop.language.functions import evaluate_at
from kernop.language.ops import itself
from kernop.operators.closing import Closing, enveloped
from kernop.operators.known import ConstantOperator, KnownFunction, KnownOperator

BOX = ko.Box([0.0, 0.0], [1.0, 1.0])


def a(x):
    return 1.0 + x[..., 0]


def rho(x):
    return x[..., 0] * (1.0 - x[..., 0])


def closed(condition, points, held=True, envelope=None):
    problem, own, ansatz = ko.Problem(condition), {condition.name: points}, Ansatz(envelope=envelope)
    return Closing(problem, own, ansatz, collocate(problem, own, ansatz) if held else None).closed().conditions[0]


def returned(condition, change=lambda header: None):
    """Written and read again."""
    encoder = Encoder()
    header = encoder.encode(condition, "condition")
    change(header)
    return Decoder(encoder.arrays, lambda got: fail(FileError, "path", got, "")).decode(Condition, header, "condition")


@pytest.mark.parametrize(
    ("condition", "kind", "op"),
    [
        (ko.Dirichlet(on=BOX.boundary), "identity", type(itself)),
        (ko.Neumann(on=BOX.boundary), "normal derivative", type(normal_derivative)),
        (ko.Robin(1.0, 2.0, on=BOX.boundary), "mixed", Mixed),
        (ko.Robin(1.0, a, on=BOX.boundary), "table", KnownOperator),
        (ko.Equation(lambda u: u - 0.1 * ko.laplacian(u), on=BOX), "constant", ConstantOperator),
        (ko.Equation(lambda u: ko.dot([1.0, a], ko.grad(u)), on=BOX), "table", KnownOperator),
        # Constant at these points is not constant.
        (ko.Equation(lambda u: (lambda x: jnp.where(x[..., 0] < 2.0, 1.0, 5.0)) * u, on=BOX), "table", KnownOperator),
    ],
)
@pytest.mark.parametrize("held", [True, False])
def test_the_operator(condition, kind, op, held):
    points = condition.on.sample(12)
    known = closed(condition, points, held)
    assert Encoder().encode(known)["op"]["class"] == kind
    found = returned(known)
    assert isinstance(found.op, op)
    one, other = normal_form(found.op, points), normal_form(condition.op, points)
    assert one.alphas == other.alphas
    np.testing.assert_array_equal(one.coefficients, other.coefficients)


def test_coefficients_that_vanish_at_some_points_only():
    condition = ko.Equation(lambda u: ko.partial(u, 0) + (lambda x: jnp.maximum(x[..., 0] - 0.5, 0.0)) * u, on=BOX)
    points = BOX.adopt(np.array([[0.1, 0.5], [0.2, 0.5], [0.8, 0.5], [0.9, 0.5]]))
    found = returned(closed(condition, points, held=False))
    assert normal_form(found.op, points[:2]).alphas == ((1, 0),)
    np.testing.assert_array_equal(normal_form(found.op, points[2:]).coefficients[:, 0], points.x[2:, 0] - 0.5)


@pytest.mark.parametrize("data", [None, 0.0, 2, np.float32(0.1)])
def test_data_that_is_a_number(data):
    found = returned(closed(ko.Dirichlet(on=BOX.boundary, data=data), BOX.boundary.sample(8)))
    assert found.data == (None if data is None else float(data))


def test_data_that_is_a_function():
    points = BOX.boundary.sample(8)
    found = returned(closed(ko.Dirichlet(on=BOX.boundary, data=a), points))
    np.testing.assert_array_equal(evaluate_at("g", found.data, points.x), a(points.x))


def test_arrays_are_stored_once():
    encoder = Encoder()
    encoder.encode(closed(ko.Equation(lambda u: a * u, on=BOX.where(lambda x: x[..., 0] < 0.5), data=a), BOX.sample(8)))
    assert len([name for name in encoder.arrays if "/x" in name]) == 1


def test_a_region_with_a_predicate_is_known_by_its_points():
    part = BOX.where(lambda x: x[..., 0] < 0.5)
    points = part.sample(8)
    found = remembered(part, points)
    assert isinstance(found, Remembered)
    assert (found.base, found.points, found.measure) == (BOX, points, part.measure)
    assert remembered(BOX, points) is BOX


@pytest.mark.filterwarnings("ignore::kernop.errors.IllPosedWarning")
def test_the_envelope_is_put_where_the_old_one_was():
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=BOX, name="f"))
    T = ko.learn(problem, points=40, method=ko.Subspace(10, envelope=rho))
    known = Closing(T.problem, T.points, T.ansatz).envelope()
    assert isinstance(known, KnownFunction)
    method, factorisation = enveloped(T.method, T.factorisation, known)
    assert method.envelope is factorisation.method.envelope is factorisation.expansion.ansatz.envelope is known
    plain = ko.learn(problem, points=40, method=ko.Subspace(10))
    assert enveloped(plain.method, plain.factorisation, known) == (plain.method, plain.factorisation)


@pytest.mark.parametrize(
    "change",
    [
        lambda h: h.update(name="class"),
        lambda h: h.update(name=3),
        lambda h: h.update(data="nothing"),
        lambda h: h.update(op=3),
        lambda h: h["op"].update({"class": "unknown"}),
        lambda h: h["op"].update({"class": "box"}),
        lambda h: h["op"].update(terms=[[0, [0, 0]], [0, [0, -2]]]),
        lambda h: h["op"].update(terms=[[0, [0, 0]], [0, [0, True]]]),
        lambda h: h["op"].update(terms=[[0, [0]], [0, [2]]]),
        lambda h: h["op"].update(terms=[[0, [0, 0]], [-1, [0, 2]]]),
        lambda h: h["op"].update(takes="u"),
        lambda h: h["op"].update(coefficients=[1.0]),
        lambda h: h["op"].update(coefficients=[[[1.0, 1.0, 1.0]]]),
        lambda h: h["op"].update(coefficients=[1.0, 0.0, 1.0]),
        lambda h: h["on"].update(lo=[0.9, 1.9]),
        lambda h: h.update(on={"class": "constant", "takes": ["u"], "terms": [[0, [0]]], "coefficients": [1.0]}),
    ],
)
def test_what_does_not_fit_is_refused(change):
    known = closed(ko.Equation(lambda u: u - ko.laplacian(u), on=BOX), BOX.sample(8))
    with pytest.raises(FileError, match="whose condition"):
        returned(known, change)
