"""One learned step again and again, against calls of T one after the other, closed forms and dense linear algebra."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.slabs import slab_of
from kernop.collocation.units import frame_of
from kernop.methods.repeated import Repetition, norm, step_map

PI, DURATION = np.pi, 0.3
D = ko.SpaceTime(ko.Interval(0.0, 1.0), (0.0, DURATION))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def heat():
    return ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - 0.1 * ko.laplacian(u), on=D, name="f"),
        ko.Dirichlet(on=D.walls, name="g"),
        ko.Initial(on=D.initial, name="u0"),
    )


def wave():
    return ko.Problem(
        ko.Equation(lambda u: ko.dt(u, 2) - ko.laplacian(u), on=D, name="f"),
        ko.Dirichlet(on=D.walls, name="g"),
        ko.Initial(on=D.initial, name="u0"),
        ko.Initial(on=D.initial, name="v0", order=1),
    )


@cache
def learned(make, centres, points):
    T = ko.learn(make(), points=points, method=ko.Subspace(centres))
    slab, rows = slab_of(T.problem), T.collocated
    final = slab.handed(T.points, T.ansatz)
    return T, step_map(T.factorisation, rows, slab.rows(rows), final, frame_of(T.problem))


def at_end(T):
    """The points of the initial condition, one slab later."""
    x = np.array(T.points["u0"].x)
    x[:, 1] = DURATION
    return x


def columns(T, width, rng):
    """Data of all conditions as T takes them, and as the rows of one matrix."""
    own = {name: rng.standard_normal((len(points), width)) for name, points in T.points.items()}
    return own, np.concatenate(list(own.values()))


class TestStep:
    def test_hands_on_what_the_solution_is_at_the_end(self, rng):
        T, step = learned(heat, 80, 300)
        given, h = columns(T, 3, rng)
        expected = T.answer(given)(at_end(T))
        np.testing.assert_allclose(step.carry @ h, expected, atol=1e-9 * np.abs(expected).max())

    def test_hands_on_velocities_too(self, rng):
        T, step = learned(wave, 80, 300)
        given, h = columns(T, 2, rng)
        u = T.answer(given)
        x = np.array(T.points["v0"].x)
        x[:, 1] = DURATION
        expected = np.concatenate([u(at_end(T)), u.grad(x)[:, 1]])
        np.testing.assert_allclose(step.carry @ h, expected, atol=1e-9 * np.abs(expected).max())

    def test_the_slowest_mode_decays_as_the_equation_says(self):
        _, step = learned(heat, 80, 300)
        values = np.sort(np.abs(np.linalg.eigvals(step.map)))[::-1]
        expected = np.exp(-0.1 * (PI * np.arange(1, 4)) ** 2 * DURATION)
        np.testing.assert_allclose(values[:3], expected, rtol=1e-3)

    def test_smooth_states_are_likely_and_others_are_not(self, rng):
        T, step = learned(heat, 80, 300)
        x = T.points["u0"].x[:, 0]
        smooth, rough = np.sin(PI * x)[:, None], rng.standard_normal((len(x), 1))
        size = [
            np.linalg.norm(step.unlikely(step.roots[:, None] * v)) / np.linalg.norm(step.roots[:, None] * v)
            for v in (smooth, rough)
        ]
        assert size[0] < 1e-3
        assert 0.1 < size[1] <= 1.0


class TestRepetition:
    def test_marches_as_calls_one_after_the_other(self, rng):
        T, step = learned(heat, 80, 300)
        steps, (given, first) = 5, columns(T, 2, rng)
        data, handed = np.zeros((len(first), steps, 2)), None
        expected = np.zeros_like(data)
        for k in range(steps):
            data[:, k] = first * np.cos(k)
            if k:
                data[step.rows, k] = 0.0
            own = {name: np.cos(k) * values for name, values in given.items()}
            own["u0"] = own["u0"] if k == 0 else handed
            expected[:, k] = np.concatenate(list(own.values()))
            handed = T.answer(own)(at_end(T))
        whole, states = step.over(steps).march(data)
        np.testing.assert_allclose(whole, expected, atol=1e-9 * np.abs(expected).max())
        assert np.all(states[:, 0] == 0.0)
        np.testing.assert_allclose(states[:, 1:], expected[step.rows, 1:], atol=1e-9 * np.abs(expected).max())

    def test_takes_out_modes_that_grow_and_leaves_the_others(self, rng):
        """M = P Λ P⁻¹ with one mode that grows: Π M has the other eigenvalues, and 0."""
        p, values = rng.standard_normal((6, 6)), np.array([1.8, 0.9, -0.7, 0.5, 0.2, 0.1])
        own = p @ np.diag(values) @ np.linalg.inv(p)
        modes = p[:, :1] / np.linalg.norm(p[:, 0])
        dual = rng.standard_normal((6, 1))
        dual /= modes.T @ dual
        roots = rng.uniform(0.5, 2.0, 6)
        repetition = Repetition(SimpleNamespace(map=own, roots=roots), 4, modes, dual)
        assert repetition.removed == 1
        assert repetition.radius == pytest.approx(0.9, rel=1e-10)
        found = np.sort(np.abs(np.linalg.eigvals(repetition.map)))
        np.testing.assert_allclose(found, np.sort(np.abs([0.0, *values[1:]])), atol=1e-10)
        powers = [np.linalg.norm(np.linalg.matrix_power(repetition.map, k), 2) for k in range(5)]
        np.testing.assert_allclose(repetition.powers, powers, rtol=1e-10)
        states = rng.standard_normal((6, 3))
        once = repetition.filtered(states)
        np.testing.assert_allclose(repetition.filtered(once), once, atol=1e-12)
        np.testing.assert_allclose(repetition.filtered(modes / roots[:, None]), 0.0, atol=1e-12)

    def test_nothing_is_taken_out_of_a_map_that_decays(self, rng):
        _, step = learned(heat, 80, 300)
        states = rng.standard_normal((len(step.rows), 2))
        assert step.over(1000).removed == 0
        assert step.over(1000).filtered(states) is states

    def test_what_few_points_leave_unresolved(self):
        _, step = learned(wave, 300, 600)
        repetition = step.over(200)
        assert np.max(np.abs(np.linalg.eigvals(step.map))) ** 200 > 10.0
        assert repetition.removed > 0
        np.testing.assert_allclose(repetition.modes.T @ repetition.modes, np.eye(repetition.removed), atol=1e-10)
        np.testing.assert_allclose(repetition.dual.T @ repetition.modes, np.eye(repetition.removed), atol=1e-8)
        assert repetition.radius**200 <= 10.0


@pytest.mark.parametrize("shape", [(40, 30), (300, 200)])
def test_norm_is_the_largest_singular_value(shape, rng):
    a = rng.standard_normal(shape) * np.geomspace(1.0, 1e-3, shape[1])
    truth = np.linalg.svd(a, compute_uv=False)[0]
    assert 0.98 * truth < norm(a) < (1.0 + 1e-12) * truth  # from below, by power iteration
    assert norm(0.0 * a) == 0.0
