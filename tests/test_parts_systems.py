"""Operators made of parts for systems, complex values, waves, plates and flows, against exact solutions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.learning.parts.followed import flat

SQUARE = ko.Box([0, 0], [1, 1])
SINE = lambda x: jnp.sin(5 * x[..., 0] - 2 * x[..., 1])
COSINE = lambda x: jnp.cos(3 * x[..., 1] - x[..., 0])


def displacement(x):
    return jnp.stack([jnp.sin(5 * x[..., 0] + 3 * x[..., 1]), jnp.cos(4 * x[..., 0] - 2 * x[..., 1])], axis=-1)


def flow(x):
    slope = jnp.cos(4 * x[..., 0] + 3 * x[..., 1])
    return jnp.stack([3 * slope, -4 * slope], axis=-1)


def elastic(ratio):
    """Plane strain with Young's modulus 1."""
    mu, lame = 0.5 / (1 + ratio), ratio / ((1 + ratio) * (1 - 2 * ratio))
    stress = lambda u: 2 * mu * ko.sym(ko.grad(u)) + lame * ko.trace(ko.grad(u)) * ko.identity(u)
    return ko.Problem(
        ko.Equation(lambda u: -ko.div(stress(u)), on=SQUARE),
        ko.Dirichlet(on=SQUARE.face("left", "bottom"), name="g", of="u"),
        ko.Condition(lambda u: ko.normal_component(stress(u)), on=SQUARE.face("right", "top"), name="t"),
        unknowns={"u": 2},
    )


def stokes(momentum):
    return ko.Problem(
        ko.Equation(momentum, on=SQUARE),
        ko.Equation(lambda u: ko.div(u), on=SQUARE, name="mass", data=0.0),
        ko.Dirichlet(on=SQUARE.boundary, name="g", of="u"),
        ko.Mean(on=SQUARE, name="mean", of="p"),
        unknowns={"u": 2, "p": 1},
    )


def helmholtz(k, condition, loss=0.0):
    return ko.Problem(ko.Equation(lambda u: -ko.laplacian(u) - k**2 * (1 + loss) * u, on=SQUARE), condition)


def plate(second):
    return ko.Problem(
        ko.Equation(lambda u: ko.laplacian(ko.laplacian(u)), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary), second
    )


JUMP = ko.Piecewise({ko.Box([0, 0], [0.4, 1]): 1.0}, otherwise=10.0)
CLAMPED = ko.Neumann(on=SQUARE.boundary, name="q")
HINGED = ko.Condition(lambda u: ko.laplacian(u), on=SQUARE.boundary, name="q")


def worst(T, problem, exact):
    """The largest relative error of any unknown for a manufactured solution."""
    with jax.enable_x64(True):
        s = T(**problem.manufacture(exact, T.points))
        x = SQUARE.sample(300, "uniform", seed=1).x
        fields = exact if isinstance(exact, dict) else {"u": exact}
        truth = {name: np.asarray(field(x)) for name, field in fields.items()}
    found = {name: getattr(s, name)(x) if len(fields) > 1 else s(x) for name in fields}
    return max(np.max(np.abs(found[name] - own)) / np.max(np.abs(own)) for name, own in truth.items())


@pytest.mark.parametrize("ratio", [0.3, 0.499])
def test_an_elastic_body(ratio):
    problem = elastic(ratio)
    T = ko.learn(problem, method=ko.Partition(cells=2, degree=15, levels=0))
    assert worst(T, problem, displacement) < 2e-9


def test_an_elastic_inclusion():
    """A stiff disk in a matrix that is stretched alike in all directions: Lamé's a r inside, c r + d/r outside."""
    disk, middle, radius = ko.Ball([0.45, 0.55], 0.3), np.array([0.45, 0.55]), 0.3
    lame, mu = (ko.Piecewise({disk: inside}, otherwise=1.0) for inside in (10.0, 20.0))
    stress = lambda u: 2 * (mu * ko.sym(ko.grad(u))) + lame * ko.div(u) * ko.identity(u)
    c, d = np.linalg.solve([[radius, 1 / radius], [4.0, -2.0 / radius**2]], [radius, 60.0])  # with a = 1

    def exact(x):
        away = np.asarray(x) - middle
        r = np.hypot(*np.moveaxis(away, -1, 0))[..., None]
        return np.where(r < radius, 1.0, c + d / np.maximum(r, 0.1) ** 2) * away

    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(stress(u)), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary), unknowns={"u": 2}
    )
    T = ko.learn(problem, method=ko.Partition(cells=8, degree=13))
    x = SQUARE.sample(300, "uniform", seed=1).x
    assert np.max(np.abs(T(0.0, exact)(x) - exact(x))) < 1e-8 * np.max(np.abs(exact(x)))


def test_two_layers_of_fluids_without_a_word_of_parts():
    """A pressure gradient along two layers of viscosities 1 and 10: u is a parabola in each, the stress continuous."""
    mu = ko.Piecewise({ko.Box([0, 0], [1, 0.5]): 1.0}, otherwise=10.0)
    momentum = lambda u, p: -ko.div(2 * (mu * ko.sym(ko.grad(u))) - p * ko.identity(u))

    def exact(x):
        y = np.asarray(x)[..., 1]
        # μ u' = b − y; u(0) = u(1) = 0, and u is continuous at ½.
        b = (0.125 / 1.0 + 0.375 / 10.0) / (0.5 / 1.0 + 0.5 / 10.0)
        lower, upper = b * y - 0.5 * y**2, (b * y - 0.5 * y**2 - b + 0.5) / 10.0
        return np.stack([np.where(y < 0.5, lower, upper), 0.0 * y], axis=-1)

    T = ko.learn(stokes(momentum))
    s, x = T(0.0, exact, 0.0), SQUARE.sample(300, "uniform", seed=1).x
    assert np.max(np.abs(s.u(x) - exact(x))) < 1e-9 * np.max(exact(x))
    np.testing.assert_allclose(s.p(x), 0.5 - x[:, 0], atol=1e-7)


def test_a_vanishing_unknown_is_not_measured_by_its_rounding():
    """A uniform flow has the pressure 0; that of two levels differed by all of it, and no tolerance was met."""
    noise = 1e-12 * np.random.default_rng(0).normal(size=(2, 50))
    flow = np.ones((50, 2))
    (first, units), (second, _) = (flat((flow, own), [1.0, 10.0]) for own in noise)
    assert np.max(np.abs(first - second) / units) < 1e-8
    assert np.max(flat((flow, flow), [1.0, 1e-2])[1]) == 1.0


def test_two_substances_that_react():
    problem = ko.Problem(
        ko.Equation(lambda u, v: -0.1 * ko.laplacian(v) + u + v, on=SQUARE, name="k"),
        ko.Equation(lambda u, v: -ko.laplacian(u) + 3 * u - 2 * v, on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.boundary, name="g", of="u"),
        ko.Neumann(on=SQUARE.boundary, name="q", of="v"),
        unknowns={"u": 1, "v": 1},
    )
    T = ko.learn(problem, method=ko.Partition(cells=2, degree=15, levels=0))
    assert worst(T, problem, {"u": SINE, "v": COSINE}) < 1e-9


def test_complex_coefficients():
    edge = ko.Condition(lambda u: ko.normal_derivative(u) - 20j * u, on=SQUARE.boundary, name="g")
    problem = helmholtz(20.0, edge, loss=0.1j)
    wave = lambda x: jnp.exp(20j * (0.6 * x[..., 0] + 0.8 * x[..., 1]))
    T = ko.learn(problem, method=ko.Partition(cells=4, degree=15, levels=0))
    assert worst(T, problem, wave) < 1e-7


@pytest.mark.parametrize(
    "momentum",
    [
        lambda u, p: -ko.laplacian(u) + ko.grad(p),
        lambda u, p: -1e-3 * ko.laplacian(u) + ko.grad(p),
        lambda u, p: -ko.div(2 * ko.sym(ko.grad(u)) - p * ko.identity(u)),
    ],
    ids=["plain", "thin", "stress"],
)
def test_stokes_flow(momentum):
    problem = stokes(momentum)
    T = ko.learn(problem, method=ko.Partition(cells=2, degree=15, levels=0))
    assert worst(T, problem, {"u": flow, "p": SINE}) < 1e-9


@pytest.mark.parametrize("gluing", ["values", "robin"])
def test_fluxes_alone_with_a_mean(gluing):
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE),
        ko.Neumann(on=SQUARE.boundary, name="q"),
        ko.Mean(on=SQUARE, name="mean"),
    )
    T = ko.learn(problem, method=ko.Partition(cells=3, degree=13, levels=0, gluing=gluing))
    assert worst(T, problem, SINE) < 1e-9


def test_fluxes_alone_without_a_mean_are_refused():
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE), ko.Neumann(on=SQUARE.boundary))
    with pytest.raises(ko.errors.SingularGramError, match="do not determine u"):
        ko.learn(problem, method=ko.Partition(cells=2, degree=13, levels=0))


def test_a_group_of_parts_at_a_resonance():
    """(3² + 4²) (3/2)² π² is an eigenvalue of two by two of three by three parts, and not of the square."""
    k = 7.5 * np.pi
    problem = helmholtz(k, ko.Dirichlet(on=SQUARE.boundary))
    wave = lambda x: jnp.cos(k * (0.6 * x[..., 0] + 0.8 * x[..., 1]))
    with pytest.raises(ko.errors.SingularGramError, match="resonance"):
        ko.learn(problem, method=ko.Partition(cells=3, degree=17, levels=0, gluing="values"))
    for gluing in (None, "impedance"):
        T = ko.learn(problem, method=ko.Partition(cells=3, degree=17, levels=0, gluing=gluing))
        assert worst(T, problem, wave) < 2e-6


def test_impedance_traces_hear_no_resonance_of_parts():
    k = 3 * np.sqrt(2.0) * np.pi  # the first eigenvalue of each of nine parts
    problem = helmholtz(k, ko.Robin(1.0, 1.0, on=SQUARE.boundary))
    wave = lambda x: jnp.cos(k * (0.6 * x[..., 0] + 0.8 * x[..., 1]))
    T = ko.learn(problem, method=ko.Partition(cells=3, degree=17, levels=0, gluing="impedance"))
    assert worst(T, problem, wave) < 1e-8
    assert T.factorisation.condition > 1e-5


@pytest.mark.parametrize("second", [CLAMPED, HINGED], ids=["clamped", "hinged"])
def test_plates(second):
    problem = plate(second)
    T = ko.learn(problem, method=ko.Partition(cells=2, degree=15, levels=1))
    assert worst(T, problem, lambda x: jnp.sin(4 * x[..., 0] + 1) * jnp.cos(3 * x[..., 1])) < 1e-8


@pytest.mark.parametrize(
    ("second", "known"),
    # Clamped: by Galerkin with global polynomials, in benchmarks/parts_systems.py; hinged: Navier's double series.
    [(CLAMPED, 0.00126531908), (HINGED, 0.00406235266)],
    ids=["clamped", "hinged"],
)
def test_plates_under_a_constant_load(second, known):
    u = ko.learn(plate(second), method=ko.Partition(cells=2, degree=15, levels=4))(1.0, 0.0, 0.0)
    assert u(np.array([[0.5, 0.5]]))[0] == pytest.approx(known, rel=2e-7)


@pytest.fixture(scope="module")
def small():
    return ko.learn(
        stokes(lambda u, p: -ko.laplacian(u) + ko.grad(p)), method=ko.Partition(cells=2, degree=7, levels=0)
    )


def test_fixed_places_batches_and_gradients(small):
    x, rng = SQUARE.sample(20, "uniform", seed=2).x, np.random.default_rng(0)
    f, g = rng.normal(size=(len(small.points["f"]), 2, 3)), rng.normal(size=(len(small.points["g"]), 2, 3))
    mean, at = rng.normal(size=(1, 3)), small.on(x)
    with pytest.warns(ko.errors.AccuracyWarning):
        s = small(f=f, g=g, mean=mean)
    there = at(f=f, g=g, mean=mean)
    np.testing.assert_allclose(there.u, s.u(x), atol=1e-9)
    np.testing.assert_allclose(there.p, s.p(x), atol=1e-9 * np.max(np.abs(s.p(x))))
    with jax.enable_x64(True):
        slope = jax.jit(jax.grad(lambda h: jnp.sum(at(f=h, g=0.0, mean=0.0).p)))(jnp.asarray(f[..., 0]))
    change = np.zeros_like(f[..., 0])
    change[3, 1] = 1.0
    found = np.sum(at(f=change, g=0.0, mean=0.0).p)
    assert float(slope[3, 1]) == pytest.approx(float(found), rel=1e-9)


def test_a_mean_is_a_shift_of_the_pressure(small):
    x = SQUARE.sample(20, "uniform", seed=2).x
    s = small(f=0.0, g=0.0, mean=2.5)
    np.testing.assert_allclose(s.p(x), 2.5, atol=1e-8)
    np.testing.assert_allclose(s.u(x), 0.0, atol=1e-8)


TIMED = ko.SpaceTime(ko.Box([0, 0, 0], [1, 1, 1]), (0, 1))


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (
            ko.Problem(
                ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=TIMED),
                ko.Initial(on=TIMED.initial),
                ko.Dirichlet(on=TIMED.walls),
            ),
            "at most three dimensions",
        ),
        (
            ko.Problem(
                ko.Equation(lambda u: ko.partial(u, 1) - ko.partial(u, 0, 2), on=SQUARE),
                ko.Dirichlet(on=SQUARE.boundary),
            ),
            "not elliptic",
        ),
        (
            ko.Problem(
                ko.Equation(lambda u: ko.partial(u, 1, 2) - ko.partial(u, 0, 2), on=SQUARE),
                ko.Dirichlet(on=SQUARE.boundary),
            ),
            "not elliptic",
        ),
        (
            ko.Problem(
                ko.Equation(lambda u: ko.partial(u, 0, 3) + ko.partial(u, 1, 3), on=SQUARE),
                ko.Dirichlet(on=SQUARE.boundary),
            ),
            "order 3",
        ),
        (
            ko.Problem(
                ko.Equation(lambda u, v: ko.partial(u, 0) + ko.partial(v, 1), on=SQUARE),
                ko.Equation(lambda u, v: ko.partial(u, 1) - ko.partial(v, 0), on=SQUARE, name="k"),
                ko.Dirichlet(on=SQUARE.boundary, of="u"),
                unknowns={"u": 1, "v": 1},
            ),
            "first order",
        ),
        (
            ko.Problem(
                ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE),
                ko.Dirichlet(on=SQUARE.boundary),
                ko.Sensors(SQUARE.at([[0.5, 0.5]]), noise=0.1),
            ),
            "sensors",
        ),
        (
            ko.Problem(
                ko.Equation(lambda u: -ko.laplacian(u) + u, on=SQUARE),
                ko.Dirichlet(on=SQUARE.face("bottom", "top")),
                ko.Periodic(SQUARE.face("left"), SQUARE.face("right")),
            ),
            "periodic",
        ),
        (
            ko.Problem(
                ko.Equation(lambda u: -(JUMP * ko.laplacian(u)) - JUMP * ko.grad(ko.div(u)), on=SQUARE),
                ko.Dirichlet(on=SQUARE.boundary),
                unknowns={"u": 2},
            ),
            "which flux is continuous",
        ),
    ],
    ids=["heat in space", "heat in a box", "wave in a box", "third", "first", "sensors", "periodic", "untold flux"],
)
def test_what_cannot_be_glued_is_refused_by_name(problem, said):
    with pytest.raises(ko.errors.ArgumentError, match=said):
        ko.learn(problem, method=ko.Partition())


def test_a_way_of_gluing_that_is_not_known():
    with pytest.raises(ko.errors.ArgumentError, match="gluing"):
        ko.Partition(gluing="glue")


@pytest.mark.parametrize("peclet", [1e3, 1e5])
def test_layers_where_flow_leaves(peclet):
    """−εΔu + u_x + u_y = 1 with a layer at x = 1: grid lines stand beside it without being asked."""
    e = 1.0 / peclet
    profile = lambda x: x[..., 0] - (np.exp((x[..., 0] - 1) / e) - np.exp(-1 / e)) / (1 - np.exp(-1 / e))
    problem = ko.Problem(
        ko.Equation(lambda u: -e * ko.laplacian(u) + ko.partial(u, 0) + ko.partial(u, 1), on=SQUARE),
        ko.Dirichlet(on=SQUARE.boundary),
    )
    T = ko.learn(problem, method=ko.Partition(cells=2, degree=17, levels=0))
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.random((300, 2)), np.stack([1 - 20 * e * rng.random(300), rng.random(300)], axis=1)])
    assert np.max(np.abs(T(1.0, profile)(x) - profile(x))) < 1e-8
