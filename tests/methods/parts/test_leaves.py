"""Parts before they are learned: equal ones, patterns of points, and memory."""

import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.methods.parts import leaves
from kernop.methods.parts.leaves import Alike
from kernop.methods.parts.patterns import LocalRows, Pattern
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
