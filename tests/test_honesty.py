"""Promised errors against true ones on a few problems of benchmarks/honesty.py, and the tools that judge them."""

from dataclasses import replace

import numpy as np
import pytest
from honesty_problems import CASES, coefficients
from honesty_problems.check import misfits
from honesty_problems.judge import Errors, Line, Said, Summary, judge

KNOWN = {str(case): case for case in CASES}
EASY = KNOWN["smooth: Helmholtz 15"]
ILL = KNOWN["ill-posed: pure Neumann, 1-D"]

#: The first five were answered without a word by the version in which the problems were collected.
TRIED = [
    "coefficients: 1-D jump",
    "ill-posed: pure Neumann, 1-D",
    "ill-posed: Helmholtz at a resonance, 1-D",
    "ill-posed: one end without a condition",
    "ill-posed: no boundary condition",
    "smooth: Helmholtz 15",
    "oscillating: 1-D, 3 periods",
    "layers: 1-D outflow, Péclet 100",
    "corners: f = 1 on the square",
]


@pytest.mark.parametrize("name", [name for name in TRIED if KNOWN[name].posed])
def test_no_problem_is_answered_silently(name: str) -> None:
    line = judge(KNOWN[name])
    assert line.verdict not in ("silent", "broken"), (line.promised, line.said)


@pytest.mark.parametrize("name", [name for name in TRIED if not KNOWN[name].posed])
def test_ill_posed_problems_are_called_so(name: str) -> None:
    """Not only that a tolerance is missed, which few functions do on their own."""
    line = judge(replace(KNOWN[name], budget=400))
    assert line.verdict == "told"
    assert "IllPosedWarning" in line.said.warnings


def test_names_differ() -> None:
    assert len(KNOWN) == len(CASES) >= 40


# The judge


def test_a_wrong_answer_is_seen() -> None:
    line = judge(replace(EASY, truth=lambda x: 1.01 * EASY.truth(x)))
    assert line.verdict == "silent"
    assert line.said.truth.l2 == pytest.approx(0.01 / 1.01, rel=1e-3)


def test_a_refusal_and_a_crash_are_told_apart() -> None:
    assert judge(replace(EASY, inputs={"f": np.nan, "g": 0.0})).promised == "refused: NonFiniteError (T)"

    def fails(x: object) -> object:
        raise ZeroDivisionError

    assert judge(replace(EASY, inputs={"f": fails, "g": 0.0})).verdict == "broken"


def line(case=EASY, truth=None, estimate=0.0, **said) -> Line:
    errors = None if truth is None else Errors(truth, truth)
    return Line(case, Said(met=True, truth=errors, estimate=Errors(estimate, estimate), **said))


def test_verdicts() -> None:
    tol = EASY.tol
    assert line(truth=9 * tol).verdict == "true"
    assert line(truth=11 * tol).verdict == "silent"
    assert line(truth=1e-3, estimate=2e-4).verdict == "estimated"
    assert line(truth=1e-3, estimate=9e-5).verdict == "silent"
    assert line(replace(EASY, blind=True), truth=1e-3, estimate=2e-4).verdict == "silent"
    assert line(truth=1e-3, warnings=["AccuracyWarning"]).verdict == "told"
    assert line(truth=1e-3, warnings=["RuntimeWarning"]).verdict == "silent"
    assert line(truth=1e-3, refusal="OperatorError").verdict == "told"
    assert line(truth=np.inf).verdict == "silent"
    assert line(ILL).verdict == "silent"
    assert line(ILL, warnings=["IllPosedWarning"]).verdict == "told"
    assert Line(EASY, Said(crash="KeyError (T)")).verdict == "broken"


def test_one_norm_is_enough() -> None:
    said = Said(met=True, truth=Errors(EASY.tol, 1.0), estimate=Errors(EASY.tol, EASY.tol))
    assert Line(EASY, said).verdict == "silent"


def test_summary() -> None:
    outside = replace(EASY, stated=False)
    unmet = Line(EASY, Said(met=False, truth=Errors(0.0, 0.0), warnings=["ToleranceWarning"]))
    found = Summary([line(truth=0.0), line(truth=1.0, estimate=1.0), line(outside, truth=1.0), unmet])
    assert (len(found.promises), len(found.kept), found.share) == (2, 1, 0.5)
    assert (len(found.having("silent")), found.unmet, found.needless) == (1, [unmet], [unmet])


# The true solutions


@pytest.mark.parametrize(
    "name",
    [
        "smooth: Airy",
        "local: source σ = 0.05",
        "layers: 2-D channel, Péclet 20",
        "layers: 2-D reaction, ε = 0.05",
        "corners: f = 1 on a strip 1:10",
        "corners: g = 1 on one side",
        "corners: g = 1 on half a circle",
        "corners: heat, cold walls",
        "corners: Dirichlet meets Neumann",
        "space–time: heat, a bump that spreads",
        "space–time: wave, speed 10, pulses",
        "1-D: pumped oscillator",
    ],
)
def test_truths_fit_the_conditions(name: str) -> None:
    assert all(np.max(found) < 1e-4 for found in misfits(KNOWN[name], 6).values())


def test_a_wrong_truth_does_not_fit() -> None:
    wrong = replace(EASY, truth=lambda x: EASY.truth(x) + 0.1 * x[..., 0] ** 2)
    assert all(np.max(found) > 1e-3 for found in misfits(wrong, 6).values())


@pytest.mark.parametrize(
    ("name", "a"),
    [
        ("1-D jump", coefficients.two_layers()[1]),
        ("1-D nearest neighbour", coefficients.nearest_plain),
        ("an image of 64 × 64 pixels", coefficients.image_plain),
    ],
)
def test_truths_where_coefficients_jump(name: str, a) -> None:
    """Finite volumes: the flux between two nodes is that of the coefficient between them."""
    n = 640
    nodes = np.arange(1, n) / n
    between = a((np.arange(n) + 0.5) / n) * n
    matrix = np.diag(between[:-1] + between[1:]) - np.diag(between[1:-1], 1) - np.diag(between[1:-1], -1)
    found = np.linalg.solve(matrix, np.full(n - 1, 1 / n))
    truth = KNOWN[f"coefficients: {name}"].truth(np.stack([nodes, nodes], axis=1))
    assert np.max(np.abs(found - truth)) < 1e-10 * np.max(truth)


def test_truth_around_a_disk_of_another_material() -> None:
    """The normal flux is the same on both sides of the circle, and so is u."""
    angle = np.linspace(0, 2 * np.pi, 50)
    normal = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    u = lambda radius: coefficients.around_inclusion(0.5 + radius * normal)
    step = 1e-6
    inner, outer = (u(0.3) - u(0.3 - step)) / step, (u(0.3 + step) - u(0.3)) / step
    np.testing.assert_allclose(20 * inner, outer, atol=1e-4)
