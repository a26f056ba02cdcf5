"""Flows that dominate: which of them determine u is known from where their stream lines come from."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.ansatz import normal_form
from kernop.collocation.functionals import Functionals
from kernop.trust.flows import diffused, extrapolated

LINE, SQUARE = ko.Interval(-1, 1), ko.Box([-1, -1], [1, 1])


def along(k, sign=1.0):
    return lambda x: sign * x[..., k]


def flow(domain, epsilon, *velocity, reaction=0.0):
    """−ε Δu + b·∇u + c u = f, with values on the whole boundary."""

    def op(u):
        carried = sum(b * ko.partial(u, k) for k, b in enumerate(velocity))
        return -epsilon * ko.laplacian(u) + carried + reaction * u

    return ko.Problem(ko.Equation(op, on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g"))


def rows_of(problem):
    return Functionals((normal_form(problem["f"].op, problem["f"].on.sample(50), name="f"),))


@pytest.mark.parametrize("epsilon", [5e-3, 1e-3, 1e-5])
def test_a_flow_away_from_a_turning_point_is_told(epsilon):
    """The solution of εu″ = x u′ with u(±1) = 2 ± 1 is 2 but for its layers: what is computed is not."""
    with pytest.warns(ko.IllPosedWarning, match="flow leaves the domain on all sides|nearly constant"):
        T = ko.learn(flow(LINE, epsilon, along(0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        u = T(0.0, lambda x: 2.0 + x[..., 0])
    assert abs(float(u([[0.5]])[0]) - 2.0) > 0.05  # the warning is no false alarm


def test_so_is_one_out_of_a_square():
    with pytest.warns(ko.IllPosedWarning, match="flow leaves the domain on all sides"):
        ko.learn(flow(SQUARE, 1e-2, along(0), along(1)), method=ko.Subspace(100))


@pytest.mark.parametrize("epsilon", [1e-2, 1e-5])
@pytest.mark.parametrize(
    ("domain", "velocity", "reaction"),
    [
        (LINE, (1.0,), 0.0),
        (LINE, (along(0, -1.0),), 0.0),  # into a turning point: both ends are upstream
        (LINE, (along(0),), 1.0),  # u ≤ max |f| / c, whatever the flow
        (SQUARE, (1.0, 0.5), 0.0),
        (SQUARE, (along(0), along(1, -1.0)), 0.0),  # past a stagnation point
    ],
    ids=["constant", "inward", "reaction", "oblique", "stagnation"],
)
def test_flows_from_the_boundary_determine_u(domain, velocity, reaction, epsilon):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ko.IllPosedWarning)
        T = ko.learn(flow(domain, epsilon, *velocity, reaction=reaction), method=ko.Subspace(60))
    assert T.stability < 10.0


def test_diffusion_is_what_the_spacing_resolves():
    """|b| h / ε = 2 along the axis where that is largest: 3 · 0.1 / ε against 1 · 0.4 / ε."""
    rows, factor = diffused(rows_of(flow(SQUARE, 1e-3, 3.0, -1.0)), np.array([0.1, 0.4]))
    assert factor == pytest.approx(200.0)
    terms = dict(zip(rows.blocks[0].alphas, rows.blocks[0].coefficients[0], strict=True))
    assert terms == pytest.approx({(0, 1): -1.0, (0, 2): -0.2, (1, 0): 3.0, (2, 0): -0.2})


@pytest.mark.parametrize(
    ("op", "domain"),
    [
        (lambda u: -ko.laplacian(u) + 3.0 * ko.partial(u, 0), SQUARE),  # resolved
        (lambda u: ko.dt(u) - 1e-6 * ko.laplacian(u), ko.SpaceTime(LINE, (0, 1))),
        (lambda u: -1e-6 * ko.laplacian(u) + ko.partial(u, 0) - 1e3 * u, SQUARE),  # waves
        (lambda u: ko.partial(u, 0, 2) - ko.partial(u, 1, 2) + 1e6 * ko.partial(u, 0), SQUARE),
    ],
    ids=["resolved", "in time", "waves", "not elliptic"],
)
def test_others_are_left_alone(op, domain):
    rows = rows_of(ko.Problem(ko.Equation(op, on=domain, name="f"), ko.Dirichlet(on=domain)))
    found, factor = diffused(rows, np.full(2, 0.1))
    assert factor == 1.0
    assert np.array_equal(found.blocks[0].coefficients, rows.blocks[0].coefficients)


def test_what_is_like_an_exponential_is_continued():
    numbers = [3.0 * np.exp(0.4 / epsilon) for epsilon in (0.1, 0.05, 0.01)]
    assert extrapolated(numbers[0], numbers[1], 2.0, 10.0) == pytest.approx(numbers[2])


def test_what_is_like_a_power_is_not():
    assert extrapolated(10.0, 20.0, 2.0, 1e6) == 20.0
