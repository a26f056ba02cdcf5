"""Heat and waves on parts of space, each with all times of a slab, beside exact solutions."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq

import kernop as ko
from kernop.collocation.cells.divisible import supported_pieces
from kernop.errors import AccuracyWarning, ArgumentError

KINK, FAST, SLOW = 0.4, 1.0, 0.1  # conductivities on either side


def layered(order):
    """u_t = (a u_x)_x on (0, 1) with u = 0 at the ends: e^(−λt) times an eigenfunction whose flux is continuous."""
    k, m = np.sqrt(1.0 / FAST), np.sqrt(1.0 / SLOW)

    def flux(root):
        one, other = k * root * KINK, m * root * (1.0 - KINK)
        return FAST * k * np.cos(one) * np.sin(other) + SLOW * m * np.sin(one) * np.cos(other)

    grid = np.linspace(0.1, 12.0, 4000)
    roots = [brentq(flux, a, b) for a, b in pairwise(grid) if flux(a) * flux(b) < 0.0]
    root = roots[order]

    def u(x):
        x = np.asarray(x)
        left = np.sin(k * root * x[..., 0]) * np.sin(m * root * (1.0 - KINK))
        right = np.sin(m * root * (1.0 - x[..., 0])) * np.sin(k * root * KINK)
        return np.exp(-(root**2) * x[..., 1]) * np.where(x[..., 0] <= KINK, left, right)

    return u


def rod(duration=0.1, lasting=1e3):
    slab = ko.SpaceTime(ko.Interval(0.0, 1.0), (0.0, duration))
    halves = {ko.Interval(0.0, KINK): FAST, ko.Interval(KINK, 1.0): SLOW}
    a = ko.Piecewise({ko.SpaceTime(own, (0.0, lasting)): value for own, value in halves.items()}, otherwise=1.0)
    return slab, ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.div(a * ko.grad(u)), on=slab, name="f"),
        ko.Dirichlet(on=slab.walls, name="g"),
        ko.Initial(on=slab.initial, name="u0"),
    )


@pytest.fixture(scope="module")
def heat():
    _, problem = rod()
    return ko.learn(problem, method=ko.Partition(cells=2, degree=14))


def test_heat_in_two_materials(heat, tmp_path):
    exact = layered(1)
    x = heat.problem["f"].on.sample(500).x
    u = heat(0.0, 0.0, exact)
    assert np.max(np.abs(u(x) - exact(x))) < 1e-11
    both = np.stack([exact(heat.points["u0"].x), 2.0 * layered(0)(heat.points["u0"].x)], axis=1)
    batch = heat.on(x)(0.0, 0.0, both)
    np.testing.assert_allclose(batch, np.stack([exact(x), 2.0 * layered(0)(x)], axis=1), atol=1e-10)
    flux = FAST * u.grad([[KINK - 1e-9, 0.05]])[0, 0] / (SLOW * u.grad([[KINK + 1e-9, 0.05]])[0, 0])
    assert flux == pytest.approx(1.0, abs=1e-6)
    estimate = u.error_estimate().relative_linf
    truth = np.max(np.abs(u(x) - exact(x))) / np.max(np.abs(exact(x)))
    assert truth < estimate < 1e-9
    heat.save(tmp_path / "rod.kernop")
    assert np.array_equal(ko.load(tmp_path / "rod.kernop")(0.0, 0.0, exact)(x), u(x))


def test_slabs_of_heat_follow_each_other(heat):
    exact = layered(1)
    u = heat.march(5, f=0.0, g=0.0, u0=exact)
    x = heat.problem["f"].on.sample(500).x * [1.0, 5.0]
    assert np.max(np.abs(u(x) - exact(x))) < 1e-11
    assert u.spectral_radius < 1.001


def test_cells_are_chosen_for_two_materials():
    slab, problem = rod()
    exact, x = layered(1), slab.sample(200).x
    u = ko.learn(problem, method=ko.Partition())(0.0, 0.0, exact)
    assert np.max(np.abs(u(x) - exact(x))) < 1e-10


def test_one_space_marches_through_two_materials():
    """Their surface is no slice of time, though the pieces have a beginning and an end."""
    slab, problem = rod()
    exact = layered(1)
    u = ko.learn(problem, points=900, method=ko.Subspace(300)).march(5, f=0.0, g=0.0, u0=exact)
    x = slab.sample(500).x * [1.0, 5.0]
    truth = np.max(np.abs(u(x) - exact(x))) / np.max(np.abs(exact(x)))
    assert truth < u.error_estimate().relative_linf < 1e-6


def changing(region, op=lambda u, a: ko.dt(u) - ko.div(a * ko.grad(u))):
    """Heat that is led by FAST in a region of space and time, and by SLOW elsewhere."""
    slab, a = ko.SpaceTime(ko.Interval(0.0, 1.0), (0.0, 0.1)), ko.Piecewise({region: FAST}, otherwise=SLOW)
    walls, start = ko.Dirichlet(on=slab.walls, name="g"), ko.Initial(on=slab.initial, name="u0")
    return ko.Problem(ko.Equation(lambda u: op(u, a), on=slab, name="f"), walls, start)


def test_a_surface_that_ends_in_a_slab_is_learned_and_not_repeated():
    """By itself learn takes one space for it, whatever parts could not do."""
    problem = changing(ko.SpaceTime(ko.Interval(0.0, KINK), (0.0, 0.05)))
    assert isinstance(supported_pieces(problem), str)
    T = ko.learn(problem, points=300, method=ko.Subspace(100))
    with pytest.raises(ArgumentError, match="surface that does not stand still"):
        T.march(2, f=0.0, g=0.0, u0=0.0)


def test_what_changes_at_a_time():
    region = ko.SpaceTime(ko.Interval(0.0, 1.0), (0.0, 0.05))
    with pytest.raises(ArgumentError, match="one problem until then, and one from there"):
        ko.learn(changing(region))
    learned = ko.learn(changing(region, lambda u, a: ko.dt(u) - a * ko.laplacian(u)))
    assert isinstance(learned.method, ko.Subspace)


def test_data_that_do_not_fit_at_the_beginning_are_told(heat):
    with pytest.warns(AccuracyWarning, match="of the data unsatisfied"):
        u = heat(0.0, 0.0, 1.0)
    assert u.misfit > 1e-2


def test_a_pulse_is_reflected_and_passes():
    c, other, width = 1.0, 0.5, 0.2
    back, through = (c - other) / (c + other), 2.0 * c / (c + other)

    def pulse(s, order):
        found = np.exp(-(((s - 0.1) / width) ** 2))
        return 2.0 * c * (s - 0.1) / width**2 * found if order else found  # ∂/∂t of pulse(s − c t)

    def exact(x, order=0):
        s, late = x[..., 0], c * x[..., 1]
        left = pulse(s - late, order) + back * pulse(1.0 - s - late, order)
        return np.where(s <= 0.5, left, through * pulse(0.5 + (s - 0.5) * c / other - late, order))

    slab = ko.SpaceTime(ko.Interval(0.0, 1.0), (0.0, 0.1))
    halves = {ko.Interval(0.0, 0.5): c**2, ko.Interval(0.5, 1.0): other**2}
    a = ko.Piecewise({ko.SpaceTime(own, (0.0, 9.0)): value for own, value in halves.items()})
    problem = ko.Problem(
        ko.Equation(lambda u: ko.dt(u, 2) - ko.div(a * ko.grad(u)), on=slab, name="f", data=0.0),
        ko.Dirichlet(on=slab.walls, name="g"),
        ko.Initial(on=slab.initial, name="u0"),
        ko.Initial(on=slab.initial, name="v0", order=1),
    )
    T = ko.learn(problem, method=ko.Partition(cells=4, degree=14))
    u = T.march(6, g=exact, u0=exact, v0=lambda x: exact(x, 1))
    x = slab.sample(600).x * [1.0, 6.0]
    assert np.max(np.abs(u(x) - exact(x))) < 2e-5


def corner(x):
    """e^(−t) r^⅔ sin(2θ/3) around the re-entrant corner of an L."""
    x = np.asarray(x)
    angle = np.arctan2(x[..., 1], x[..., 0])
    angle = np.where(angle < -1e-9, angle + 2.0 * np.pi, angle)
    return np.exp(-x[..., 2]) * np.hypot(x[..., 0], x[..., 1]) ** (2 / 3) * np.sin(2.0 * angle / 3.0)


def plate(space, duration=0.1):
    slab = ko.SpaceTime(space, (0.0, duration))
    return slab, ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=slab, name="f"),
        ko.Dirichlet(on=slab.walls, name="g"),
        ko.Initial(on=slab.initial, name="u0"),
    )


def test_heat_at_a_re_entrant_corner():
    slab, problem = plate(ko.Polygon([(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)]))
    T = ko.learn(problem, method=ko.Partition(cells=2, degree=6, levels=6))
    x = slab.sample(500).x
    error = np.abs(T(lambda x: -corner(x), corner, corner)(x) - corner(x))
    assert np.max(error) < 2e-3
    assert np.sqrt(np.mean(error**2)) < 2e-4


def test_heat_in_a_disk_of_cut_cells():
    slab, problem = plate(ko.Ball([0.0, 0.0], 1.0))

    def exact(x):
        return np.exp(-x[..., 2]) * np.sin(x[..., 0] + 0.5 * x[..., 1])

    T = ko.learn(problem, method=ko.Partition(cells=2, degree=8))
    u = T(lambda x: 0.25 * exact(x), exact, exact)
    x = slab.sample(300).x
    assert np.max(np.abs(u(x) - exact(x))) < 1e-6


def refused(problem, match):
    with pytest.raises(ArgumentError, match=match):
        ko.learn(problem, method=ko.Partition(cells=2, degree=6))


def test_what_has_no_parts_in_time_is_refused_by_name():
    slab, _ = rod()
    walls, start = ko.Dirichlet(on=slab.walls, name="g"), ko.Initial(on=slab.initial, name="u0")

    def stated(op, *more):
        return ko.Problem(ko.Equation(op, on=slab, name="f"), walls, *(more or (start,)))

    refused(stated(lambda u: ko.dt(u) + ko.laplacian(u)), "forward in time")
    refused(stated(lambda u: ko.dt(u, 2) + ko.laplacian(u)), "forward in time")
    refused(stated(lambda u: ko.dt(u) - ko.laplacian(u) + ko.dt(ko.partial(u, 0))), "∂²u/∂x∂t")
    refused(stated(lambda u: ko.dt(u) + ko.laplacian(ko.laplacian(u))), "plates")
    refused(stated(lambda u: ko.dt(u) - ko.laplacian(u), start, ko.Dirichlet(on=slab.final, name="end")), "final time")
    brief = changing(ko.SpaceTime(ko.Interval(0.0, KINK), (0.0, 0.05)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused(brief, "not at all times")
