"""Boundaries on which nothing is said of u."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.collocation.ansatz import collocate
from kernop.collocation.sampling import sample
from kernop.trust.coverage import open_boundary

RING = ko.Ball([0, 0], 1.0) - ko.Ball([0, 0], 0.3)


def look(*conditions):
    problem = ko.Problem(*conditions)
    return open_boundary(problem, collocate(problem, sample(problem, 200)))


def test_a_hole_of_which_nothing_is_said():
    outer = ko.Ball([0, 0], 1.0)
    place = look(ko.Equation(lambda u: -ko.laplacian(u), on=RING), ko.Dirichlet(on=RING.boundary.of(outer)))
    assert np.linalg.norm(place) == pytest.approx(0.3)
    with pytest.warns(ko.IllPosedWarning, match="no condition holds there"):
        ko.learn(
            ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=RING), ko.Dirichlet(on=RING.boundary.of(outer))),
            method=ko.Subspace(200),
        )


def test_all_of_the_boundary_in_pieces():
    box = ko.Box([0, 0], [1, 1])
    assert look(ko.Equation(lambda u: -ko.laplacian(u), on=RING), ko.Dirichlet(on=RING.boundary)) is None
    pieces = ko.Dirichlet(on=box.face("left", "right")), ko.Neumann(on=box.face("top", "bottom"))
    assert look(ko.Equation(lambda u: -ko.laplacian(u) + u, on=box), *pieces) is None
    half = (box.boundary.where(lambda x, s=s: s * (x[..., 0] - 0.4) >= 0) for s in (-1, 1))
    parts = [ko.Dirichlet(on=own, name=name) for own, name in zip(half, "ab", strict=True)]
    assert look(ko.Equation(lambda u: -ko.laplacian(u), on=box), *parts) is None


def test_equations_that_need_less():
    box = ko.Box([0, 0], [1, 1])
    transport = ko.Equation(lambda u: ko.partial(u, 0) + u, on=box)
    assert look(transport, ko.Dirichlet(on=box.face("left"))) is None
    wave = ko.Equation(lambda u: ko.partial(u, 1, 2) - ko.partial(u, 0, 2), on=box)
    assert look(wave, ko.Dirichlet(on=box.face("left", "right", "bottom"))) is None
    degenerate = ko.Equation(lambda u: -ko.div((lambda x: jnp.maximum(x[..., 0] - 0.5, 0.0)) * ko.grad(u)), on=box)
    assert look(degenerate, ko.Dirichlet(on=box.face("right"))) is None
