"""A small operator for all tests of serving: −Δu = f on the unit square without a disk, u = g on its boundary."""

import warnings

import pytest

import kernop as ko


@pytest.fixture(scope="session")
def operator():
    D = ko.Box([0, 0], [1, 1]) - ko.Ball([0.7, 0.65], 0.15)
    equation = ko.Equation(lambda u: -ko.laplacian(u), on=D, name="f")
    problem = ko.Problem(equation, ko.Dirichlet(on=D.boundary, name="g"))
    with warnings.catch_warnings(action="ignore"):
        return ko.learn(problem, method=ko.Subspace(centers=220), points={"f": 500, "g": 160})


@pytest.fixture(scope="module")
def wide():
    """Sources that a small operator resolves, so that a few of them tell of all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernop.serving.reduced.NARROW", {1: 0.2, 2: 0.2, 3: 0.2})
        patch.setattr("kernop.serving.reduced.WIDE", 0.5)
        yield
