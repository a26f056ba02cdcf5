"""What is doubtful of a problem is looked for once, and again when its coefficients change."""

import warnings

import numpy as np
import pytest

import kernop as ko
from kernop.learning.task import Task

SQUARE = ko.Box([0, 0], [1, 1])
METHOD = ko.Partition(cells=2, degree=6, levels=0)


def waves(number):
    """Δu + k²u = f with k² from a list, which a caller may change behind the back of the problem."""
    return ko.Problem(
        ko.Equation(lambda u: ko.laplacian(u) + (lambda x: number[0] + 0.0 * x[..., 0]) * u, on=SQUARE),
        ko.Dirichlet(on=SQUARE.boundary),
    )


def test_a_problem_is_looked_at_once(monkeypatch):
    looks = []
    monkeypatch.setattr(
        Task, "roughness", lambda own, points, look=Task.roughness: looks.append(1) or look(own, points)
    )
    problem = waves([1.0])
    first, second = (ko.learn(problem, method=METHOD) for _ in range(2))
    assert len(looks) == 1
    assert first.diagnosis == second.diagnosis
    assert first.stability < 10.0
    ko.learn(problem, method=METHOD, seed=1)
    assert len(looks) == 2


def test_coefficients_that_change_are_looked_at_again():
    """2π² is an eigenvalue of −Δ: with it there is no solution."""
    number = [1.0]
    problem = waves(number)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ko.learn(problem, method=METHOD)
    number[0] = 2.0 * np.pi**2
    with pytest.warns(ko.errors.IllPosedWarning, match="ill-posed"):
        ko.learn(problem, method=METHOD)
