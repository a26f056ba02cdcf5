"""The stability number of problems that are known to be well-posed, nearly ill-posed and ill-posed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import kernop as ko
from kernop.trust.wellposed import LIMIT

LINE, SQUARE, DISK, CUBE = ko.Interval(0, 1), ko.Box([0, 0], [1, 1]), ko.Ball([0, 0], 1), ko.Box([0] * 3, [1] * 3)
ROD = ko.SpaceTime(LINE, (0, 1))
RESONANCE = 5.0 * np.pi**2


def poisson(u: Any) -> Any:
    return -ko.laplacian(u)


def beam(u: Any) -> Any:
    return ko.partial(u, 0, 4)


def heat(u: Any) -> Any:
    return ko.dt(u) - 0.1 * ko.laplacian(u)


def wave(u: Any) -> Any:
    return ko.dt(u, 2) - ko.laplacian(u)


def helmholtz(squared: float) -> Any:
    return lambda u: -ko.laplacian(u) - squared * u


def problem(op: Any, domain: ko.Region, *conditions: ko.Condition) -> ko.Problem:
    return ko.Problem(ko.Equation(op, on=domain, name="f"), *conditions)


WELL_POSED = {
    "Poisson": problem(poisson, SQUARE, ko.Dirichlet(SQUARE.boundary)),
    "Poisson on a line": problem(poisson, LINE, ko.Dirichlet(LINE.boundary)),
    "Poisson in a cube": problem(poisson, CUBE, ko.Dirichlet(CUBE.boundary)),
    "three sides insulated": problem(
        poisson, SQUARE, ko.Dirichlet(SQUARE.face("left")), ko.Neumann(SQUARE.face("right", "top", "bottom"))
    ),
    "clamped beam": problem(
        lambda u: ko.partial(u, 0, 4), LINE, ko.Dirichlet(LINE.boundary), ko.Neumann(LINE.boundary)
    ),
    "heat": problem(heat, ROD, ko.Dirichlet(ROD.walls), ko.Initial(ROD.initial)),
    "wave": problem(wave, ROD, ko.Dirichlet(ROD.walls), ko.Initial(ROD.initial), ko.Initial(ROD.initial, "v", order=1)),
    "Helmholtz 20": problem(helmholtz(400.0), SQUARE, ko.Dirichlet(SQUARE.boundary)),
    "Helmholtz 200": problem(helmholtz(4e4), LINE, ko.Dirichlet(LINE.boundary)),
}
ILL_POSED = {
    "pure Neumann": (problem(poisson, SQUARE, ko.Neumann(SQUARE.boundary)), "nearly constant"),
    "pure Neumann on a disk": (problem(poisson, DISK, ko.Neumann(DISK.boundary)), "nearly constant"),
    "pure Neumann on a line": (problem(poisson, LINE, ko.Neumann(LINE.boundary)), "nearly constant"),
    "resonance": (problem(helmholtz(RESONANCE), SQUARE, ko.Dirichlet(SQUARE.boundary)), "changes sign"),
    "no boundary condition": (problem(poisson, SQUARE), "constant|linear|spread|changes sign"),
    "a side without condition": (
        problem(poisson, SQUARE, ko.Dirichlet(SQUARE.face("left", "top", "bottom"))),
        r"concentrated near x\[0\]",
    ),
    "Cauchy data": (
        problem(poisson, SQUARE, ko.Dirichlet(SQUARE.face("left")), ko.Neumann(SQUARE.face("left"))),
        r"concentrated near x\[0\]",
    ),
    "backward heat": (
        problem(lambda u: ko.dt(u) + 0.1 * ko.laplacian(u), ROD, ko.Dirichlet(ROD.walls), ko.Initial(ROD.initial)),
        r"concentrated near x\[1\]",
    ),
    "heat from its end": (
        problem(heat, ROD, ko.Dirichlet(ROD.walls), ko.Dirichlet(ROD.final, "end")),
        r"concentrated near x\[1\]",
    ),
    "wave with Dirichlet data at both times": (
        problem(wave, ROD, ko.Dirichlet(ROD.walls), ko.Initial(ROD.initial), ko.Dirichlet(ROD.final, "end")),
        "function",
    ),
    "wave without velocity": (problem(wave, ROD, ko.Dirichlet(ROD.walls), ko.Initial(ROD.initial)), "function"),
    "one end of a line": (problem(poisson, LINE, ko.Dirichlet(LINE.face("left"))), "nearly linear"),
}


@pytest.mark.parametrize("name", WELL_POSED)
def test_well_posed(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ko.IllPosedWarning)
        operator = ko.learn(WELL_POSED[name], points=900, method=ko.Subspace(200))
    assert operator.stability is not None
    assert operator.stability < 0.2 * LIMIT


@pytest.mark.parametrize("name", ILL_POSED)
def test_ill_posed(name: str) -> None:
    stated, words = ILL_POSED[name]
    with pytest.warns(ko.IllPosedWarning, match=words):
        operator = ko.learn(stated, points=1000, method=ko.Subspace(300))
    assert operator.stability is not None
    assert operator.stability > LIMIT


@pytest.mark.parametrize("method", [ko.Full(), ko.LowRank(), ko.Subspace(80, batch=200), ko.Subspace(80)])
def test_whatever_the_method(method: Any) -> None:
    given = 1e-6 if method.default_weights == "unit" else None
    with pytest.warns(ko.IllPosedWarning, match="nearly constant"):
        operator = ko.learn(ILL_POSED["pure Neumann"][0], points=500, method=method, regularization=given)
    assert operator.stability is not None
    assert operator.stability > LIMIT


def test_weights_and_noise_do_not_hide_it() -> None:
    with pytest.warns(ko.IllPosedWarning, match="nearly constant"):
        ko.learn(ILL_POSED["pure Neumann"][0], points=500, method=ko.Subspace(100), noise=0.1)


def test_the_constant_of_poisson() -> None:
    """‖u‖ ≤ C for unit data, in natural units, is that of the exact first eigenfunction or of boundary data."""
    operator = ko.learn(WELL_POSED["Poisson"], points=900, method=ko.Subspace(200))
    assert operator.stability is not None
    assert 0.5 < operator.stability < 2.0


@pytest.mark.filterwarnings("ignore::kernop.IllPosedWarning")
def test_the_estimate_counts_it() -> None:
    """Any constant may be added to u, and the estimate does not say that it is right."""
    operator = ko.learn(ILL_POSED["pure Neumann"][0], points=600, method=ko.Subspace(200))
    u = operator(lambda x: np.cos(np.pi * x[..., 0]), 0.0)
    found = u.error_estimate(covering=None)
    assert found.relative_l2 > 1e-2
    assert "ill-posed" in str(found)


@pytest.mark.filterwarnings("ignore::kernop.IllPosedWarning")
def test_kept_in_files(tmp_path: Any) -> None:
    operator = ko.learn(ILL_POSED["pure Neumann"][0], points=400, method=ko.Subspace(100))
    operator.save(tmp_path / "t.kernop")
    again = ko.load(tmp_path / "t.kernop")
    assert again.stability == operator.stability
    assert again.diagnosis == operator.diagnosis


def test_contradictions_are_left_over() -> None:
    """Two values for u on the same boundary: both cannot hold, and T says so."""
    twice = problem(poisson, SQUARE, ko.Dirichlet(SQUARE.boundary, "g"), ko.Dirichlet(SQUARE.boundary, "h"))
    operator = ko.learn(twice, points=900, method=ko.Subspace(200))
    with pytest.warns(ko.AccuracyWarning, match="contradict"):
        u = operator(0.0, 0.0, 1.0)
    assert u.misfit > 0.3
