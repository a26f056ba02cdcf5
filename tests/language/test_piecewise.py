"""Piecewise: which piece holds where, derivatives inside the pieces, and the warning under div."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.language.piecewise import Piecewise

SQUARE = ko.Box([0, 0], [1, 1])
LEFT, RIGHT = ko.Box([0, 0], [0.5, 1]), ko.Box([0.5, 0], [1, 1])
X = SQUARE.sample(500, "uniform").x


def rooted(x):
    """Not a number where it does not hold."""
    return jnp.sqrt(0.5 - x[..., 0])


def test_each_piece_has_its_own_number_or_function():
    own = Piecewise({LEFT: rooted, RIGHT: 10.0})
    left = X[:, 0] < 0.5
    assert np.allclose(own(X), np.where(left, np.sqrt(np.maximum(0.5 - X[:, 0], 0.0)), 10.0))
    assert np.array_equal(own.which(X), np.where(left, 0, 1))
    assert own(X.reshape(5, 100, 2)).shape == (5, 100)
    assert own.regions == (LEFT, RIGHT)
    assert own.otherwise is None


def test_otherwise_holds_where_no_region_is():
    disk = ko.Ball([0.5, 0.5], 0.2)
    own = Piecewise({disk: 3.0}, otherwise=lambda x: x[..., 0])
    inside = np.hypot(*(X - 0.5).T) < 0.2
    assert np.allclose(own(X), np.where(inside, 3.0, X[:, 0]))
    assert np.array_equal(own.which(X), np.where(inside, 0, -1))


def test_derivatives_are_those_of_the_pieces_also_in_compiled_functions():
    own = Piecewise({LEFT: rooted, RIGHT: lambda x: x[..., 0] ** 2 * x[..., 1]})
    with jax.enable_x64(True):
        x = jnp.asarray(X)
        for gradient in (jax.vmap(jax.grad(own))(x), jax.jit(jax.vmap(jax.grad(own)))(x)):
            left = X[:, 0] < 0.5
            with np.errstate(invalid="ignore"):
                first = np.where(left, -0.5 / np.sqrt(0.5 - X[:, 0]), 2 * X[:, 0] * X[:, 1])
            assert np.allclose(gradient, np.stack([first, np.where(left, 0.0, X[:, 0] ** 2)], axis=1))
        assert np.allclose(jax.jit(own)(x), own(X))
        assert np.allclose(jax.jit(jax.vmap(jax.hessian(own)))(x)[:, 0, 1], np.where(left, 0.0, 2 * X[:, 0]))


def test_a_piece_may_be_an_array_that_ends_with_it():
    own = Piecewise({LEFT: ko.GridFunction(np.ones((4, 4)), LEFT), RIGHT: ko.GridFunction(np.full((4, 4), 2.0), RIGHT)})
    assert np.allclose(own(X), np.where(X[:, 0] < 0.5, 1.0, 2.0))


def test_a_shared_boundary_belongs_to_the_first():
    assert Piecewise({LEFT: 1.0, RIGHT: 2.0})(np.array([[0.5, 0.3]])) == 1.0
    halves = {SQUARE.where(lambda x: x[..., 0] <= 0.5): 1.0, SQUARE.where(lambda x: x[..., 0] >= 0.5): 2.0}
    assert Piecewise(halves)(np.array([[0.5, 0.3]])) == 1.0


def test_overlaps_and_gaps_say_where():
    with pytest.raises(ko.errors.ArgumentError, match=r"Box.* and Ball.*, which overlap: both hold \[0\."):
        Piecewise({LEFT: 1.0, ko.Ball([0.5, 0.5], 0.2): 2.0})
    with pytest.raises(
        ko.errors.OutsideDomainError, match=r"points in none of the regions, the first at \[0\..*otherwise="
    ):
        Piecewise({LEFT: 1.0})(X)
    narrow = {LEFT: 1.0, ko.Box([0.4999, 0], [1, 1]): 2.0}  # which no sample sees
    with pytest.raises(ko.errors.ArgumentError, match="overlap"):
        Piecewise(narrow)(np.array([[0.49995, 0.5]]))


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ({}, "give {region: value}"),
        (3.0, "give {region: value}"),
        ({"left": 1.0}, "region 0: got 'left'"),
        ({LEFT: "iron"}, "value 0: got 'iron'"),
        ({LEFT: np.nan}, "value 0: got nan"),
        ({LEFT: 1.0, ko.Interval(0, 1): 2.0}, "domains in the same space"),
        ({SQUARE.boundary: 1.0}, "no boundaries"),
    ],
)
def test_what_is_wrong_is_said(pieces, said):
    with pytest.raises(ko.errors.KernopError, match=said):
        Piecewise(pieces)


def strong(a):
    return ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=SQUARE), ko.Dirichlet(SQUARE.boundary))


def test_under_div_the_flux_is_continuous_across_the_jumps():
    a = Piecewise({LEFT: lambda x: 1 + x[..., 1], RIGHT: 10.0})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        T = ko.learn(strong(a), method=ko.Subspace(300))
    assert T.problem.inputs == ("f", "g")
    assert T.problem.cuts == (LEFT,)
    # Layers in series with constants: a u' = c, u = x₀ / (½ + ½/10) up to ½.
    T = ko.learn(strong(Piecewise({LEFT: 1.0}, otherwise=10.0)), method=ko.Subspace(300))
    truth = lambda x: np.where(x[..., 0] < 0.5, x[..., 0], 0.5 + (x[..., 0] - 0.5) / 10.0) / 0.55
    assert np.max(np.abs(T(0.0, truth)(X) - truth(X))) < 1e-9


def test_points_by_name_need_not_name_the_interfaces():
    a = Piecewise({LEFT: 1.0}, otherwise=10.0)
    T = ko.learn(strong(a), method=ko.Subspace(200), points={"f": 500, "g": 100})
    assert len(T.points["f"]) == 500
    assert 10 < len(T.points["piece0_flux"]) < 100


def test_pieces_without_a_known_boundary_are_the_strong_form_with_a_warning():
    left = SQUARE.where(lambda x: x[..., 0] < 0.5)
    with pytest.warns(ko.JumpWarning, match=r"f: Piecewise.* jumps where no ko.Interface is"):
        ko.learn(strong(Piecewise({left: 1.0}, otherwise=10.0)), method=ko.Subspace(200))


def test_an_interface_that_leaves_out_a_jump_is_not_enough():
    a = Piecewise({LEFT: 1.0}, otherwise=10.0)
    stated = ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=SQUARE),
        ko.Dirichlet(SQUARE.boundary),
        ko.Interface(ko.Box([0, 0], [1, 0.5]).boundary),
    )
    with pytest.warns(ko.JumpWarning, match="no ko.Interface"):
        ko.learn(stated, method=ko.Subspace(200))


def test_where_nothing_differentiates_it_nothing_is_said():
    a = Piecewise({LEFT: 1.0, RIGHT: 10.0})
    stated = ko.Problem(ko.Equation(lambda u: -(a * ko.laplacian(u)), on=SQUARE), ko.Dirichlet(SQUARE.boundary))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        T = ko.learn(stated, method=ko.Subspace(200))
    assert T.problem.names == ("f", "g")  # no interface was added: u is smooth where a jumps
    u = T(lambda x: np.where(x[..., 0] < 0.5, -2.0, -20.0), lambda x: x[..., 0] ** 2)
    assert np.max(np.abs(u(X) - X[:, 0] ** 2)) < 1e-8


def test_jumps_within_a_piece_are_refused_as_ever():
    a = Piecewise({LEFT: lambda x: jnp.where(x[..., 1] < 0.3, 1.0, 2.0), RIGHT: 10.0})
    with pytest.raises(ko.errors.JumpError, match=r"from 1 to 2|from 2 to 1"):
        ko.learn(strong(a), points=800)


def test_where_no_point_lies_in_a_polygon():
    triangle = ko.Polygon([[0.3, 0.3], [0.75, 0.4], [0.45, 0.7]])
    assert ko.Piecewise({triangle: 10.0}, otherwise=1.0)(np.array([[0.1, 0.1]])) == [1.0]


def test_in_files(tmp_path):
    own = Piecewise({LEFT: 1.0, RIGHT: ko.GridFunction(np.ones((3, 3)), RIGHT)}, otherwise=2.0)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, data=own), ko.Dirichlet(SQUARE.boundary))
    T = ko.learn(problem, method=ko.Subspace(60))
    T.save(tmp_path / "T.kernop")
    assert ko.load(tmp_path / "T.kernop").problem["f"].data == own


def test_in_files_functions_of_the_user_are_known_at_the_points(tmp_path):
    own = Piecewise({LEFT: lambda x: x[..., 1], RIGHT: 10.0})
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, data=own), ko.Dirichlet(SQUARE.boundary))
    T = ko.learn(problem, method=ko.Subspace(60))
    T.save(tmp_path / "T.kernop")
    back, x = ko.load(tmp_path / "T.kernop").problem["f"].data, T.points["f"].x
    assert np.array_equal(back(x), own(x))
    with pytest.raises(ko.errors.MissingFunctionError):
        back(X)
