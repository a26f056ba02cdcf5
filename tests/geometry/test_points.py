"""Points: an immutable value; everything that is not finite points of one dimension is refused by name."""

from dataclasses import FrozenInstanceError

import jax.numpy as jnp
import numpy as np
import pytest

from kernop import Points
from kernop.basics.errors import ArgumentError, ArgumentTypeError, KernopError, NonFiniteError, ShapeError
from kernop.geometry.points import concatenate

X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
N = np.array([[1.0, 0.0], [0.0, -1.0], [0.6, 0.8]])


def test_points_know_their_number_and_dimension():
    assert (len(Points(X)), Points(X).dim, Points(X).normal) == (3, 2, None)


@pytest.mark.parametrize("given", [[[1, 2], [3, 4]], np.float32([[1, 2], [3, 4]]), jnp.asarray([[1.0, 2], [3, 4]])])
def test_coordinates_become_float64_numpy(given):
    x = Points(given).x
    assert isinstance(x, np.ndarray)
    assert x.dtype == np.float64
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_points_are_a_copy_of_what_was_given():
    x, normal = X.copy(), N.copy()
    points = Points(x, normal)
    x[:], normal[:] = -7.0, -7.0
    assert np.array_equal(points.x, X)
    assert np.array_equal(points.normal, N)


@pytest.mark.parametrize("array", ["x", "normal"])
def test_arrays_of_points_cannot_be_written(array):
    with pytest.raises(ValueError, match="read-only"):
        getattr(Points(X, N), array)[0, 0] = 1.0


def test_attributes_of_points_cannot_be_set():
    with pytest.raises(FrozenInstanceError):
        Points(X).x = X


@pytest.mark.parametrize("rows", [slice(1, 3), np.array([False, True, True]), np.array([2, 0, 0]), [1]])
def test_selection_takes_rows_of_coordinates_and_normals(rows):
    chosen = Points(X, N)[rows]
    assert np.array_equal(chosen.x, X[rows])
    assert np.array_equal(chosen.normal, N[rows])


def test_selection_of_points_without_normals_has_none():
    assert Points(X)[:2].normal is None


def test_selection_of_nothing_is_refused():
    with pytest.raises(ShapeError, match="at least one point"):
        Points(X)[np.zeros(3, dtype=bool)]


def test_repr_says_number_dimension_and_normals():
    assert repr(Points(X)) == "Points(n=3, d=2)"
    assert repr(Points(X, N)) == "Points(n=3, d=2, with normals)"


def test_concatenation_keeps_the_order():
    together = concatenate([Points(X[:1], N[:1]), Points(X[1:], N[1:])])
    assert np.array_equal(together.x, X)
    assert np.array_equal(together.normal, N)


def test_concatenation_drops_normals_unless_all_have_them():
    assert concatenate([Points(X, N), Points(X)]).normal is None


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        ([1.0, 2.0, 3.0], ShapeError, r"Points\.x: got an array of shape \(3,\); .*shape \(n, d\)"),
        (np.zeros((2, 2, 2)), ShapeError, r"Points\.x: got an array of shape \(2, 2, 2\)"),
        (3.0, ShapeError, r"Points\.x: got an array of shape \(\)"),
        (np.zeros((0, 2)), ShapeError, r"Points\.x: got an empty array of shape \(0, 2\)"),
        (np.zeros((2, 0)), ShapeError, r"Points\.x: got an empty array of shape \(2, 0\)"),
        ([[0.0, np.nan], [np.inf, 1.0]], NonFiniteError, r"Points\.x: got 2 of 4 values that are NaN or infinite"),
        ([[1.0 + 2.0j]], ArgumentTypeError, r"Points\.x: got an array of dtype complex128; real numbers"),
        ([["a", "b"]], ArgumentTypeError, r"Points\.x: got an array of dtype <U1; real numbers"),
        ([[None, 1.0]], ArgumentTypeError, r"Points\.x: got an array of dtype object; real numbers"),
        ([[1.0, 2.0], [3.0]], ArgumentTypeError, r"Points\.x: got \[\[1\.0, 2\.0\], \[3\.0\]\]"),
    ],
)
def test_bad_coordinates_are_refused(x, error, message):
    with pytest.raises(error, match=message):
        Points(x)


@pytest.mark.parametrize(
    ("normal", "error", "message"),
    [
        (N[:2], ShapeError, r"Points\.normal: got an array of shape \(2, 2\); .*shape \(3, 2\)"),
        (N[:, 0], ShapeError, r"Points\.normal: got an array of shape \(3,\)"),
        (2.0 * N, ArgumentError, r"Points\.normal: got a vector of length 2;"),
        (N * [[1.0], [0.0], [1.0]], ArgumentError, r"Points\.normal: got a vector of length 0;"),
        (N * [[1.0], [np.nan], [1.0]], NonFiniteError, r"Points\.normal: got 2 of 6 values"),
        (N.astype(str), ArgumentTypeError, r"Points\.normal: got an array of dtype <U"),
    ],
)
def test_bad_normals_are_refused(normal, error, message):
    with pytest.raises(error, match=message):
        Points(X, normal)


def test_every_error_is_a_kernop_error_and_the_fitting_builtin():
    assert issubclass(ShapeError, KernopError)
    assert issubclass(ShapeError, ValueError)
    assert issubclass(ArgumentTypeError, KernopError)
    assert issubclass(ArgumentTypeError, TypeError)


def test_normals_normalised_in_single_precision_are_accepted():
    """Meshes and STL files carry float32 normals: they are of length 1 to 1e-7."""
    normal = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    assert np.allclose(Points(np.zeros((50, 3)), normal).normal, normal, atol=1e-6)


def test_weights_follow_their_points():
    points = Points([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], weight=[1, 2, 3])
    assert points.weight.dtype == np.float64
    np.testing.assert_array_equal(points[1:].weight, [2.0, 3.0])
    np.testing.assert_array_equal(points[[2, 0]].weight, [3.0, 1.0])
    np.testing.assert_array_equal(points.placed(False).weight, points.weight)
    assert Points([[0.0, 1.0]]).weight is None
    with pytest.raises(ValueError, match="read-only"):
        points.weight[0] = 7.0


@pytest.mark.parametrize(
    ("weight", "error"),
    [
        ([1.0], ShapeError),
        ([[1.0, 2.0]], ShapeError),
        (1.0, ShapeError),
        ([1.0, np.nan], NonFiniteError),
        ([1, 2j], None),
    ],
)
def test_weights_that_do_not_fit_are_refused(weight, error):
    with pytest.raises(error or ArgumentTypeError, match=r"Points.weight: got .*one"):
        Points([[0.0, 1.0], [2.0, 3.0]], weight=weight)
