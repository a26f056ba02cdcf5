"""Assembly by tiles, against dense matrices made by NumPy from Hermite polynomials."""

from __future__ import annotations

import itertools

import jax
import numpy as np
import pytest
from numpy.polynomial.hermite import hermval

import kernop as ko
from kernop.basics import checks
from kernop.basics.errors import MemoryLimitError
from kernop.collocation import assembly
from kernop.collocation.assembly import LARGE, SMALL, apply, compiled_functions, cross, gram, squared_norms
from kernop.collocation.functionals import Block, Functionals, evaluations
from kernop.kernels.derivatives import pairwise

ETA = 0.6
KERNEL = ko.Gaussian(ETA)
REMEDY = "use fewer points"
#: Multi-indices in the plane, a set for each kind of block.
EVALUATION, SLOPE, LAPLACE = ((0, 0),), ((0, 0), (1, 0)), ((0, 0), (0, 2), (2, 0))
#: Around the edges of small and large tiles.
SIZES = (1, 63, 64, 65, 511, 512, 513, 1100)
BLOCKS = {
    "small": [(1, SLOPE), (63, LAPLACE), (64, EVALUATION)],
    "small-large": [(64, LAPLACE), (65, SLOPE), (1, EVALUATION)],
    "large-small": [(513, SLOPE), (2, LAPLACE), (64, SLOPE)],
    "large": [(511, LAPLACE), (513, EVALUATION)],
}


@pytest.fixture(autouse=True, params=[0, assembly.FEW], ids=["by tiles", "few in NumPy"])
def both_ways(request, monkeypatch):
    """Everything holds for blocks that are cut into tiles, and for few entries in NumPy."""
    monkeypatch.setattr(assembly, "FEW", request.param)


@pytest.fixture
def by_tiles(monkeypatch):
    monkeypatch.setattr(assembly, "FEW", 0)


def block(count, alphas, seed):
    rng = np.random.default_rng(seed)
    terms = tuple((0, alpha) for alpha in alphas)
    return Block(rng.random((count, 2)), terms, rng.standard_normal((count, len(alphas))))


def functionals(sizes, seed=0):
    return Functionals(tuple(block(count, alphas, seed + i) for i, (count, alphas) in enumerate(sizes)))


def dense(left, right):
    """All P_i^(1) Q_j^(2) K, block by block, for the Gaussian exp(−|x − y|²/η²)."""
    return np.block([[dense_block(p, q) for q in right.blocks] for p in left.blocks])


def dense_block(p, q):
    total = np.zeros((len(p), len(q)))
    s = (p.x[:, None, :] - q.x[None, :, :]) / ETA
    for i, alpha in enumerate(p.alphas):
        for j, beta in enumerate(q.alphas):
            factors = [hermite(s[..., k], alpha[k] + beta[k]) for k in range(2)]
            sign = (-1) ** sum(beta)
            total += sign * np.outer(p.coefficients[:, i], q.coefficients[:, j]) * factors[0] * factors[1]
    return total


def hermite(s, n):
    """The n-th derivative of exp(−z²/η²) at z = η s."""
    return (-1.0 / ETA) ** n * hermval(s, np.eye(n + 1)[n]) * np.exp(-(s**2))


def assert_close(found, wanted):
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13 * np.max(np.abs(wanted)))


single_blocks = pytest.mark.parametrize("count", SIZES)
several_blocks = pytest.mark.parametrize("sizes", BLOCKS.values(), ids=BLOCKS.keys())


def test_sizes_lie_around_the_tiles():
    assert {SMALL - 1, SMALL, SMALL + 1, LARGE - 1, LARGE, LARGE + 1} < set(SIZES)
    assert max(SIZES) > 2 * LARGE


# --- The symmetric matrix ---------------------------------------------------------------------------------------------


@single_blocks
def test_gram_of_one_block(count):
    f = functionals([(count, SLOPE)])
    assert_close(np.tril(gram(KERNEL, f, remedy=REMEDY)), np.tril(dense(f, f)))


@several_blocks
def test_gram_of_several_blocks(sizes):
    f = functionals(sizes)
    assert_close(np.tril(gram(KERNEL, f, remedy=REMEDY)), np.tril(dense(f, f)))


def test_gram_is_ready_for_lapack():
    matrix = gram(KERNEL, functionals([(70, SLOPE)]), remedy=REMEDY)
    assert matrix.flags.f_contiguous
    assert matrix.dtype == np.float64


def test_gram_is_positive_definite():
    f = functionals([(40, LAPLACE), (30, SLOPE), (20, EVALUATION)])
    lower = np.tril(gram(KERNEL, f, remedy=REMEDY))
    scale = np.sqrt(np.diagonal(lower))
    eigenvalues = np.linalg.eigvalsh(lower / np.outer(scale, scale), UPLO="L")
    assert eigenvalues[0] >= -1e-10 * eigenvalues[-1]


@pytest.mark.parametrize(
    "kernel", [ko.Matern(2.5, 0.8), ko.CustomKernel(lambda x, y: (1.0 + x @ y) ** 3)], ids=["matern", "custom"]
)
def test_gram_agrees_with_cross(kernel):
    """The triangle and the full matrix come from the same function by different tiles."""
    f = functionals([(66, SLOPE), (3, EVALUATION)])
    full = cross(kernel, f, f)
    assert_close(full, full.T)
    assert_close(np.tril(gram(kernel, f, remedy=REMEDY)), np.tril(full))


# --- The rectangular matrix -------------------------------------------------------------------------------------------


@single_blocks
def test_cross_of_one_block(count):
    left, right = functionals([(count, SLOPE)]), functionals([(7, LAPLACE)], seed=10)
    assert_close(cross(KERNEL, left, right), dense(left, right))
    assert_close(cross(KERNEL, right, left), dense(right, left))


@several_blocks
def test_cross_of_several_blocks(sizes):
    left, right = functionals(sizes), functionals([(65, SLOPE), (5, EVALUATION)], seed=10)
    assert_close(cross(KERNEL, left, right), dense(left, right))


@pytest.mark.parametrize("order", ["C", "F"])
def test_cross_writes_where_it_is_told(order):
    rows = functionals([(70, LAPLACE), (3, SLOPE)])
    room = np.zeros((73, 80), order=order)
    cross(KERNEL, rows, rows, out=room[:, 2:75])
    np.testing.assert_array_equal(room[:, 2:75], cross(KERNEL, rows, rows))
    assert not np.any(room[:, [0, 1, 75, 79]])


def test_cross_of_evaluations_is_the_kernel():
    """By the plain double loop."""
    rng = np.random.default_rng(0)
    x, y = rng.random((5, 2)), rng.random((4, 2))
    found = cross(KERNEL, Functionals((evaluations(x),)), Functionals((evaluations(y),)))
    for i in range(5):
        for j in range(4):
            assert found[i, j] == pytest.approx(np.exp(-np.sum((x[i] - y[j]) ** 2) / ETA**2), rel=1e-14)


# --- Products and norms without the matrix ----------------------------------------------------------------------------


@single_blocks
def test_apply_to_one_block(count):
    left, right = functionals([(9, EVALUATION)]), functionals([(count, SLOPE)], seed=10)
    c = np.random.default_rng(1).standard_normal((count, 3))
    assert_close(apply(KERNEL, left, right, c), dense(left, right) @ c)
    back = np.random.default_rng(1).standard_normal((9, 3))
    assert_close(apply(KERNEL, right, left, back), dense(right, left) @ back)


@several_blocks
def test_apply_to_several_blocks(sizes):
    left, right = functionals([(65, SLOPE), (5, EVALUATION)], seed=10), functionals(sizes)
    c = np.random.default_rng(1).standard_normal((len(right), 2))
    assert_close(apply(KERNEL, left, right, c), dense(left, right) @ c)


@several_blocks
def test_squared_norms_of_several_blocks(sizes):
    f = functionals(sizes)
    assert_close(squared_norms(KERNEL, f), np.diagonal(dense(f, f)))


@single_blocks
def test_squared_norms_of_one_block(count):
    f = functionals([(count, LAPLACE)])
    assert_close(squared_norms(KERNEL, f), np.diagonal(dense(f, f)))


# --- Compilation, memory, progress, precision -------------------------------------------------------------------------


def test_three_compiled_functions_serve_every_number_of_points():
    for count in (5, 13, 513):
        gram(KERNEL, functionals([(count, SLOPE)]), remedy=REMEDY)
    before = compiled_functions()
    for count in (1, 40, 64, 65, 700):
        gram(KERNEL, functionals([(count, SLOPE)], seed=count), remedy=REMEDY)
    assert compiled_functions() == before


@pytest.mark.usefixtures("by_tiles")
def test_a_small_tile_and_its_transpose_are_compiled_once():
    left, right = functionals([(40, SLOPE), (600, EVALUATION)]), functionals([(50, LAPLACE)], seed=10)
    there = cross(KERNEL, left, right)
    before = compiled_functions()
    back = cross(KERNEL, right, left)
    assert compiled_functions() == before
    np.testing.assert_array_equal(back, there.T)


@pytest.mark.parametrize(
    ("count", "kernel"),
    [(40, lambda eta: ko.Matern(4.5, eta)), (600, ko.Gaussian), (40, lambda eta: 2.0 * ko.Gaussian(eta) + KERNEL)],
    ids=["matern", "gaussian", "sum"],
)
def test_one_lengthscale_and_one_for_each_axis_are_compiled_once(count, kernel):
    f = functionals([(count, LAPLACE)])
    one = gram(kernel(0.7), f, remedy=REMEDY)
    before = compiled_functions()
    each = gram(kernel([0.7, 0.7]), f, remedy=REMEDY)
    assert compiled_functions() == before
    np.testing.assert_array_equal(np.tril(one), np.tril(each))


@pytest.mark.parametrize(("sizes", "tiles"), [([(1100, SLOPE)], 6), ([(40, SLOPE), (600, LAPLACE), (3, SLOPE)], 10)])
@pytest.mark.usefixtures("by_tiles")
def test_only_one_triangle_is_computed(monkeypatch, sizes, tiles):
    """Of n strips, n (n + 1) / 2 tiles."""
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return pairwise(*arguments)

    monkeypatch.setattr("kernop.collocation.assembly.pairwise", counted)
    gram(KERNEL, functionals(sizes), remedy=REMEDY)
    assert len(calls) == tiles


class AllocatedError(AssertionError):
    """Memory was asked for."""


def refuse(*_, **__):
    raise AllocatedError


class NumPyWithoutMemory:
    """NumPy as `kernop.collocation.assembly` sees it, except that it allocates no matrix."""

    empty = zeros = staticmethod(refuse)

    def __getattr__(self, name):
        return getattr(np, name)


@pytest.fixture
def no_allocation(monkeypatch):
    """Allocating a matrix, or computing a tile of it, fails."""
    monkeypatch.setattr("kernop.collocation.assembly.np", NumPyWithoutMemory())
    monkeypatch.setattr("kernop.collocation.assembly.pairwise", refuse)


def limit_memory(monkeypatch, free):
    monkeypatch.setattr(checks, "SMALL", 0)
    monkeypatch.setattr(checks, "available_memory", lambda: free)


@pytest.mark.usefixtures("no_allocation")
def test_gram_that_does_not_fit_is_refused_before_allocating(monkeypatch):
    limit_memory(monkeypatch, 2**30)
    f = Functionals((evaluations(np.zeros((100_000, 2))),))
    message = (
        f"points: got 100000 points with a Gram matrix of 100000 × 100000, which needs 74.5 GiB .*1.0 GiB.*{REMEDY}"
    )
    with pytest.raises(MemoryLimitError, match=message) as caught:
        gram(KERNEL, f, remedy=REMEDY)
    assert isinstance(caught.value, MemoryError)


@pytest.mark.usefixtures("no_allocation")
def test_cross_that_does_not_fit_is_refused_before_allocating(monkeypatch):
    limit_memory(monkeypatch, 2**30)
    left, right = Functionals((evaluations(np.zeros((200_000, 2))),)), functionals([(1000, SLOPE)])
    with pytest.raises(MemoryLimitError, match="x: got 200000 points against 1000 functionals"):
        cross(KERNEL, left, right)


@pytest.mark.usefixtures("no_allocation")
def test_gram_that_fits_is_allocated(monkeypatch):
    """What the tests above say did not happen does happen."""
    limit_memory(monkeypatch, 2**30)
    with pytest.raises(AllocatedError):
        gram(KERNEL, functionals([(10, SLOPE)]), remedy=REMEDY)


def test_memory_that_is_just_enough(monkeypatch):
    f = functionals([(10, SLOPE)])
    limit_memory(monkeypatch, 8 * 10 * 10)
    assert gram(KERNEL, f, remedy=REMEDY).shape == (10, 10)
    limit_memory(monkeypatch, 8 * 10 * 10 - 1)
    with pytest.raises(MemoryLimitError):
        gram(KERNEL, f, remedy=REMEDY)


def test_unknown_memory_is_no_limit(monkeypatch):
    limit_memory(monkeypatch, None)
    assert gram(KERNEL, functionals([(10, SLOPE)]), remedy=REMEDY).shape == (10, 10)


def test_apply_needs_no_memory_for_the_matrix(monkeypatch):
    limit_memory(monkeypatch, 0)
    f = functionals([(20, SLOPE)])
    assert_close(apply(KERNEL, f, f, np.ones((20, 1))), dense(f, f) @ np.ones((20, 1)))


@pytest.mark.parametrize("sizes", [[(5, SLOPE)], *BLOCKS.values()], ids=["one", *BLOCKS.keys()])
def test_ticks_rise_to_one(sizes):
    ticks = []
    gram(KERNEL, functionals(sizes), remedy=REMEDY, tick=ticks.append)
    assert np.all(np.diff(ticks) >= 0.0)
    assert ticks[0] > 0.0
    assert ticks[-1] == 1.0
    assert len(ticks) >= len(sizes)


def test_double_precision_although_jax_is_set_to_single():
    assert not jax.config.jax_enable_x64
    f = functionals([(70, SLOPE), (3, LAPLACE)])
    results = {
        "gram": gram(KERNEL, f, remedy=REMEDY),
        "cross": cross(KERNEL, f, f),
        "apply": apply(KERNEL, f, f, np.eye(len(f))),
        "squared_norms": squared_norms(KERNEL, f),
    }
    assert not jax.config.jax_enable_x64
    wanted = dense(f, f)
    assert all(found.dtype == np.float64 for found in results.values())
    assert_close(np.tril(results["gram"]), np.tril(wanted))
    assert_close(results["cross"], wanted)
    assert_close(results["apply"], wanted)
    assert_close(results["squared_norms"], np.diagonal(wanted))


# --- Rows that are sums over points, as integrals are; several unknowns -----------------------------------------------

#: Where the rows of a block of 9 points begin: one of 4 points, one of a single point, one of 4.
STARTS = np.array([0, 4, 5, 9])


def summed(seed=0):
    """Two blocks of single points around one of sums, over three components in all."""
    rng = np.random.default_rng(seed)

    def mixed(count, terms, starts=None):
        return Block(rng.random((count, 2)), terms, rng.standard_normal((count, len(terms))), starts)

    velocity, pressure = ((0, (2, 0)), (1, (0, 1)), (1, (0, 0))), ((1, (1, 0)), (2, (0, 0)))
    return Functionals((mixed(70, velocity), mixed(9, pressure, STARTS), mixed(3, ((2, (0, 2)),))))


def dense_system(left, right):
    """As `dense`, for sums over points and several components, which are independent of each other."""
    return np.block([[_dense_part(p, q) for q in right.blocks] for p in left.blocks])


def _dense_part(p, q):
    total = np.zeros((len(p.x), len(q.x)))
    for k in set(p.components) & set(q.components):
        one, other = (
            Block(own.x, tuple((0, own.terms[j][1]) for j in own.components[k]), own.coefficients[:, own.components[k]])
            for own in (p, q)
        )
        total += dense_block(one, other)
    return _adding(p) @ total @ _adding(q).T


def _adding(block):
    """The matrix of zeros and ones that adds up the points of each row."""
    if block.starts is None:
        return np.eye(len(block.x))
    rows = [[float(a <= i < b) for i in range(len(block.x))] for a, b in itertools.pairwise(block.starts)]
    return np.array(rows)


@pytest.mark.parametrize("other", [summed(1), functionals([(65, SLOPE), (3, LAPLACE)])], ids=["sums", "points"])
def test_sums_against_explicit_sums(other):
    f = summed()
    wanted = dense_system(f, other)
    assert wanted.shape == (76, len(other))
    assert_close(cross(KERNEL, f, other), wanted)
    assert_close(cross(KERNEL, other, f), wanted.T)
    c = np.random.default_rng(2).standard_normal((len(other), 2))
    assert_close(apply(KERNEL, f, other, c), wanted @ c)
    out = np.full(wanted.shape, np.nan, order="F")
    assert cross(KERNEL, f, other, out=out) is out
    assert_close(out, wanted)


def test_the_gram_matrix_of_sums():
    f = summed()
    wanted = dense_system(f, f)
    assert_close(np.tril(gram(KERNEL, f, remedy=REMEDY)), np.tril(wanted))
    assert_close(squared_norms(KERNEL, f), np.diagonal(wanted))


def test_components_are_independent():
    """The rows of one unknown and of another have nothing in common, also where a tile would hold both."""
    velocity = Functionals((block(5, SLOPE, 0),))
    pressure = Functionals((Block(velocity.blocks[0].x, ((1, (0, 0)),), np.ones((5, 1))),))
    np.testing.assert_array_equal(cross(KERNEL, velocity, pressure), np.zeros((5, 5)))
    np.testing.assert_array_equal(apply(KERNEL, velocity, pressure, np.ones((5, 1))), np.zeros((5, 1)))


@pytest.mark.parametrize(
    "kernel", [KERNEL, ko.Gaussian([0.5, 0.8]), ko.Matern(4.5, ETA)], ids=["one", "axes", "matern"]
)
def test_what_is_computed_in_numpy(monkeypatch, kernel):
    """As many columns as `FEW` in NumPy, one more by JAX, with the same values."""
    few, many = functionals([(30, LAPLACE)]), functionals([(70, SLOPE)], seed=5)
    monkeypatch.setattr(assembly, "FEW", 70)
    monkeypatch.setattr(assembly, "pairwise", refuse)
    there = cross(kernel, few, many)
    np.testing.assert_array_equal(apply(kernel, few, many, np.ones((70, 1))), there @ np.ones((70, 1)))
    monkeypatch.undo()
    monkeypatch.setattr(assembly, "FEW", 69)
    monkeypatch.setattr(assembly, "plain_pairwise", refuse)
    np.testing.assert_allclose(cross(kernel, few, many), there, rtol=0, atol=1e-13 * np.max(np.abs(there)))


def test_a_few_points_of_other_components_have_nothing_in_common():
    one = Functionals((Block(np.zeros((2, 2)), ((1, (0, 0)),), np.ones((2, 1))),))
    np.testing.assert_array_equal(cross(KERNEL, one, functionals([(3, SLOPE)])), np.zeros((2, 3)))
