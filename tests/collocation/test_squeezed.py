"""Thin pieces between jumps, with the same smooth function on either side: found by walking away from interfaces."""

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.squeezed import squeezed
from kernop.collocation.subdomains import Subdomains
from kernop.trust.resolution import with_interfaces

SQUARE, DISK, CUBE = ko.Box([0, 0], [1, 1]), ko.Ball([0, 0], 1), ko.Box([0, 0, 0], [1, 1, 1])


def found(domain, pieces, otherwise=1.0):
    a = ko.Piecewise(pieces, otherwise)
    equation = ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=domain, name="f")
    return squeezed(with_interfaces(ko.Problem(equation, ko.Dirichlet(on=domain.boundary, name="g"))))


def plate(half_width):
    """A level set, of which nobody knows what it is made of: a plate with round ends, 1.2 long."""
    return ko.Implicit(
        lambda x: np.hypot(np.maximum(np.abs(x[..., 0]) - 0.6, 0.0), x[..., 1]) - half_width, ([-0.9, -0.9], [0.9, 0.9])
    )


@pytest.mark.parametrize(
    ("domain", "region", "thickness"),
    [
        (ko.Interval(0, 1), ko.Interval(0.5, 0.502), 0.002),
        (SQUARE, ko.Box([0.4, 0], [0.5, 1]), 0.1),
        (DISK, plate(0.05), 0.1),
        (CUBE, ko.Box([0, 0, 0.4], [1, 1, 0.41]), 0.01),
    ],
    ids=["line", "strip", "plate", "slab"],
)
def test_thin_pieces_are_told_with_their_thickness(domain, region, thickness):
    """To the ratio of the distances at which they are looked for, 1.16."""
    own = found(domain, {region: 0.01})
    assert own is not None
    assert thickness <= own.thickness < 1.2 * thickness
    assert "with the same piece on either side" in str(own)


@pytest.mark.parametrize(
    ("domain", "pieces"),
    [
        (SQUARE, {ko.Box([0.6, 0], [1, 1]): 10.0}),
        (SQUARE, {ko.Ball([0.5, 0.5], 0.2): 10.0}),
        (DISK, {ko.Ball([0, 0], 1e-3): 10.0}),
        (DISK, {ko.Ball([0, 0], 0.51) - ko.Ball([0, 0], 0.5): 10.0}),
        (SQUARE, {ko.Box([0, 0], [0.4, 1]): 1.0, ko.Box([0.4, 0], [0.41, 1]): 10.0}),
        (CUBE, {ko.Ball([0.5, 0.5, 0.5], 0.1): 10.0}),
    ],
    ids=["half", "disk", "small disk", "ring", "strip between pieces", "ball"],
)
def test_pieces_beside_others_and_round_ones_are_none(domain, pieces):
    assert found(domain, pieces) is None


def test_nothing_jumps():
    assert found(SQUARE, {ko.Box([2, 2], [3, 3]): 10.0}) is None


def test_of_many_interfaces_each_is_looked_at_less(monkeypatch):
    """A strip among 36 disks is told, by a few hundred calls; one for each distance of each disk took minutes."""
    looked = list[int]()
    which = Subdomains.which
    monkeypatch.setattr(Subdomains, "which", lambda self, x: looked.append(len(x)) or which(self, x))
    disks = {ko.Ball([0.05 + i / 7, 0.1 + j / 6], 0.03): 10.0 for i in range(6) for j in range(6)}
    own = found(SQUARE, {**disks, ko.Box([0.9, 0], [0.92, 1]): 0.01})
    assert own is not None
    assert 0.02 <= own.thickness < 1.2 * 0.02
    assert len(looked) < 300
    assert sum(looked) < 300_000
