"""Operators made of parts on bodies with re-entrant edges: solutions that are known, with u like r^(2/3) there."""

import numpy as np
import pytest

import kernop as ko
from kernop.learning.parts.choosing import singular

BEAM = ko.Box([-1.0, -1.0, 0.0], [1.0, 1.0, 1.0]) - ko.Box([0.0, 0.0, -1.0], [2.0, 2.0, 2.0])
#: u(−½, −½) of −Δu = 1 on the L-shape, u = 0 on its boundary.
L_SHAPE = 0.13105296203


def edge(x):
    """r^(2/3) sin(2θ/3), which is 0 on both sides of the re-entrant edge, times cos z; −Δu = u."""
    angle = np.mod(np.arctan2(x[..., 1], x[..., 0]) - 0.5 * np.pi, 2.0 * np.pi)
    return np.hypot(x[..., 0], x[..., 1]) ** (2.0 / 3.0) * np.sin(2.0 * angle / 3.0) * np.cos(x[..., 2])


def poisson(*conditions):
    return ko.Problem(ko.Equation(lambda v: -ko.laplacian(v), on=BEAM, name="f"), *conditions)


def error(T):
    x = BEAM.sample(500).x
    x = x[np.hypot(x[:, 0], x[:, 1]) > 0.05]
    return float(np.max(np.abs(T(edge, edge)(x) - edge(x))))


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_parts_are_graded_to_a_re_entrant_edge():
    """Errors fall like 2^(−4k/3) with the number k of levels."""
    problem = poisson(ko.Dirichlet(BEAM.boundary, "g"))
    errors = [error(ko.learn(problem, method=ko.Partition(cells=2, degree=5, levels=k))) for k in (0, 3, 5)]
    assert errors[1] < 0.3 * errors[0]
    assert errors[2] < 0.3 * errors[1]
    assert errors[2] < 5e-4


def insulated():
    """A beam with values given on its sides and slopes on its ends: −Δu = 1 then is that of the L-shape."""
    ends = BEAM.boundary.where(lambda x: (x[..., 2] < 1e-9) | (x[..., 2] > 1.0 - 1e-9))
    sides = BEAM.boundary.where(lambda x: (x[..., 2] > 1e-9) & (x[..., 2] < 1.0 - 1e-9))
    return poisson(ko.Dirichlet(sides, "g"), ko.Neumann(ends, "q"))


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize(
    ("given", "off"),
    [
        ({"method": ko.Partition(cells=2, degree=5, levels=5)}, 1e-3),
        ({"method": ko.Partition(degree=5), "tol": 2e-2, "inputs": [(1.0, 0.0, 0.0)]}, 2e-2),
    ],
)
def test_a_beam_with_insulated_ends_is_the_l_shape(given, off):
    T = ko.learn(insulated(), **given)
    values = T(1.0, 0.0, 0.0)(np.array([[-0.5, -0.5, 0.3], [-0.5, -0.5, 0.8]]))
    assert T.report is None or T.report.met
    assert np.allclose(values, L_SHAPE, rtol=off)


def test_re_entrant_edges_are_a_reason_for_parts():
    assert singular(poisson(ko.Dirichlet(BEAM.boundary, "g")), 1.0) == "u is like r^0.67 at re-entrant edges"
