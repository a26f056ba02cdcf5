"""Conditions in files: as much of them as needs no function of the user."""

import jax.numpy as jnp
import numpy as np
import pytest
from kernop.operators.files import Reader, Writer
from kernop.operators.files.conditions import read_condition, write_condition
from kernop.operators.files.functions import ConstantOperator, StoredOperator

import kernop as ko
from kernop.basics.errors import FileError, fail
from kernop.language.fields import normal_derivative
from kernop.language.functions import evaluate_at
from kernop.language.ops import identity, normal_form
from kernop.language.problem import Mixed

BOX = ko.Box([0.0, 0.0], [1.0, 1.0])


def a(x):
    return 1.0 + x[..., 0]


def written(condition, points, cuts=(), envelope=None):
    file = Writer()
    write_condition(file, condition, points, cuts, envelope)
    return file


def reader(file):
    return Reader(file.header, file.arrays, lambda got: fail(FileError, "path", got, ""))


@pytest.mark.parametrize(
    ("condition", "kind", "op"),
    [
        (ko.Dirichlet(on=BOX.boundary), "identity", type(identity)),
        (ko.Neumann(on=BOX.boundary), "normal derivative", type(normal_derivative)),
        (ko.Robin(1.0, 2.0, on=BOX.boundary), "mixed", Mixed),
        (ko.Robin(1.0, a, on=BOX.boundary), "table", StoredOperator),
        (ko.Equation(lambda u: u - 0.1 * ko.laplacian(u), on=BOX), "constant", ConstantOperator),
        (ko.Equation(lambda u: ko.dot([1.0, a], ko.grad(u)), on=BOX), "table", StoredOperator),
        # Constant at these points is not constant.
        (ko.Equation(lambda u: (lambda x: jnp.where(x[..., 0] < 2.0, 1.0, 5.0)) * u, on=BOX), "table", StoredOperator),
    ],
)
@pytest.mark.parametrize("cuts", [(), (0, 4, 4, 9)])
def test_the_operator(condition, kind, op, cuts):
    points = condition.on.sample(12)
    file = written(condition, points, cuts)
    assert file.header["operator"]["kind"] == kind
    found, places = read_condition(reader(file), 2, False)
    assert isinstance(found.op, op)
    np.testing.assert_array_equal(places.x, points.x)
    one, other = normal_form(found.op, places), normal_form(condition.op, points)
    assert one.alphas == other.alphas
    np.testing.assert_array_equal(one.coefficients, other.coefficients)


def test_coefficients_that_vanish_in_one_batch_only():
    condition = ko.Equation(lambda u: ko.partial(u, 0) + (lambda x: jnp.maximum(x[..., 0] - 0.5, 0.0)) * u, on=BOX)
    x = np.array([[0.1, 0.5], [0.2, 0.5], [0.8, 0.5], [0.9, 0.5]])
    found, places = read_condition(reader(written(condition, ko.Points(x), (2,))), 2, False)
    assert normal_form(found.op, places[:2]).alphas == ((1, 0),)
    np.testing.assert_array_equal(normal_form(found.op, places[2:]).coefficients[:, 0], x[2:, 0] - 0.5)


@pytest.mark.parametrize("data", [None, 0.0, 2, np.float32(0.1)])
def test_data_that_is_a_number(data):
    condition = ko.Dirichlet(on=BOX.boundary, data=data)
    found, _ = read_condition(reader(written(condition, BOX.boundary.sample(8))), 2, False)
    assert found.data == (None if data is None else float(data))


def test_data_that_is_a_function():
    condition, points = ko.Dirichlet(on=BOX.boundary, data=a), BOX.boundary.sample(8)
    found, _ = read_condition(reader(written(condition, points)), 2, False)
    np.testing.assert_array_equal(evaluate_at("g", found.data, points.x), a(points.x))


@pytest.mark.parametrize(
    "change",
    [
        lambda h: h.update(name="class"),
        lambda h: h.update(name=3),
        lambda h: h.update(points=7),
        lambda h: h.update(data="nothing"),
        lambda h: h["operator"].update(kind="unknown"),
        lambda h: h["operator"].update(kind="normal derivative"),
        lambda h: h["operator"].update(alphas=[[0, 0], [0, -2]]),
        lambda h: h["operator"].update(alphas=[[0, 0], [0, True]]),
        lambda h: h["operator"].update(alphas=[[0], [2]]),
        lambda h: h["operator"].update(coefficients=[1.0]),
        lambda h: h["operator"].update(coefficients=[1.0, 0.0, 1.0]),
        lambda h: h["region"].update(lo=[0.9, 0.9]),
        lambda h: h.update(region={"kind": "interval", "lo": [0.0], "hi": [1.0]}),
    ],
)
def test_what_does_not_fit_is_refused(change):
    file = written(ko.Equation(lambda u: u - ko.laplacian(u), on=BOX), BOX.sample(8))
    change(file.header)
    with pytest.raises(ko.errors.KernopError):
        read_condition(reader(file), 2, False)
