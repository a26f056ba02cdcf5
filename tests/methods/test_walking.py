"""Slabs of many parts, whose map is never written down, beside the matrix of it."""

import numpy as np
import pytest

import kernop as ko
import kernop.operators.march as marching
from kernop.errors import ArgumentError
from kernop.methods.repeated import Walk


@pytest.fixture(scope="module")
def rod():
    slab = ko.SpaceTime(ko.Interval(0.0, 1.0), (0.0, 0.2))
    problem = ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - 0.3 * ko.laplacian(u), on=slab, name="f"),
        ko.Dirichlet(on=slab.walls, name="g"),
        ko.Initial(on=slab.initial, name="u0"),
    )
    return ko.learn(problem, method=ko.Partition(cells=2, degree=8))


def walked(T, monkeypatch, **data):
    plain = T.march(4, **data)
    monkeypatch.setattr(marching, "LARGE", 0)
    found = T.march(4, **data)
    assert isinstance(found.repetition, Walk)
    assert not isinstance(plain.repetition, Walk)
    return plain, found


def test_steps_are_those_of_the_matrix(rod, monkeypatch):
    def exact(x):
        return np.exp(x[..., 1]) * np.sin(3.0 * x[..., 0])

    plain, found = walked(rod, monkeypatch, f=lambda x: 3.7 * exact(x), g=exact, u0=exact)
    np.testing.assert_allclose(found.data, plain.data, atol=1e-11)


def test_how_fast_states_grow_is_seen_without_the_matrix(rod, monkeypatch):
    plain, found = walked(rod, monkeypatch, f=0.0, g=0.0, u0=lambda x: np.sin(np.pi * x[..., 0]))
    assert found.spectral_radius == pytest.approx(plain.spectral_radius, rel=1e-3)
    assert 1.0 <= found.growth <= 1.001 * plain.growth


def test_no_estimate_without_the_matrix(rod, monkeypatch):
    _, found = walked(rod, monkeypatch, f=0.0, g=0.0, u0=lambda x: np.sin(np.pi * x[..., 0]))
    with pytest.raises(ArgumentError, match="not written down"):
        found.error_estimate()
