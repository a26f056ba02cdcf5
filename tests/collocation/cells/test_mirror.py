"""Mirrored parts of a box in space: equal where the equation is its own mirror image, and right where it is not."""

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.cells.mirror import Mirror

BOX = ko.Box([0, -1, 1], [1, 1, 2])
X = BOX.sample(200, "uniform", seed=1).x


def made_once(T):
    """How many parts, and groups of them, differ."""
    found = T.factorisation
    groups, waiting = set(), [found.root]
    while waiting:
        group = waiting.pop()
        waiting += group.children
        groups |= {id(group.down)} if group.children else set()
    return len(set(map(id, found.locals))), len(groups)


@pytest.mark.parametrize("gluing", ["values", "robin"])
def test_eight_octants_are_made_once(gluing):
    cube = ko.Box([0, 0, 0], [1, 1, 1])
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=cube), ko.Dirichlet(on=cube.boundary))
    T = ko.learn(problem, method=ko.Partition(cells=2, degree=4, levels=1, gluing=gluing))
    assert len(T.factorisation.locals) == 64
    assert made_once(T) == (8, 1 + 1 + 1 + 1 + 2 + 4)


@pytest.mark.parametrize("gluing", ["values", "robin"])
def test_what_is_not_its_own_mirror_image(gluing):
    """A polynomial; lower and mixed derivatives change their signs in a mirror, so no part equals another."""
    top = lambda x: x[..., 2] > 2.0 - 1e-9
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) - 0.5 * ko.partial(ko.partial(u, 0), 1) + ko.partial(u, 0), on=BOX),
        ko.Neumann(on=BOX.boundary.where(top), name="q"),
        ko.Dirichlet(on=BOX.boundary.where(lambda x: ~top(x)), name="g"),
    )
    exact = lambda x: x[..., 0] ** 2 - x[..., 0] * x[..., 1] + 2.0 * x[..., 1] * x[..., 2] + x[..., 2]
    T = ko.learn(problem, method=ko.Partition(cells=4, degree=4, gluing=gluing))
    u = T(**problem.manufacture(exact, T.points))
    assert made_once(T)[0] == len(T.factorisation.locals) == 16
    np.testing.assert_allclose(u(X), exact(X), atol=1e-9)
    x, y, z = X.T
    np.testing.assert_allclose(u.grad(X), np.stack([2 * x - y, 2 * z - x, 2 * y + 1], axis=1), atol=1e-8)


def test_corners_and_order():
    mirror = Mirror(np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 4.0]]), True)
    low, high = mirror.corners(np.array([0.5, 0.0, 3.0]), np.array([1.0, 0.5, 4.0]))
    np.testing.assert_array_equal([low, high], [[1.0, 0.0, 4.0], [0.5, 0.5, 3.0]])
    plane = Mirror(np.array([[0.0, 0.0], [1.0, 1.0]]), False)
    np.testing.assert_array_equal(plane.signs(np.array([0.9, 0.9])), [1.0, 1.0])
