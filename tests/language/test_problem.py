"""Problems as data: names, spaces, fixed data, manufactured solutions."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from kernop import (
    Ball,
    Box,
    Condition,
    Dirichlet,
    Equation,
    Initial,
    Interval,
    Neumann,
    Points,
    Problem,
    Robin,
    SpaceTime,
    div,
    dt,
    grad,
    laplacian,
)
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    InputNameError,
    KernopError,
    NonFiniteError,
    OperatorError,
    OutsideDomainError,
    ShapeError,
)
from kernop.collocation.ansatz import normal_form

SQUARE = Box([0, 0], [1, 1])
CYLINDER = SpaceTime(Interval(0, 1), (0, 2))


def poisson(**fixed):
    return Problem(Equation(lambda u: -laplacian(u), on=SQUARE, name="f"), Dirichlet(SQUARE.boundary, "g", **fixed))


def table(condition, points):
    form = normal_form(condition.op, points)
    return dict(zip(form.alphas, form.coefficients.T, strict=True))


# ---- conditions


def test_conditions_have_the_usual_names():
    initial = Initial(CYLINDER.initial)
    named = [Equation(laplacian, SQUARE), Dirichlet(SQUARE), Neumann(SQUARE), Robin(1, 1, SQUARE), initial]
    assert [condition.name for condition in named] == ["f", "g", "q", "r", "u0"]
    assert all(condition.data is None for condition in named)


def test_dirichlet_is_the_value():
    points = SQUARE.boundary.sample(4)
    assert table(Dirichlet(SQUARE.boundary), points).keys() == {(0, 0)}


def test_neumann_is_the_normal_derivative():
    points = Ball([0, 0], 1.0).boundary.sample(6)
    found = table(Neumann(Ball([0, 0], 1.0).boundary), points)
    assert np.allclose(found[1, 0], points.x[:, 0])
    assert np.allclose(found[0, 1], points.x[:, 1])


def test_robin_takes_numbers_and_functions():
    circle = Ball([0, 0], 1.0).boundary
    points = circle.sample(6)
    found = table(Robin(lambda x: x[..., 0] ** 2, 3.0, circle), points)
    x, y = points.x.T
    assert np.allclose(found[0, 0], x**2)
    assert np.allclose(found[1, 0], 3.0 * x)
    assert np.allclose(found[0, 1], 3.0 * y)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_initial_conditions_are_derivatives_in_time(order):
    found = table(Initial(CYLINDER.initial, order=order), CYLINDER.initial.sample(4))
    assert found.keys() == {(0, order)}
    assert np.array_equal(found[0, order], np.ones(4))


@pytest.mark.parametrize("name", ["f", "u_0", "ü", "match", "_x1"])
def test_names_that_are_identifiers_are_accepted(name):
    assert Dirichlet(SQUARE.boundary, name).name == name


@pytest.mark.parametrize("name", ["", "1f", "a b", "a-b", "lambda", "None", "self", "f.g", 3, None, ("f",)], ids=repr)
def test_names_that_cannot_be_keywords_are_refused(name):
    with pytest.raises(InputNameError, match=r"name: got .*; give a name that can be a keyword argument") as caught:
        Dirichlet(SQUARE.boundary, name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Condition(laplacian, "square", "f"), ArgumentTypeError, r"on: got 'square'; give a region"),
        (lambda: Dirichlet(None), ArgumentTypeError, r"on: got None; give a region"),
        (lambda: Dirichlet(SQUARE.sample(3)), ArgumentTypeError, r"on: got Points\(n=3, d=2\)"),
        (lambda: Equation(3.0, SQUARE), ArgumentTypeError, r"op: got 3\.0; give a function"),
        (lambda: Equation(SQUARE, laplacian), ArgumentTypeError, r"on: got <function laplacian"),
        (lambda: Dirichlet(SQUARE, data=np.ones((3, 2))), ArgumentTypeError, r"data: got an array of shape \(3, 2\)"),
        (lambda: Initial(CYLINDER), ArgumentTypeError, r"on: got SpaceTime.*; give its initial slice"),
        (lambda: Initial((0, 1)), ArgumentTypeError, r"on: got \(0, 1\); give the initial slice"),
        (lambda: Initial(CYLINDER.initial, order=-1), ArgumentError, r"order: got -1;"),
        (lambda: Initial(CYLINDER.initial, order=0.5), ArgumentTypeError, r"order: got 0\.5;"),
    ],
)
def test_bad_conditions_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("data", ["zero", float("nan"), float("inf"), complex("nan")], ids=repr)
def test_fixed_data_that_is_not_a_number_is_refused_at_once(data):
    """Not after the operator has been learned, when T is first called."""
    with pytest.raises(KernopError, match=r"data: got"):
        Dirichlet(SQUARE.boundary, data=data)


def test_neumann_inside_a_domain_has_no_normals():
    with pytest.raises(OperatorError, match=r"q: normal_derivative: got points without normals"):
        normal_form(Neumann(SQUARE).op, SQUARE.sample(3), name="q")


def test_conditions_cannot_be_changed():
    with pytest.raises(AttributeError):
        Dirichlet(SQUARE.boundary).name = "h"


# ---- problems


def test_a_problem_keeps_its_conditions_in_order():
    conditions = [Dirichlet(SQUARE.boundary, "b"), Equation(laplacian, SQUARE, "a"), Neumann(SQUARE.face("top"), "c")]
    problem = Problem(*conditions)
    assert problem.conditions == tuple(conditions)
    assert problem.names == problem.inputs == ("b", "a", "c")
    assert problem.dim == 2
    assert problem["a"] is conditions[1]


@pytest.mark.parametrize("data", [0, 0.0, 2.5, lambda x: x[..., 0]], ids=["0", "0.0", "2.5", "function"])
def test_conditions_with_fixed_data_are_no_inputs(data):
    problem = poisson(data=data)
    assert problem.names == ("f", "g")
    assert problem.inputs == ("f",)
    assert problem["g"].data is data


def test_time_counts_as_a_coordinate():
    assert Problem(Initial(CYLINDER.initial)).dim == 2


def test_a_problem_contains_the_points_of_any_condition():
    problem = Problem(Equation(laplacian, Ball([0, 0], 1.0)), Dirichlet(Box([2, 2], [3, 3]).boundary))
    x = np.array([[0.0, 0.0], [2.0, 2.5], [2.5, 2.5], [1.5, 0.0]])
    assert problem.contains(x).tolist() == [True, True, False, False]


def test_conditions_with_fixed_data_are_numbered_where_they_share_a_name():
    fixed = Dirichlet(SQUARE.face("left"), data=0.0)
    named = Dirichlet(SQUARE.face("bottom"), name="g2", data=1.0)
    problem = Problem(Equation(laplacian, SQUARE), fixed, named, replace(fixed), Dirichlet(SQUARE.face("right")))
    assert problem.names == ("f", "g3", "g2", "g4", "g")
    assert problem.inputs == ("f", "g")
    assert problem["g2"].data == 1.0


@pytest.mark.parametrize(
    ("conditions", "error", "message"),
    [
        ((), ArgumentError, r"conditions: got none; give at least one"),
        ((laplacian,), ArgumentTypeError, r"conditions: got <function laplacian.*; give Equation"),
        (([Dirichlet(SQUARE)],), ArgumentTypeError, r"conditions: got \[Condition"),
        ((None,), ArgumentTypeError, r"conditions: got None"),
        (
            (Dirichlet(SQUARE.face("left")), Dirichlet(SQUARE.face("right"))),
            InputNameError,
            r"conditions: got the name 'g' more than once; give every condition its own name=",
        ),
        (
            (Equation(laplacian, SQUARE), Dirichlet(Interval(0, 1).boundary)),
            ShapeError,
            r"conditions: got 'f' in 2 dimensions, 'g' in 1 dimensions; put all conditions in the same space",
        ),
    ],
    ids=["none", "function", "list", "None", "twice", "dimensions"],
)
def test_bad_problems_are_refused(conditions, error, message):
    with pytest.raises(error, match=message):
        Problem(*conditions)


@pytest.mark.parametrize("name", ["h", "", 0, None], ids=repr)
def test_unknown_conditions_are_refused(name):
    with pytest.raises(InputNameError, match=r"name: got .*; the conditions are 'f', 'g'"):
        poisson()[name]


def test_repr_names_conditions_and_regions():
    text = repr(poisson(data=0))
    assert text.startswith("Problem(Condition('f' on Box(")
    assert "Condition('g' on Box([0.0, 0.0], [1.0, 1.0]).boundary, data fixed)" in text


# ---- manufactured solutions


def sine(x):
    return jnp.sin(jnp.pi * x[..., 0]) * jnp.exp(x[..., 1])


def test_manufactured_data_of_poisson_in_closed_form():
    points = {"f": SQUARE.sample(6), "g": SQUARE.boundary.sample(5)}
    data = poisson().manufacture(sine, points)
    assert tuple(data) == ("f", "g")
    value = {name: np.sin(np.pi * p.x[:, 0]) * np.exp(p.x[:, 1]) for name, p in points.items()}
    assert np.allclose(data["f"], (np.pi**2 - 1) * value["f"], rtol=1e-13)
    assert np.allclose(data["g"], value["g"], rtol=1e-13, atol=1e-15)
    assert data["f"].dtype == data["g"].dtype == np.float64


def test_manufactured_data_of_a_mixed_problem_in_closed_form():
    """u = x²y on the disk of radius 2: ∂u/∂n = 3u/2, for u is homogeneous of degree 3."""
    disk = Ball([0, 0], 2.0)
    problem = Problem(
        Equation(lambda u: div((lambda x: x[..., 1]) * grad(u)), disk, "f"),
        Neumann(disk.boundary, "q"),
        Robin(lambda x: x[..., 0], 2.0, disk.boundary, "r"),
    )
    points = {"f": disk.sample(5), "q": disk.boundary.sample(6), "r": disk.boundary.sample(7, seed=1)}
    data = problem.manufacture(lambda x: x[..., 0] ** 2 * x[..., 1], points)
    x, y = points["f"].x.T
    assert np.allclose(data["f"], 2 * y**2 + x**2, rtol=1e-13)
    x, y = points["q"].x.T
    assert np.allclose(data["q"], 1.5 * x**2 * y, rtol=1e-13, atol=1e-13)
    x, y = points["r"].x.T
    assert np.allclose(data["r"], (x + 3.0) * x**2 * y, rtol=1e-13, atol=1e-13)


def test_manufactured_data_of_the_wave_equation_in_closed_form():
    problem = Problem(
        Equation(lambda u: dt(u, 2) - 4.0 * laplacian(u), CYLINDER),
        Initial(CYLINDER.initial, "u0"),
        Initial(CYLINDER.initial, "v0", order=1),
        Dirichlet(CYLINDER.walls, data=0),
    )
    points = {name: problem[name].on.sample(5) for name in problem.inputs}
    data = problem.manufacture(lambda x: jnp.sin(jnp.pi * x[..., 0]) * jnp.sin(3.0 * x[..., 1] + 1.0), points)
    x, t = points["f"].x.T
    assert np.allclose(data["f"], (4 * np.pi**2 - 9) * np.sin(np.pi * x) * np.sin(3 * t + 1), rtol=1e-12)
    assert np.allclose(data["u0"], np.sin(np.pi * points["u0"].x[:, 0]) * np.sin(1.0), rtol=1e-13)
    assert np.allclose(data["v0"], 3 * np.sin(np.pi * points["v0"].x[:, 0]) * np.cos(1.0), rtol=1e-13)


def test_fixed_conditions_are_not_manufactured():
    assert tuple(poisson(data=0).manufacture(sine, {"f": SQUARE.sample(3)})) == ("f",)


def test_many_solutions_are_manufactured_at_once():
    points = {"f": SQUARE.sample(6), "g": SQUARE.boundary.sample(5)}
    both = poisson().manufacture(lambda x: jnp.stack([sine(x), x[..., 0] ** 2], axis=-1), points)
    assert (both["f"].shape, both["g"].shape) == ((6, 2), (5, 2))
    assert np.allclose(both["f"][:, 1], -2.0, rtol=1e-14)
    assert np.allclose(both["f"][:, 0], poisson().manufacture(sine, points)["f"], rtol=1e-13)


@pytest.mark.parametrize(
    ("u", "error", "message"),
    [
        (lambda x: np.sin(x[..., 0]), OperatorError, r"u: got .*cannot differentiate; write it with jax\.numpy"),
        (lambda x: jnp.ones(3), ShapeError, r"u: got .* to shape \(3,\)"),
        (lambda x: jnp.sum(x**2), ShapeError, r"u: got one number for all"),
        (2.0, ArgumentTypeError, r"u: got 2\.0"),
    ],
    ids=["numpy", "shape", "sum without axis", "number"],
)
def test_bad_solutions_are_refused(u, error, message):
    with pytest.raises(error, match=message):
        poisson().manufacture(u, {"f": SQUARE.sample(6), "g": SQUARE.boundary.sample(5)})


@pytest.mark.parametrize(
    ("points", "error", "message"),
    [
        ({"f": Points([[0.5, 0.5]])}, InputNameError, r"points: got none for condition 'g'"),
        ({"f": [[0.5, 0.5]], "g": [[0.5, 0.5]]}, OutsideDomainError, r"points\['g'\]: got 1 of 1 points outside"),
        ({"f": [[0.5, 0.5]], "g": "here"}, ArgumentTypeError, r"points\['g'\]: got"),
    ],
    ids=["missing", "elsewhere", "no points"],
)
def test_bad_points_are_refused(points, error, message):
    with pytest.raises(error, match=message):
        poisson().manufacture(sine, points)


def test_arrays_are_points_and_get_their_normals():
    problem = Problem(Neumann(SQUARE.boundary, "q"))
    data = problem.manufacture(lambda x: x[..., 0] ** 2, {"q": [[1.0, 0.5], [0.5, 1.0]]})
    assert data["q"].tolist() == [2.0, 0.0]


def test_data_that_is_not_finite_is_refused_by_condition():
    with pytest.raises(NonFiniteError, match=r"^g: got a result that is -inf at x = "):
        poisson().manufacture(lambda x: jnp.log(x[..., 0]), {"f": [[0.5, 0.5]], "g": [[0.0, 0.5]]})
