"""Periodic conditions: closed forms on a line, in the plane, in space and time; every method; what does not match."""

import warnings

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.ansatz import PLAIN, condition_functionals

LINE, SQUARE = ko.Interval(0, 2), ko.Box([0, 0], [1, 1])
CYLINDER = ko.SpaceTime(ko.Interval(0, 1), (0, 0.5))
K = 2 * np.pi


def ring(op, **more):
    return ko.Problem(ko.Equation(op, on=LINE, name="f"), ko.Periodic(LINE.face("left"), LINE.face("right"), **more))


def channel(**more):
    """Flow along x through a channel that closes upon itself."""
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) + 3 * ko.partial(u, 0), on=SQUARE, name="f"),
        ko.Periodic(SQUARE.face("left"), SQUARE.face("right"), **more),
        ko.Dirichlet(SQUARE.face("bottom", "top"), data=0.0),
    )


def swirl(x):
    return np.sin(K * x[..., 0]) * np.sin(np.pi * x[..., 1])


def source(x):
    slope = K * np.cos(K * x[..., 0]) * np.sin(np.pi * x[..., 1])
    return (K**2 + np.pi**2) * swirl(x) + 3 * slope


PLACES = SQUARE.sample(200, "uniform").x


def test_the_rows_are_differences_at_two_points():
    condition = channel().conditions[1]
    points = condition.on.sample(7)
    rows = condition_functionals(condition, points, PLAIN)
    field = lambda x: np.exp(x[:, 0]) * np.cos(x[:, 1])
    for block, slope in zip(rows.blocks, (False, True), strict=True):
        assert len(block) == 7
        total = np.zeros(len(block.x))
        for column, (_, alpha) in enumerate(block.terms):
            assert alpha in ((0, 0), (1, 0))  # ∂u/∂x is u
            total += block.coefficients[:, column] * field(block.x)
        y = points.x[:, 1]
        jump = (1.0 - np.e) * np.cos(y)  # u(0, y) − u(1, y); the outward normal at x = 0 is (−1, 0)
        assert np.allclose(block.collected(total), jump / K * -1.0 if slope else jump)


@pytest.mark.parametrize(
    ("op", "symbol"),
    [
        (lambda u: ko.partial(u, 0) + u, lambda k: 1j * k + 1),
        (lambda u: -ko.laplacian(u) + 3 * ko.partial(u, 0) + u, lambda k: k**2 + 3j * k + 1),
        (lambda u: ko.partial(u, 0, 3) + u, lambda k: -1j * k**3 + 1),
        (lambda u: ko.laplacian(ko.laplacian(u)) + u, lambda k: k**4 + 1),
    ],
    ids=["first order", "advection-diffusion", "third order", "fourth order"],
)
def test_as_many_traces_as_the_order_of_the_equation(op, symbol):
    T = ko.learn(ring(op))
    k, x = 2 * np.pi, LINE.sample(100, "uniform").x
    u = T(lambda x: np.real(symbol(k) * np.exp(1j * k * np.asarray(x)[..., 0])))
    assert np.abs(u(x) - np.cos(k * x[:, 0])).max() < 1e-8
    order = {"1": 1, "2": 2, "3": 3, "4": 4}[str(T.collocated.conditions[0].order)]
    assert len(T.collocated.conditions[1].blocks) == order


@pytest.mark.parametrize(
    ("method", "tolerance"),
    [
        (ko.Full(), 1e-3),
        (ko.LowRank(), 1e-3),
        (ko.Subspace(300), 1e-7),
        (ko.Subspace(300, basis="polynomials"), 1e-7),
        (ko.Subspace(200, basis="representers"), 1e-2),
        (ko.Subspace(300, batch=200), 1e-7),
    ],
    ids=["full", "low rank", "subspace", "polynomials", "representers", "stream"],
)
def test_every_method_and_its_file(method, tolerance, tmp_path):
    problem = channel()
    T = ko.learn(problem, method=method, points=600)
    u = T(source)
    assert np.abs(u(PLACES) - swirl(PLACES)).max() < tolerance
    T.save(tmp_path / "T.kernop")
    for back in (ko.load(tmp_path / "T.kernop"), ko.load(tmp_path / "T.kernop", problem=problem)):
        assert np.array_equal(back(source)(PLACES), u(PLACES))
    with pytest.raises(ko.errors.ArgumentError, match="where f, periodic, g were learned"):
        ko.load(tmp_path / "T.kernop", problem=ko.Problem(*(c for c in problem.conditions if c.name != "periodic")))


def test_a_tolerance_and_estimates_that_hold():
    T = ko.learn(channel(), tol=1e-7)
    u = T(source)
    error = np.abs(u(PLACES) - swirl(PLACES)).max()
    estimate = u.error_estimate(search=2**12)
    assert error < 1e-7
    assert error <= estimate.relative_linf < 1e-3
    assert estimate.bound is None
    assert "couples u at two places" in (estimate.why_no_bound or "")
    assert np.abs(u.residual("periodic", SQUARE.face("left").sample(50))).max() < 1e-6


def test_advection_and_diffusion_in_time_and_marched():
    walls = [CYLINDER.walls.where(side) for side in (lambda x: x[..., 0] < 0.5, lambda x: x[..., 0] > 0.5)]
    problem = ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - 0.1 * ko.laplacian(u) + ko.partial(u, 0), on=CYLINDER, name="f", data=0.0),
        ko.Initial(CYLINDER.initial),
        ko.Periodic(*walls),
    )
    moved = lambda x: np.exp(-0.1 * K**2 * x[..., 1]) * np.sin(K * (x[..., 0] - x[..., 1]))
    T = ko.learn(problem, method=ko.Subspace(250))
    x = CYLINDER.sample(200, "uniform").x
    assert np.abs(T(moved)(x) - moved(x)).max() < 1e-8
    later = ko.SpaceTime(ko.Interval(0, 1), (0, 2)).sample(200, "uniform").x
    assert np.abs(T.march(4, moved)(later) - moved(later)).max() < 1e-7


def test_solutions_that_repeat_in_time():
    """u_t + u = cos 2πt: the state at the end is that at the beginning."""
    day = ko.SpaceTime(ko.Interval(0, 1), (0, 1))
    problem = ko.Problem(
        ko.Equation(lambda u: ko.dt(u) + u - 0.1 * ko.laplacian(u), on=day, name="f"),
        ko.Neumann(day.walls, data=0.0),
        ko.Periodic(day.initial, day.final),
    )
    T, x = ko.learn(problem), SQUARE.sample(100, "uniform").x
    assert len(T.collocated.conditions[2].blocks) == 1  # of first order in time
    u = T(lambda x: np.cos(K * x[..., 1]))
    assert np.abs(u(x) - (np.cos(K * x[:, 1]) + K * np.sin(K * x[:, 1])) / (1 + K**2)).max() < 1e-8
    with pytest.raises(ko.errors.ArgumentError, match="repeats itself in time"):
        T.march(3, 0.0)


def test_complex_waves_with_a_phase():
    """Bloch's condition by data: a jump of the traces, part by part, is data as any other."""
    problem = ring(lambda u: -ko.laplacian(u) + 2j * u, data=None)
    k, x = 3.0, LINE.sample(60, "uniform").x
    wave = lambda x: np.exp(1j * k * x[..., 0])
    jump = (1 - np.exp(2j * k)) * np.array([1.0, -1j * k * 2 / K])
    u = ko.learn(problem)(lambda x: (k**2 + 2j) * wave(x), jump)
    assert np.abs(u(x) - wave(x)).max() < 1e-8


def test_systems_have_traces_of_each_unknown():
    """A Stokes flow in a periodic channel, driven along it: Poiseuille's."""
    problem = ko.Problem(
        ko.Equation(lambda u, p: -ko.laplacian(u) + ko.grad(p), on=SQUARE, name="f"),
        ko.Equation(lambda u: ko.div(u), on=SQUARE, name="mass", data=0.0),
        ko.Dirichlet(SQUARE.face("bottom", "top"), of="u", data=[0.0, 0.0]),
        ko.Periodic(SQUARE.face("left"), SQUARE.face("right")),
        ko.Mean(SQUARE, of="p", data=0.0),
        unknowns={"u": 2, "p": 1},
    )
    T = ko.learn(problem, method=ko.Subspace(250), points=900)
    assert problem["periodic"].op.orders == (("u", 2), ("p", 1))
    s = T([8.0, 0.0])
    exact = 4 * PLACES[:, 1] * (1 - PLACES[:, 1])
    assert np.abs(s.u(PLACES) - np.stack([exact, 0 * exact], axis=1)).max() < 1e-7
    assert np.abs(s.p(PLACES)).max() < 1e-6
    alone = ko.Periodic(SQUARE.face("left"), SQUARE.face("right"), of="p")
    kept = [c for c in problem.conditions if c.name != "periodic"]
    assert ko.Problem(*kept, alone, unknowns={"u": 2, "p": 1})["periodic"].op.orders == (("p", 1),)


@pytest.mark.parametrize(
    ("pieces", "more", "said"),
    [
        ((SQUARE.face("left"), ko.Box([0, 0], [2, 3]).face("right")), {}, "which measures 3, for .* which measures 1"),
        ((SQUARE.face("left"), SQUARE.face("top")), {}, "does not come to lie on it"),
        ((SQUARE.face("left"), SQUARE.face("left")), {}, "does not come to lie on it"),
        ((SQUARE.face("left"), ko.Box([2, 0], [3, 1]).face("left")), {}, "not opposite"),
        ((SQUARE, SQUARE.face("left")), {}, "give a piece of a boundary"),
        ((SQUARE.face("left"), "right"), {}, "to: got 'right'"),
        ((SQUARE.face("left"), LINE.face("right")), {}, "pieces of the boundary of one domain"),
        ((SQUARE.face("left"), SQUARE.face("right")), {"shift": [1.0, 0.5]}, "moved by .* does not come to lie"),
        ((SQUARE.face("left"), SQUARE.face("right")), {"shift": [1.0]}, "give 2 numbers"),
    ],
)
def test_pieces_that_do_not_match_are_told(pieces, more, said):
    with pytest.raises(ko.errors.KernopError, match=said):
        ko.Periodic(*pieces, **more)


def test_there_must_be_an_equation_with_a_trace():
    with pytest.raises(ko.errors.OperatorError, match="periodic: got a problem without an equation that takes a trace"):
        ko.Problem(ko.Equation(lambda u: 2 * u, on=SQUARE), ko.Periodic(SQUARE.face("left"), SQUARE.face("right")))


def test_what_cannot_be_done_is_said():
    with pytest.raises(ko.errors.ArgumentError, match="periodic conditions, which is not covered"):
        ko.learn(channel(), method=ko.Subspace(200)).green(PLACES[:2], PLACES[3:4])


def test_a_torus_needs_no_names():
    sides = [("left", "right"), ("bottom", "top")]
    problem = ko.Problem(
        ko.Equation(lambda u: u - ko.laplacian(u), on=SQUARE),
        *(ko.Periodic(SQUARE.face(one), SQUARE.face(other)) for one, other in sides),
    )
    assert problem.names == ("f", "periodic", "periodic2")
    wave = lambda x: np.cos(K * (x[..., 0] + x[..., 1]))
    u = ko.learn(problem, method=ko.Subspace(250))(lambda x: (1 + 2 * K**2) * wave(x))
    assert np.max(np.abs(u(PLACES) - wave(PLACES))) < 1e-5


@pytest.mark.parametrize(("first", "warned"), [(0.0, True), (0.25, False)])
def test_layers_that_do_not_fit_at_periodic_sides_are_told(first, warned):
    """Slopes are equal there, and fluxes would not be; so it is not where the period begins within a layer."""
    a = ko.Piecewise({ko.Box([0, first], [1, first + 0.5]): 1.0}, otherwise=10.0)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=SQUARE),
        ko.Dirichlet(on=SQUARE.face("left", "right")),
        ko.Periodic(SQUARE.face("bottom"), SQUARE.face("top")),
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ko.learn(problem, method=ko.Subspace(60))
    assert any(own.category is ko.errors.JumpWarning and "fluxes" in str(own.message) for own in said) == warned
