"""Problems on a slab of time: what each slab is given, what it hands on, and what cannot be repeated."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, ShapeError
from kernop.collocation.ansatz import Ansatz, collocate
from kernop.collocation.functionals import Layout
from kernop.collocation.slabs import (
    Later,
    by_slab,
    check_determined,
    check_repeatable,
    data_of_slabs,
    slab_numbers,
    slab_of,
)

SPACE, TIMES = ko.Interval(0.0, 1.0), (1.0, 1.5)
D = ko.SpaceTime(SPACE, TIMES)
WALLS, START = ko.Dirichlet(on=D.walls, name="g"), ko.Initial(on=D.initial, name="u0")
VELOCITY = ko.Initial(on=D.initial, name="v0", order=1)


def equation(op, on=D):
    return ko.Equation(op, on=on, name="f")


def heat(u):
    return ko.dt(u) - ko.laplacian(u)


def wave(u):
    return ko.dt(u, 2) - ko.laplacian(u)


HEAT, WAVE = ko.Problem(equation(heat), WALLS, START), ko.Problem(equation(wave), WALLS, START, VELOCITY)


def points(problem, number=5):
    return {c.name: c.on.sample(number) for c in problem.conditions}


def layouts(problem):
    return {name: Layout() for name in problem.names}


class TestSlabOf:
    def test_times_and_conditions_at_the_beginning(self):
        slab = slab_of(WAVE)
        assert slab.times == TIMES
        assert slab.duration == 0.5
        assert slab.initial == ("u0", "v0")
        assert [c.name for c in slab.conditions] == ["u0", "v0"]

    def test_parts_of_parts_of_walls(self):
        part = D.walls.where(lambda x: x[..., 0] < 0.5).where(lambda x: x[..., 0] < 0.4)
        assert slab_of(ko.Problem(equation(heat), ko.Dirichlet(on=part, name="g"), START)).initial == ("u0",)

    @pytest.mark.parametrize(
        ("conditions", "said"),
        [
            ((ko.Equation(lambda u: -ko.laplacian(u), on=SPACE, name="f"),), "SpaceTime"),
            ((equation(heat), WALLS), "without a condition on .initial"),
            ((equation(heat), ko.Dirichlet(on=D.boundary, name="g")), "'g' at the final time"),
            ((equation(heat), START, ko.Dirichlet(on=D.final, name="end")), "'end' at the final time"),
            ((equation(heat, ko.SpaceTime(SPACE, (0.0, 1.0))), START), "different times"),
        ],
    )
    def test_refusals(self, conditions, said):
        with pytest.raises(ArgumentError, match=said):
            slab_of(ko.Problem(*conditions))


class TestHandedOn:
    def test_the_same_functionals_at_the_end(self):
        """Of u = sin(2 x + 3 t): the values at the beginning, and the velocities, half a unit of time later."""
        slab, placed, ansatz = slab_of(WAVE), points(WAVE), Ansatz(WAVE.unknowns)
        found = slab.handed(placed, ansatz)
        x = [np.column_stack([placed[name].x[:, 0], np.full(5, 1.5)]) for name in ("u0", "v0")]
        derivatives = {(0, 0): np.sin, (0, 1): lambda s: 3.0 * np.cos(s)}
        values = [
            sum(
                derivatives[alpha](2.0 * b.x[:, 0] + 3.0 * b.x[:, 1]) * b.coefficients[:, i]
                for i, (_, alpha) in enumerate(b.terms)
            )
            for b in found.blocks
        ]
        np.testing.assert_allclose(values[0], np.sin(2.0 * x[0][:, 0] + 4.5), atol=1e-14)
        np.testing.assert_allclose(values[1], 3.0 * np.cos(2.0 * x[1][:, 0] + 4.5), atol=1e-14)

    def test_rows_of_the_state(self):
        placed = {"f": D.sample(4), "g": D.walls.sample(3), "u0": D.initial.sample(2), "v0": D.initial.sample(5)}
        rows = slab_of(WAVE).rows(collocate(WAVE, placed, Ansatz(WAVE.unknowns)))
        assert rows.tolist() == list(range(7, 14))


class TestRepeatable:
    def test_determined_by_as_many_conditions_as_derivatives(self):
        for problem in (HEAT, WAVE):
            check_determined(slab_of(problem), collocate(problem, points(problem), Ansatz(problem.unknowns)))
        short = ko.Problem(equation(wave), WALLS, START)
        with pytest.raises(ArgumentError, match="order 2 in time with 1"):
            check_determined(slab_of(short), collocate(short, points(short), Ansatz(short.unknowns)))

    @pytest.mark.parametrize("coefficient", [lambda x: 1.0 + x[..., 0], lambda x: jnp.cos(4.0 * jnp.pi * x[..., 1])])
    def test_coefficients_that_are_the_same_in_all_slabs(self, coefficient):
        problem = ko.Problem(equation(lambda u: ko.dt(u) + coefficient * u), WALLS, START)
        check_repeatable(slab_of(problem), points(problem), Ansatz(problem.unknowns), 7)

    @pytest.mark.parametrize("coefficient", [lambda x: x[..., 1], lambda x: jnp.where(x[..., 1] > 3.4, 2.0, 1.0)])
    def test_coefficients_that_are_not(self, coefficient):
        problem = ko.Problem(equation(lambda u: ko.dt(u) + coefficient * u), WALLS, START)
        with pytest.raises(ArgumentError, match="'f' that depend on time"):
            check_repeatable(slab_of(problem), points(problem), Ansatz(problem.unknowns), 7)

    def test_a_region_that_changes(self):
        moving = ko.Dirichlet(on=D.walls.where(lambda x: x[..., 1] < 1.2), name="g")
        problem = ko.Problem(equation(heat), moving, START)
        with pytest.raises(ArgumentError, match="'g' that depends on time"):
            check_repeatable(slab_of(problem), points(problem), Ansatz(problem.unknowns), 2)


class TestData:
    def test_functions_of_the_time_of_all_slabs(self):
        f = lambda x: 10.0 * x[..., 0] + x[..., 1]
        found = by_slab(slab_of(HEAT), {"f": f, "g": 2.0, "u0": f}, points(HEAT), layouts(HEAT), 3)
        x = np.array([[0.1, 1.2], [0.7, 1.5]])
        for k, own in enumerate(found):
            np.testing.assert_allclose(own["f"](x), f(x) + 0.5 * k, atol=1e-14)
            assert own["g"] == 2.0
        assert found[0]["u0"] is f
        assert all("u0" not in own for own in found[1:])

    def test_arrays_for_each_slab(self):
        values = np.arange(15.0).reshape(3, 5)
        found = by_slab(slab_of(HEAT), {"f": values, "g": 0.0, "u0": 0.0}, points(HEAT), layouts(HEAT), 3)
        np.testing.assert_array_equal([own["f"] for own in found], values)
        for wrong in (values[:2], values[:, :4], values[0], values[:, :, None, None]):
            with pytest.raises(ShapeError, match=r"\(3, 5\)"):
                by_slab(slab_of(HEAT), {"f": wrong, "g": 0.0, "u0": 0.0}, points(HEAT), layouts(HEAT), 3)

    def test_rows_of_all_slabs(self):
        slab, placed = slab_of(HEAT), points(HEAT)
        inputs = by_slab(
            slab, {"f": lambda x: x[..., 1], "g": 7.0, "u0": np.arange(10.0).reshape(5, 2)}, placed, layouts(HEAT), 3
        )
        rows, single, paired = data_of_slabs(slab, inputs, placed, (Layout(),) * 3)
        assert rows.shape == (15, 3, 2)
        assert not single
        assert not paired
        for k in range(3):
            np.testing.assert_allclose(rows[:5, k], np.tile(placed["f"].x[:, 1:] + 0.5 * k, 2), atol=1e-14)
        assert np.all(rows[5:10] == 7.0)
        np.testing.assert_array_equal(rows[10:, 0], np.arange(10.0).reshape(5, 2))
        assert np.all(rows[10:, 1:] == 0.0)  # the solution before hands them on

    def test_complex_data_are_pairs(self):
        slab, placed = slab_of(HEAT), points(HEAT)
        inputs = by_slab(slab, {"f": 1.0 + 2.0j, "g": 0.0, "u0": 0.0}, placed, layouts(HEAT), 2)
        rows, single, paired = data_of_slabs(slab, inputs, placed, (Layout(),) * 3)
        assert single
        assert paired
        assert rows.shape == (15, 2, 2)
        assert np.all(rows[:5] == [1.0, 2.0])

    def test_batches_of_different_widths(self):
        inputs = [{"f": np.ones((5, width)), "g": 0.0, "u0": 0.0} for width in (2, 3)]
        with pytest.raises(ShapeError, match="batches of 2 and 3"):
            data_of_slabs(slab_of(HEAT), inputs, points(HEAT), (Layout(),) * 3)


def test_later():
    x = np.array([[0.3, 1.0], [0.4, 2.0]])
    np.testing.assert_allclose(Later(lambda y: y[..., 0] * y[..., 1], 0.25)(x), [0.3 * 1.25, 0.4 * 2.25])


def test_numbers_of_slabs():
    """Where two meet, the later one; outside of all, the nearest."""
    times = np.array([0.9, 1.0, 1.2, 1.5 - 1e-13, 1.5, 1.75, 2.0, 2.4, 2.5, 2.6])
    numbers, own, inside = slab_numbers(times, slab_of(HEAT), 3)
    assert numbers.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    assert inside.tolist() == [False, *[True] * 8, False]
    np.testing.assert_allclose(own, [0.9, 1.0, 1.2, 1.0, 1.0, 1.25, 1.0, 1.4, 1.5, 1.6], atol=1e-12)
