"""Interfaces: u and its flux across inner surfaces, against closed forms, with every method."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko

SQUARE, DISK, RADIUS = ko.Box([-1, -1], [1, 1]), ko.Ball([0, 0], 0.5), 0.5
X = SQUARE.sample(1000, "uniform", seed=3).x


def inclusion(inside, **options):
    """−div(a ∇u) with a = inside in a disk and 1 around it."""
    a = lambda x: jnp.where(jnp.sum(x**2, axis=-1) < RADIUS**2, inside, 1.0)
    return ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=SQUARE),
        ko.Dirichlet(on=SQUARE.boundary),
        ko.Interface(DISK.boundary, **options),
    )


def uniform_field(inside):
    """The classical solution: 2/(k + 1) x inside, x (1 − (k − 1)/(k + 1) R²/r²) outside."""

    def u(x):
        square = np.sum(np.square(x), axis=-1)
        around = x[..., 0] * (1.0 - (inside - 1.0) / (inside + 1.0) * RADIUS**2 / np.maximum(square, 1e-3))
        return np.where(square < RADIUS**2, 2.0 / (inside + 1.0) * x[..., 0], around)

    return u


def off(u, truth, x=X):
    return np.linalg.norm(u(x) - truth(x)) / np.linalg.norm(truth(x))


@pytest.fixture(scope="module")
def ten():
    return ko.learn(inclusion(10.0), method=ko.Subspace(300), points=900)


def test_two_layers_of_a_bar_to_rounding():
    bar = ko.Interval(0, 1)
    a = lambda x: jnp.where(x[..., 0] < 0.3, 1.0, 10.0)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=bar),
        ko.Dirichlet(on=bar.boundary),
        ko.Interface(ko.Interval(0, 0.3).face("right")),
    )
    u = ko.learn(problem)(1.0, 0.0)
    # a u' = c − x; u = c x − x²/2 on the left, (c (x − 1) − (x² − 1)/2) / 10 on the right; continuous at 0.3.
    c = (0.5 * 0.09 + 0.05 * (1 - 0.09)) / (0.3 + 0.07)
    x = np.linspace(0, 1, 300)[:, None]
    exact = np.where(x < 0.3, c * x - x**2 / 2, (c * (x - 1) - (x**2 - 1) / 2) / 10)[:, 0]
    assert np.max(np.abs(u(x) - exact)) < 1e-12 * np.max(exact)
    flux = u.apply(lambda v: a * ko.partial(v, 0), x)
    assert np.max(np.abs(flux - (c - x[:, 0]))) < 1e-9


@pytest.mark.parametrize("inside", [1e6, 1e-6])
def test_an_inclusion_in_a_uniform_field(inside):
    T = ko.learn(inclusion(inside), method=ko.Subspace(300), points=900)
    truth = uniform_field(inside)
    u = T(0.0, truth)
    assert off(u, truth) < 1e-12
    assert off(u, truth) < u.error_estimate().relative_l2 < 2e-2


def test_layers_that_touch_the_boundary_need_no_part_of_it_named():
    D, a = ko.Box([0, 0], [1, 1]), ko.Box([0, 0], [1, 0.3])
    conductivity = lambda x: jnp.where(x[..., 1] < 0.3, 1.0, jnp.where(x[..., 1] < 0.6, 20.0, 0.1))
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(conductivity * ko.grad(u)), on=D),
        ko.Dirichlet(on=D.boundary),
        ko.Interface(a.boundary, name="lower"),
        ko.Interface(ko.Box([0, 0.6], [1, 1]).face("bottom"), name="upper"),
    )

    def exact(x):
        y = x[..., 1]
        return np.where(y < 0.3, y, np.where(y < 0.6, 0.3 + (y - 0.3) / 20, 0.315 + (y - 0.6) * 10))

    T = ko.learn(problem, method=ko.Subspace(400))
    x = D.sample(500, "uniform", seed=1).x
    assert T.points["lower_jump"].x[:, 1] == pytest.approx(0.3)
    assert off(T(0.0, exact), exact, x) < 1e-11


def test_on_the_surface_itself_coefficient_and_slope_are_of_one_side():
    ends = (0.0, 0.2, 0.7, 1.0)
    a = ko.Piecewise({ko.Interval(low, high): k for low, high, k in zip(ends, ends[1:], (5.0, 0.1, 2.0), strict=False)})
    bar = ko.Interval(0, 1)
    problem = ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=bar), ko.Dirichlet(on=bar.boundary))
    u = ko.learn(problem, method=ko.Subspace(60))(0.0, lambda x: x[..., 0])
    # The flux is one number, 1 over the resistance of the bar.
    flux = u.apply(lambda v: a * ko.partial(v, 0), np.array([[0.1], [0.2], [0.5], [0.7], [0.9]]))
    assert flux == pytest.approx(np.full(5, 1.0 / (0.2 / 5 + 0.5 / 0.1 + 0.3 / 2)), rel=1e-6)


def test_jumps_are_inputs_if_they_are_named():
    problem = inclusion(3.0, jump="step", flux_jump="source")
    T = ko.learn(problem, method=ko.Subspace(300), points=900)
    assert problem.inputs == ("f", "g", "step", "source")
    # sin x₀ inside, x₁² outside: of another kind on either side.
    inner, outer = np.sin, np.square
    truth = lambda x: np.where(np.sum(x**2, axis=-1) < RADIUS**2, inner(x[..., 0]), outer(x[..., 1]))
    f = lambda x: np.where(np.sum(x**2, axis=-1) < RADIUS**2, 3.0 * np.sin(x[..., 0]), -2.0)
    step = lambda x: outer(x[..., 1]) - inner(x[..., 0])
    source = lambda x: (2.0 * x[..., 1] * x[..., 1] - 3.0 * np.cos(x[..., 0]) * x[..., 0]) / RADIUS
    assert off(T(f, truth, step, source), truth) < 1e-6
    # The same from the functions themselves, seen from both sides of the surface.
    exact = lambda x: jnp.where(jnp.sum(x**2, axis=-1) < RADIUS**2, jnp.sin(x[..., 0]), x[..., 1] ** 2)
    data = problem.manufacture(exact, T.points)
    assert np.max(np.abs(data["source"] - source(T.points["source"].x))) < 1e-9
    assert np.max(np.abs(data["step"] - step(T.points["step"].x))) < 1e-9


def test_two_equations_meet():
    outside = SQUARE.where(lambda x: np.sum(x**2, axis=-1) > RADIUS**2)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(2.0 * ko.grad(u)) + u, on=DISK, name="inner"),
        ko.Equation(lambda u: -ko.laplacian(u), on=outside, name="outer"),
        ko.Dirichlet(on=SQUARE.boundary),
        ko.Interface(DISK.boundary, flux_jump="q"),
    )
    T = ko.learn(problem, method=ko.Subspace(500), points=1800)
    # u = x₀ everywhere: −2Δu + u = x₀ inside, and the flux falls from 2 n₀ to n₀.
    u = T(lambda x: x[..., 0], 0.0, lambda x: x[..., 0], lambda x: -x[..., 0] / RADIUS)
    assert off(u, lambda x: x[..., 0]) < 1e-10


def test_heat_in_two_materials():
    D, left = ko.SpaceTime(ko.Interval(0, 1), (0, 1)), ko.SpaceTime(ko.Interval(0, 0.5), (0, 1))
    a = lambda x: jnp.where(x[..., 0] < 0.5, 1.0, 0.25)
    problem = ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.div(a * ko.grad(u)), on=D),
        ko.Dirichlet(on=D.walls),
        ko.Initial(on=D.initial),
        ko.Interface(left.walls),
    )
    # exp(−t) sin(x − ½) / 1 on the left and exp(−t) 2 sin(2 (x − ½)) on the right: a u' = exp(−t) at x = ½ on both.
    truth = lambda x: (
        np.exp(-x[..., 1]) * np.where(x[..., 0] < 0.5, np.sin(x[..., 0] - 0.5), 2.0 * np.sin(2.0 * (x[..., 0] - 0.5)))
    )
    T = ko.learn(problem, method=ko.Subspace(400), points=1500)
    assert off(T(0.0, truth, truth), truth, D.sample(500, "uniform", seed=1).x) < 1e-7


def test_complex_waves_through_a_lens():
    n = lambda x: jnp.where(jnp.sum(x**2, axis=-1) < RADIUS**2, 4.0 + 1.0j, 1.0)
    problem = ko.Problem(
        ko.Equation(lambda u: ko.div(ko.grad(u)) + 9.0 * (n * u), on=SQUARE),
        ko.Robin(-3.0j, 1.0, on=SQUARE.boundary),
        ko.Interface(DISK.boundary, "step", "q"),
    )
    T = ko.learn(problem, method=ko.Subspace(300), points=900)
    truth = lambda x: jnp.where(jnp.sum(x**2, axis=-1) < RADIUS**2, jnp.exp(2j * x[..., 1]), jnp.cos(3.0 * x[..., 0]))
    exact = lambda x: np.where(np.sum(x**2, axis=-1) < RADIUS**2, np.exp(2j * x[..., 1]), np.cos(3.0 * x[..., 0]))
    assert off(T(**problem.manufacture(truth, T.points)), exact) < 1e-5


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize(
    ("method", "options", "accuracy"),
    [
        (ko.Full(), {"kernel": ko.Gaussian(0.6), "regularization": 1e-12, "weights": "balanced"}, 3e-3),
        (ko.LowRank(), {"kernel": ko.Gaussian(0.6), "regularization": 1e-12, "weights": "balanced"}, 3e-3),
        (ko.Subspace(300, batch=200), {}, 1e-11),
        (ko.Subspace(300, basis="polynomials"), {}, 1e-2),
    ],
    ids=["full", "lowrank", "stream", "polynomials"],
)
def test_every_method(method, options, accuracy):
    truth = uniform_field(10.0)
    T = ko.learn(inclusion(10.0), method=method, points=900, **options)
    assert off(T(0.0, truth), truth) < accuracy


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("batch", [None, 200])
def test_neither_the_order_of_pieces_nor_of_conditions_matters(batch):
    """The disk and what is around it, told in either order; the same surface is not an interface twice."""
    around, truth, found = SQUARE - DISK, uniform_field(10.0), []
    for pieces, order in (({DISK: 10.0, around: 1.0}, 1), ({around: 1.0, DISK: 10.0}, -1)):
        a = ko.Piecewise(pieces)
        equation = ko.Equation(lambda u, a=a: -ko.div(a * ko.grad(u)), on=SQUARE, name="f")
        problem = ko.Problem(*(equation, ko.Dirichlet(on=SQUARE.boundary, name="g"))[::order])
        T = ko.learn(problem, method=ko.Subspace(300, batch=batch), points=900)
        assert len(T.points) == 4
        found.append(off(T(f=0.0, g=truth), truth))
    assert max(found) < 1e-12


def test_points_of_a_cut_domain_take_turns():
    T = ko.learn(inclusion(10.0), method=ko.Subspace(100), points=600)
    inside = np.hypot(*T.points["f"].x.T) < RADIUS
    parts = [np.mean(own) for own in np.array_split(inside, 6)]
    assert max(parts) - min(parts) < 0.05


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_a_stream_weighs_rows_as_an_array_does(tmp_path):
    """Also from a file, materialized, and when new points come."""
    truth, problem = uniform_field(30.0), inclusion(30.0)
    held, T = (ko.learn(problem, method=ko.Subspace(300, batch=b), points=900) for b in (None, 200))
    u = T(0.0, truth)
    assert max(off(u, truth), off(held(0.0, truth), truth)) < 1e-11
    T.save(tmp_path / "T.kernop")
    again = ko.load(tmp_path / "T.kernop", problem=problem)
    np.testing.assert_array_equal(again(0.0, truth)(X), u(X))
    error = np.max(np.abs(u(X) - truth(X)))  # the two differ by the rounding of large coefficients, about 1e-6
    np.testing.assert_allclose(T.materialize()(0.0, truth)(X), u(X), atol=1e-3 * error)


def test_the_penalty_of_a_stream_is_not_felt_at_a_large_contrast():
    """It is relative to each function: those of the disk are a thousand times larger than those around it."""
    truth, problem = uniform_field(1e3), inclusion(1e3)
    held, streamed = (ko.learn(problem, method=ko.Subspace(300, batch=b), points=900) for b in (None, 200))
    assert max(off(own(0.0, truth), truth) for own in (held, streamed)) < 1e-11


def test_new_rows_weigh_as_the_old_ones_of_their_part():
    T = ko.learn(inclusion(0.1), method=ko.Subspace(100), points=400)
    updated = T.update({"f": DISK.sample(50, "uniform", seed=5).x})
    inside = np.hypot(*updated.points["f"].x.T) < RADIUS
    roots = updated.factorisation.roots[: len(inside)]
    assert max(np.ptp(own) / np.max(own) for own in (roots[inside], roots[~inside])) < 1e-14  # rounding of a mean
    assert roots[inside][0] > 1.5 * roots[~inside][0]


def test_tolerance():
    truth = uniform_field(5.0)
    T = ko.learn(inclusion(5.0), tol=1e-4, inputs=[(0.0, truth)])
    assert T.report.met
    assert off(T(0.0, truth), truth) < 1e-4


def test_values_and_derivatives_beside_the_surface(ten):
    u = ten(0.0, uniform_field(10.0))
    direction = np.array([0.6, 0.8])
    inside, outside = (RADIUS - 1e-7) * direction[None], (RADIUS + 1e-7) * direction[None]
    assert u(inside) == pytest.approx(u(outside), abs=1e-5)
    slopes = [float((u.grad(x) @ direction)[0]) for x in (inside, outside)]
    assert 10.0 * slopes[0] == pytest.approx(slopes[1], rel=1e-3)
    assert slopes[0] == pytest.approx(2.0 / 11.0 * 0.6, rel=1e-3)


def test_fixed_places(ten):
    truth = uniform_field(10.0)
    S = ten.on(X)
    np.testing.assert_allclose(S(0.0, truth), ten(0.0, truth)(X), atol=1e-9)


def test_files(ten, tmp_path):
    truth = uniform_field(10.0)
    found = ten(0.0, truth)(X)
    ten.save(tmp_path / "T.kernop")
    stored = ko.load(tmp_path / "T.kernop")
    np.testing.assert_array_equal(stored(0.0, truth(ten.points["g"].x))(X), found)
    again = ko.load(tmp_path / "T.kernop", problem=inclusion(10.0))
    np.testing.assert_array_equal(again(0.0, truth)(X), found)
    with pytest.raises(ko.errors.ArgumentError, match="another one"):
        ko.load(tmp_path / "T.kernop", problem=inclusion(11.0))


def test_a_jump_without_an_interface_is_refused():
    a = lambda x: jnp.where(jnp.sum(x**2, axis=-1) < RADIUS**2, 10.0, 1.0)
    equation = ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=SQUARE)
    with pytest.raises(ko.errors.KernopError, match="Interface"):
        ko.learn(ko.Problem(equation, ko.Dirichlet(on=SQUARE.boundary)), method=ko.Subspace(300))
