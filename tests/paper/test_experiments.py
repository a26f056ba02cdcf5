"""The paper's experiments at reduced size: errors of its estimator are like the paper's, ours far below."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from kernop.geometry import Points
from kernop.language.ops import apply_operator, itself
from kernop.paper import darcy, heat, helmholtz, measure, schrodinger
from kernop.paper.experiment import random_nets
from kernop.paper.heat import heat_modes
from kernop.paper.helmholtz import helmholtz_waves
from kernop.paper.schrodinger import schrodinger_modes

CASES = {
    "Darcy a2": (darcy("a2", nets=5), {"f": 500, "g": 300}, 5e-2, 1e-7),
    "Darcy a3": (darcy("a3", nets=5), {"f": 500, "g": 300}, 5e-2, 1e-7),
    "Helmholtz 20": (helmholtz(20, count=5), {"f": 200, "g": 2}, 1e-2, 1e-8),
    "Helmholtz 200": (helmholtz(200, count=5), {"f": 500, "g": 2}, 1e-1, 1e-6),
    "heat": (heat(), {"f": 600, "g": 200, "u0": 200}, 1e-1, 1e-4),
}


@pytest.mark.parametrize("name", CASES)
def test_reduced_experiment(name):
    experiment, points, paper_error, our_error = CASES[name]
    experiment = dataclasses.replace(experiment, points=points, grid=experiment.grid[::7])
    assert measure(experiment, experiment.learn_as_paper()).mean_l2 < paper_error
    assert measure(experiment, experiment.learn_by_default()).mean_l2 < our_error


def test_schrodinger_data_is_exact():
    """At one point and one mode, against the formula differentiated by finite differences."""
    experiment = schrodinger()
    x = np.array([[0.11, 0.62], [0.5, 0.5]])
    h = 1e-4

    def u(y):
        return apply_operator(itself, schrodinger_modes, Points(y))

    steps = h * np.eye(2)
    laplacian = sum(u(x + s) + u(x - s) - 2 * u(x) for s in steps) / h**2
    barrier = np.array([[0.0], [1000.0]])
    f = apply_operator(experiment.problem["f"].op, schrodinger_modes, Points(x, timed=False))
    np.testing.assert_allclose(f, -laplacian + barrier * u(x), atol=1e-3)


def test_families_satisfy_their_boundary_conditions():
    edge = Points(np.array([[0.0, 0.3], [1.0, 0.7], [0.2, 0.0], [0.9, 1.0]]))
    np.testing.assert_allclose(apply_operator(itself, schrodinger_modes, edge), 0, atol=1e-14)
    np.testing.assert_allclose(apply_operator(itself, heat_modes, edge[:2]), 0, atol=1e-14)
    ends = Points(np.array([[0.0], [1.0]]))
    np.testing.assert_allclose(
        apply_operator(itself, helmholtz_waves(20.0), ends), [[-0.1] * 100, [0.1] * 100], atol=1e-14
    )


def test_random_nets_are_seeded_and_differ():
    x = jnp.linspace(0, 1, 7)[:, None]
    a, b, c = random_nets(3, 1, seed=0)(x), random_nets(3, 1, seed=0)(x), random_nets(3, 1, seed=1)(x)
    assert a.shape == (7, 3)
    np.testing.assert_array_equal(a, b)
    assert not np.allclose(a, c)
    assert not np.allclose(a[:, 0], a[:, 1])


def test_the_papers_figures_are_stated():
    assert darcy("a2").paper.l2 == 4.454e-3
    assert heat().points == {"f": 1800, "g": 1800, "u0": 1400}
    assert helmholtz(200).lengthscale == 0.01
    assert schrodinger().regularization == 3e-3
