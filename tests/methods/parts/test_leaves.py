"""Parts before they are learned: equal ones, patterns of points, and memory."""

import gc
import weakref

import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.geometry.sequences import every_other
from kernop.methods.parts import leaves
from kernop.methods.parts.leaves import Alike
from kernop.methods.parts.patterns import LocalRows, Pattern, bubbles
from kernop.methods.parts.skeleton import ordered_for
from kernop.methods.parts.space import by_degree
from kernop.methods.spaces.polynomials import total_degree

SQUARE = ko.Box([0, 0], [1, 1])


def darcy(coefficient):
    return ko.Problem(
        ko.Equation(lambda u: -ko.div(coefficient * ko.grad(u)), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary)
    )


def parts(coefficient, cells):
    found = ko.learn(darcy(coefficient), method=ko.Partition(cells=cells, degree=5, levels=0)).factorisation
    groups, waiting = [], [found.root]
    while waiting:
        group = waiting.pop()
        waiting += group.children
        groups += [id(group.down)] if group.children else []
    return len(set(map(id, found.locals))), len(set(groups)), len(groups)


def test_equal_parts_and_equal_groups_are_made_once():
    assert parts(lambda x: 2.0, 8) == (9, 31, 63)  # at corners, at sides and in the middle
    assert parts(lambda x: 1.5 + jnp.sin(7.0 * x[..., 0]) * jnp.cos(5.0 * x[..., 1]), 4) == (16, 15, 15)


def test_numbers_that_are_near_are_found_among_others():
    rng, alike = np.random.default_rng(0), Alike()
    seen = [rng.normal(size=50) for _ in range(20)]
    assert [alike.find(numbers, 1e-13) for numbers in seen] == [(k, False) for k in range(20)]
    for k, numbers in enumerate(seen):
        assert alike.find(numbers, 1e-13) == (k, True)
        assert alike.find(numbers + 1e-14 * rng.normal(size=50), 1e-12) == (k, True)
        assert alike.find(numbers + np.eye(50)[7] * 1e-6, 1e-12) == (20 + k, False)


def test_rows_against_powers():
    """Polynomials of degree ≤ 2 on [−1, 1]²: 2 ∂²/∂x² + y ∂/∂y of Legendre's polynomials, by hand."""
    z = np.random.default_rng(0).uniform(-1.0, 1.0, (5, 2))
    degrees = total_degree(2, 6)
    rows = LocalRows(
        ((0, (0, 1)), (0, (2, 0))),
        np.stack([z[:, 1], np.full(5, 2.0)], axis=1),
        Pattern(z, degrees, ((0, 1), (2, 0)), "legendre"),
    )
    found = np.empty((6, 5))
    rows.fill(found)
    x, y = z.T
    by_hand = {
        (0, 0): 0.0 * x,
        (1, 0): 0.0 * x,
        (0, 1): np.sqrt(3) * y,
        (2, 0): 6.0 * np.sqrt(5) + 0.0 * x,
        (1, 1): 3.0 * x * y,
        (0, 2): np.sqrt(5) * 3.0 * y * y,
    }
    for nu, own in zip(degrees.tolist(), found, strict=True):
        np.testing.assert_allclose(own, by_hand[tuple(nu)], atol=1e-13)


def test_the_memory_is_asked_for_what_is_kept(monkeypatch):
    asked = []
    monkeypatch.setattr(leaves, "shelf_for", lambda name, doubles, what, remedy: asked.append((doubles, what)))
    T = ko.learn(darcy(lambda x: 1.0), method=ko.Partition(cells=2, degree=7, levels=0))
    kept = {id(own): own for own in T.factorisation.locals}.values()
    ((doubles, what),) = asked
    assert doubles == sum(own.numbers for own in kept)
    assert what == "4 parts of 36 functions, no two of them alike"


def test_bubbles_whose_laplacians_are_orthonormal_at_their_places():
    degrees = ordered_for(by_degree(2, 9), "lobatto")
    places = 2.0 * every_other(8) - 1.0
    alphas = ((0, 0), (0, 2), (2, 0))
    plain, own = (Pattern(places, degrees, alphas, basis) for basis in ("lobatto", "laplace"))
    count = int(np.sum(bubbles(degrees)))
    laplacian = (own.derivatives[2, 0] + own.derivatives[0, 2])[:count]
    np.testing.assert_allclose(laplacian @ laplacian.T, np.eye(count), atol=1e-13)
    for alpha in alphas:
        np.testing.assert_allclose(
            own.combination.T @ own.derivatives[alpha][:count], plain.derivatives[alpha][:count], atol=1e-10
        )
        np.testing.assert_array_equal(own.derivatives[alpha][count:], plain.derivatives[alpha][count:])
    assert own.grid
    assert not Pattern(np.random.default_rng(0).uniform(-1.0, 1.0, places.shape), degrees, alphas, "lobatto").grid


def test_problems_on_the_same_cells_share_what_does_not_depend_on_coefficients():
    def factorisation(coefficient):
        return ko.learn(darcy(coefficient), method=ko.Partition(cells=3, degree=6, levels=0)).factorisation

    one, other = factorisation(lambda x: 1.0 + x[..., 0]), factorisation(lambda x: 2.0 + x[..., 1])
    assert one.part_rows is other.part_rows


def test_what_is_kept_with_a_mosaic_lets_it_go():
    disk = ko.Implicit(lambda x: jnp.sum(x**2, axis=-1) - 1.0, bounds=([-1, -1], [1, 1]))
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=disk), ko.Dirichlet(on=disk.boundary))
    gone = weakref.ref(ko.learn(problem, method=ko.Partition(cells=2, degree=5)).factorisation.expansion.mosaic)
    gc.collect()
    assert gone() is None
