"""The algebra of kernels, lengthscales, and kernels as pytrees."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, NonFiniteError, RoughKernelError, ShapeError
from kernop.basics.precision import float64
from kernop.collocation.assembly import compiled_functions, gram
from kernop.collocation.functionals import Block, Functionals
from kernop.kernels.base import add, below, check_axes, check_lengthscale, check_smoothness, joint
from kernop.kernels.derivatives import pairwise

X, Y = np.array([0.1, 0.4]), np.array([0.7, -0.2])
GAUSSIAN, MATERN = ko.Gaussian(0.8), ko.Matern(2.5, [0.5, 1.5])
CUSTOM = ko.CustomKernel(lambda x, y: 1.0 + jnp.dot(x, y))

KERNELS = {
    "gaussian": GAUSSIAN,
    "matern": MATERN,
    "multiquadric": ko.InverseMultiquadric(1.1),
    "wendland": ko.Wendland(2, 1.3),
    "sum": GAUSSIAN + MATERN,
    "product": GAUSSIAN * MATERN,
    "multiple": 2.5 * MATERN,
    "custom": CUSTOM,
    "mixed": 0.5 * (CUSTOM + GAUSSIAN) * MATERN,
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def value(kernel, x=X, y=Y):
    with float64():
        return float(kernel(x, y))


# --- Values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [MATERN, GAUSSIAN + CUSTOM], ids=["stationary", "general"])
def test_points_broadcast(kernel):
    rng = np.random.default_rng(0)
    x, y = rng.random((3, 1, 2)), rng.random((4, 2))
    with float64():
        table = np.asarray(kernel(x, y))
        pairs = np.asarray(kernel(np.repeat(x[:, 0], 4, axis=0), np.tile(y, (3, 1))))
    assert table.shape == (3, 4)
    assert table.dtype == np.float64
    np.testing.assert_allclose(table.ravel(), pairs, rtol=1e-14)
    assert table[2, 1] == pytest.approx(value(kernel, x[2, 0], y[1]), rel=1e-14)


def test_value_is_double_precision_whatever_jax_is_set_to():
    assert not jax.config.jax_enable_x64
    found = GAUSSIAN(X, Y)
    assert found.dtype == np.float64
    assert float(found) == pytest.approx(math.exp(-0.72 / 0.64), rel=1e-14)


@pytest.mark.parametrize(("x", "y"), [(X, Y[:1]), (X[:1], Y)])
def test_points_of_different_dimensions_are_refused(x, y):
    with float64(), pytest.raises((ValueError, TypeError, IndexError)):
        GAUSSIAN(x, y)


@pytest.mark.parametrize("lengths", [[1.0], [1.0, 2.0, 3.0]])
def test_points_with_another_number_of_axes_are_refused(lengths):
    with float64(), pytest.raises((ValueError, IndexError)):
        ko.Gaussian(lengths)(X, Y)


# --- Algebra ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [MATERN, CUSTOM], ids=["stationary", "general"])
def test_sum_and_product(other):
    assert value(GAUSSIAN + other) == pytest.approx(value(GAUSSIAN) + value(other), rel=1e-15)
    assert value(GAUSSIAN * other) == pytest.approx(value(GAUSSIAN) * value(other), rel=1e-15)
    assert value(other * GAUSSIAN) == pytest.approx(value(GAUSSIAN) * value(other), rel=1e-15)


@pytest.mark.parametrize("factor", [2.5, 3, np.float64(0.1), np.float32(0.5), np.array(4.0), np.int64(7)])
def test_multiple(factor):
    wanted = float(factor) * value(MATERN)
    assert value(factor * MATERN) == pytest.approx(wanted, rel=1e-15)
    assert value(MATERN * factor) == pytest.approx(wanted, rel=1e-15)


def test_algebra_nests():
    a, b, c = value(GAUSSIAN), value(MATERN), value(CUSTOM)
    assert value(2 * (GAUSSIAN + 3 * MATERN) * CUSTOM + MATERN) == pytest.approx(2 * (a + 3 * b) * c + b, rel=1e-14)


def test_stationary_only_if_all_parts_are():
    assert (GAUSSIAN + MATERN).stationary
    assert (2 * GAUSSIAN * MATERN).stationary
    assert not (GAUSSIAN + CUSTOM).stationary
    assert not (CUSTOM * GAUSSIAN).stationary
    assert not (2 * CUSTOM).stationary


@pytest.mark.parametrize(
    ("kernel", "smoothness"),
    [
        (GAUSSIAN + MATERN, 4),
        (MATERN * GAUSSIAN, 4),
        (ko.Wendland(1, 1.0) * MATERN, 2),
        (3 * (GAUSSIAN + ko.Matern(0.5, 1.0)), 0),
        (GAUSSIAN * GAUSSIAN, math.inf),
        (CUSTOM + MATERN, 4),
    ],
)
def test_smoothness_is_that_of_the_roughest_part(kernel, smoothness):
    assert kernel.smoothness == smoothness


@pytest.mark.parametrize(
    ("kernel", "remedy"),
    [
        (GAUSSIAN + MATERN, "use nu = 3.5 or more"),
        (MATERN * GAUSSIAN, "use nu = 3.5 or more"),
        (ko.Matern(8.5, 1.0) + ko.Wendland(1, 1.0), "use k = 3 or more"),
        (2 * ko.Wendland(1, 1.0), "use k = 3 or more"),
    ],
)
def test_error_is_about_the_part_that_is_too_rough(kernel, remedy):
    with pytest.raises(RoughKernelError, match=f"where condition 'f' needs 6; {remedy}"):
        check_smoothness(kernel, 6, "f")


@pytest.mark.parametrize("order", [0, 3, 4])
def test_a_smooth_enough_kernel_passes(order):
    check_smoothness(MATERN, order, "f")
    check_smoothness(GAUSSIAN, 1000, "f")


@pytest.mark.parametrize("factor", [-1, -0.5, 0, 0.0, np.float64(-2)])
def test_multiple_must_be_positive(factor):
    with pytest.raises(ArgumentError, match=r"^factor: got .*greater than 0"):
        GAUSSIAN * factor
    with pytest.raises(ArgumentError, match=r"^factor: got .*greater than 0"):
        factor * GAUSSIAN


@pytest.mark.parametrize(
    ("factor", "error"),
    [(math.nan, NonFiniteError), (math.inf, NonFiniteError), ("2", ArgumentTypeError), (1j, ArgumentTypeError)],
)
def test_multiple_must_be_a_finite_number(factor, error):
    with pytest.raises(error, match=r"^factor: got "):
        GAUSSIAN * factor


def test_multiple_must_be_one_number():
    with pytest.raises(ArgumentTypeError, match="an array of shape"):
        GAUSSIAN * np.array([1.0, 2.0])


@pytest.mark.parametrize("other", [1, 0.0, "kernel", None, lambda x, y: 1.0])
def test_only_kernels_are_added(other):
    with pytest.raises(ArgumentTypeError, match="add kernels to kernels only"):
        GAUSSIAN + other
    with pytest.raises(TypeError):
        other + GAUSSIAN


# --- Lengthscales -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lengths", [0.5, 2, np.float32(0.5), [1.0, 2.0], (1, 2, 3), np.array([0.1])])
def test_lengthscale(lengths):
    found = check_lengthscale(lengths)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, lengths)


def test_lengthscale_is_a_copy():
    mine = np.array([1.0, 2.0])
    kernel = ko.Gaussian(mine)
    mine[0] = -5.0
    np.testing.assert_array_equal(kernel.lengthscale, [1.0, 2.0])


@pytest.mark.parametrize("kernel", [ko.Gaussian, ko.InverseMultiquadric, lambda length: ko.Matern(1.5, length)])
@pytest.mark.parametrize(
    ("lengths", "error"),
    [
        (0.0, ArgumentError),
        (-1.0, ArgumentError),
        ([1.0, 0.0], ArgumentError),
        ([1.0, -2.0], ArgumentError),
        (math.nan, NonFiniteError),
        ([1.0, math.inf], NonFiniteError),
        ([], ShapeError),
        ([[1.0, 2.0]], ShapeError),
        ("1.0", ArgumentTypeError),
        (None, ArgumentTypeError),
        (1j, ArgumentTypeError),
        ([[1.0], [1.0, 2.0]], ArgumentTypeError),
    ],
)
def test_lengthscale_must_be_positive_and_finite(kernel, lengths, error):
    with pytest.raises(error, match=r"^lengthscale: got "):
        kernel(lengths)


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_one_lengthscale_serves_every_dimension(dim):
    check_axes(np.array(0.5), dim)
    ko.Gaussian(0.5).check_dim(dim)


@pytest.mark.parametrize(
    "kernel",
    [
        ko.Gaussian([1.0, 2.0]),
        ko.Matern(1.5, [1.0, 2.0]),
        ko.InverseMultiquadric([1.0, 2.0]),
        GAUSSIAN + ko.Gaussian([1.0, 2.0]),
        ko.Gaussian([1.0, 2.0]) * GAUSSIAN,
        3 * ko.Gaussian([1.0, 2.0]),
    ],
)
def test_lengthscales_must_match_the_dimension(kernel):
    kernel.check_dim(2)
    for dim in (1, 3):
        with pytest.raises(ShapeError, match=f"2 numbers for a problem in {dim} dimensions; give one number, or {dim}"):
            kernel.check_dim(dim)


def test_a_part_that_cannot_be_used_in_the_dimension_is_found():
    for kernel in (GAUSSIAN + ko.Wendland(1, 1.0), ko.Wendland(1, 1.0) * GAUSSIAN, 2 * ko.Wendland(1, 1.0)):
        kernel.check_dim(3)
        with pytest.raises(ArgumentError, match="Wendland in 4 dimensions"):
            kernel.check_dim(4)


# --- Multi-indices ----------------------------------------------------------------------------------------------------


def test_add_and_below():
    assert add((1, 0, 2), (0, 3, 1)) == (1, 3, 3)
    assert sorted(below((1, 2))) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]


def test_joint_coordinates_of_a_stationary_kernel():
    z, index = joint(GAUSSIAN, [3.0, 5.0], [1.0, 7.0])
    assert z == [2.0, -2.0]
    assert index((1, 0), (2, 1)) == ((3, 1), -1)
    assert index((1, 0), (1, 1)) == ((2, 1), 1)


def test_joint_coordinates_of_a_general_kernel():
    z, index = joint(CUSTOM, [3.0, 5.0], [1.0, 7.0])
    assert z == [3.0, 5.0, 1.0, 7.0]
    assert index((1, 0), (2, 1)) == ((1, 0, 2, 1), 1)


# --- Pytrees ----------------------------------------------------------------------------------------------------------


@every_kernel
def test_pytree_round_trip(kernel):
    leaves, structure = jax.tree_util.tree_flatten(kernel)
    again = jax.tree_util.tree_unflatten(structure, leaves)
    assert type(again) is type(kernel)
    assert repr(again) == repr(kernel)
    assert value(again) == value(kernel)
    assert again.smoothness == kernel.smoothness


def test_leaves_are_the_numbers_one_may_tune():
    leaves = jax.tree_util.tree_leaves(2.5 * (GAUSSIAN + MATERN))
    assert [np.asarray(leaf).tolist() for leaf in leaves] == [2.5, 0.8, [0.5, 1.5]]
    assert jax.tree_util.tree_leaves(CUSTOM) == []


def test_structure_tells_kernels_apart():
    structure = jax.tree_util.tree_structure
    assert structure(ko.Matern(1.5, 1.0)) == structure(ko.Matern(1.5, 2.0))
    assert structure(ko.Matern(1.5, 1.0)) != structure(ko.Matern(2.5, 1.0))
    assert structure(ko.Gaussian(1.0)) != structure(ko.InverseMultiquadric(1.0))
    assert structure(ko.Wendland(1, 1.0)) != structure(ko.Wendland(2, 1.0))


@every_kernel
def test_kernels_pass_through_jit(kernel):
    with float64():
        found = float(jax.jit(lambda k, x, y: k(x, y))(kernel, jnp.asarray(X), jnp.asarray(Y)))
    assert found == pytest.approx(value(kernel), rel=1e-14)


def test_kernels_can_be_differentiated_in_their_lengthscale():
    """∂/∂η exp(−r²/η²) = 2 r²/η³ exp(−r²/η²), and the factor of a multiple has the kernel as its slope."""
    with float64():
        slopes = jax.grad(lambda k: k(jnp.asarray(X), jnp.asarray(Y)))(3.0 * GAUSSIAN)
        by_factor, by_length = map(float, jax.tree_util.tree_leaves(slopes))
    assert by_factor == pytest.approx(value(GAUSSIAN), rel=1e-14)
    assert by_length == pytest.approx(3.0 * 2.0 * 0.72 / 0.8**3 * value(GAUSSIAN), rel=1e-14)


@pytest.mark.parametrize(
    "family", [lambda s: ko.Matern(2.5, s), lambda s: ko.Wendland(2, s)], ids=["matern", "wendland"]
)
def test_derivatives_can_be_differentiated_in_the_lengthscale_where_points_coincide(family):
    """The slope of ∂^α ∂^β K in the lengthscale, against a difference quotient."""
    alphas = ((2, 0), (1, 1))
    weights = np.random.default_rng(1).standard_normal((3, 3))

    def total(kernel):
        x = jnp.asarray(np.stack([X, X, Y], axis=1))
        phi = jnp.asarray([[1.0, 0.3, 0.1], [0.5, -1.0, 0.6]])
        return jnp.sum(weights * pairwise(kernel, x, phi, alphas, x, phi, alphas))

    with float64(), jax.disable_jit():
        slope = float(jax.grad(total)(family(1.3)).lengthscale)
        quotient = float(total(family(1.3 + 1e-6)) - total(family(1.3 - 1e-6))) / 2e-6
    assert slope == pytest.approx(quotient, rel=1e-6)


@pytest.fixture
def compiled(monkeypatch):
    """Everything is computed by JAX, however little it is."""
    monkeypatch.setattr("kernop.collocation.assembly.FEW", 0)


def evaluations_and_slopes(dim=2, count=5):
    rng = np.random.default_rng(4)
    terms = ((0, (0,) * dim), (0, (1,) + (0,) * (dim - 1)))
    return Functionals((Block(rng.random((count, dim)), terms, rng.random((count, 2))),))


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    "family",
    [
        lambda s: ko.Gaussian([s, 2.0 * s]),
        lambda s: ko.Matern(1.5, s),
        lambda s: s * (ko.Wendland(1, 1.0 + s) + ko.InverseMultiquadric(s)),
    ],
    ids=["axes", "matern", "algebra"],
)
def test_another_lengthscale_does_not_compile_again(family):
    functionals = evaluations_and_slopes()
    first = gram(family(0.7), functionals, remedy="")
    before = compiled_functions()
    second = gram(family(0.9), functionals, remedy="")
    assert compiled_functions() == before
    assert not np.allclose(np.tril(first), np.tril(second))


@pytest.mark.usefixtures("compiled")
def test_another_family_compiles_again():
    """What the test above counts does count."""
    functionals = evaluations_and_slopes(dim=3)
    gram(ko.Matern(1.5, 0.7), functionals, remedy="")
    before = compiled_functions()
    gram(ko.Matern(3.5, 0.7) * ko.InverseMultiquadric(0.7), functionals, remedy="")  # which no other test has
    assert compiled_functions() == before + 1


# --- Text -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (ko.Gaussian(0.8), "Gaussian(lengthscale=0.8)"),
        (ko.Gaussian([1, 2]), "Gaussian(lengthscale=[1.0, 2.0])"),
        (ko.InverseMultiquadric(2), "InverseMultiquadric(lengthscale=2.0)"),
        (2 * ko.Gaussian(0.8), "2 * (Gaussian(lengthscale=0.8))"),
        (ko.Gaussian(1) + ko.Wendland(1, 2), "Gaussian(lengthscale=1.0) + Wendland(k=1, lengthscale=2.0)"),
        (ko.Gaussian(1) * ko.Matern(0.5, 2), "(Gaussian(lengthscale=1.0)) * (Matern(nu=0.5, lengthscale=2.0))"),
        (
            (ko.Gaussian(1) + ko.Gaussian(2)) * ko.Gaussian(3),
            "(Gaussian(lengthscale=1.0) + Gaussian(lengthscale=2.0)) * (Gaussian(lengthscale=3.0))",
        ),
    ],
)
def test_repr(kernel, text):
    assert repr(kernel) == text
