"""Probing fields against automatic differentiation, and the free waves of known equations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.precision import float64
from kernop.collocation.ansatz import normal_form
from kernop.collocation.probes import Bumps, free_waves, oscillations, probes_of, random_probes, resolving
from kernop.collocation.units import Frame
from kernop.language.ops import apply_operator

LINE, SQUARE = ko.Interval(0, 1), ko.Box([0, 0], [1, 1])
CYLINDER = ko.SpaceTime(ko.Interval(0, 1), (0, 1))
UNIT = {d: Frame(np.zeros(d), np.ones(d), np.ones(d)) for d in (1, 2, 3)}
PROBES = random_probes(UNIT[2], seed=3)


def field(probes):
    """The sum of cosines itself, (…, d) ↦ (…, B)."""
    k, b = np.asarray(probes.k), np.asarray(probes.b)
    return lambda x: jnp.sum(jnp.cos(jnp.einsum("...d,bjd->...bj", x, k) + b), axis=-1) / np.sqrt(b.shape[1])


@pytest.mark.parametrize("alpha", [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (1, 2), (0, 4)])
def test_derivatives_against_automatic_differentiation(alpha):
    x = SQUARE.sample(7).x
    with float64():
        u = field(PROBES)
        for axis, order in enumerate(alpha):
            for _ in range(order):
                u = lambda x, u=u, axis=axis: jax.jvp(u, (x,), (jnp.zeros(2).at[axis].set(1.0),))[1]
        expected = np.asarray(jax.jit(jax.vmap(u))(x))
    found = PROBES.derivative(alpha, x)
    assert found.shape == (7, 9)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["f", "r"])
def test_operators_against_apply_operator(name):
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div((lambda x: jnp.exp(x[..., 0])) * ko.grad(u)) + 3.0 * u, on=SQUARE, name="f"),
        ko.Robin(lambda x: 1 + x[..., 1], 2.0, on=SQUARE.boundary, name="r"),
    )
    points = problem[name].on.sample(12)
    expected = apply_operator(problem[name].op, field(PROBES), points)
    found = PROBES.apply(normal_form(problem[name].op, points))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("d", [1, 2, 3])
def test_random_fields_have_size_one_and_the_length_scales(d):
    many = [random_probes(UNIT[d], seed) for seed in range(60)]
    squares = np.mean([np.sum(probes.k**2, axis=-1) for probes in many], axis=(0, 2))
    lengths = np.repeat([1.0, 0.5, 0.25], 3)
    np.testing.assert_allclose(squares * lengths**2, 2.0, rtol=0.15)
    x = np.random.default_rng(0).uniform(size=(20, d))
    values = np.concatenate([probes.derivative((0,) * d, x) for probes in many], axis=1)
    assert np.mean(values**2) == pytest.approx(0.5, rel=0.15)  # the mean square of a cosine


def test_fields_follow_the_units_of_the_frame():
    units = np.array([10.0, 0.01])
    scaled = random_probes(Frame(np.zeros(2), units, units), seed=3)
    x = SQUARE.sample(9).x
    np.testing.assert_allclose(scaled.derivative((0, 0), x * units), PROBES.derivative((0, 0), x), rtol=1e-9)


def test_seeds():
    np.testing.assert_array_equal(random_probes(UNIT[2], 3).k, PROBES.k)
    assert not np.array_equal(random_probes(UNIT[2], 4).k, PROBES.k)


def test_random_fields_and_free_waves_together():
    points = SQUARE.sample(30)
    waves, none = (normal_form(lambda u, c=c: -ko.laplacian(u) - c * u, points) for c in (400.0, -400.0))
    both = probes_of([none, waves], UNIT[2], seed=3)
    assert len(both) == 10
    np.testing.assert_array_equal(both.k[:9], PROBES.k)
    np.testing.assert_array_equal(both.b[:9], PROBES.b)
    np.testing.assert_array_equal(both.k[9:], free_waves(waves, UNIT[2], 3).k)


def test_conditions_on_a_curved_boundary_carry_no_waves():
    """∂u/∂n + 100u has waves along the circle that are nearly free, 400 rad long; no solution is like these."""
    disk = ko.Ball([0, 0], 1.0)
    inside = normal_form(lambda u: -ko.laplacian(u), disk.sample(200))
    around = normal_form(lambda u: ko.normal_derivative(u) + 100.0 * u, disk.boundary.sample(200))
    assert np.max(np.linalg.norm(free_waves(around, UNIT[2]).k, axis=-1)) > 100.0
    assert len(probes_of([inside, around], UNIT[2])) == len(PROBES)


def test_oscillations_are_cosines_along_each_axis_and_their_product():
    """In a box of sides 2 and 0.5, so many periods over the shorter one."""
    frame = Frame(np.zeros(2), np.array([2.0, 0.5]), np.array([2.0, 2.0]))
    found = oscillations(frame, 1.5, seed=4)
    x = ko.Box([0, 0], [2, 0.5]).sample(50).x
    phases = np.random.default_rng(4).uniform(0.0, 2.0 * np.pi, size=(3, 2))
    angle = 2 * np.pi * 1.5 / 0.5 * x
    single = np.cos(angle + np.diag(phases[:2]))
    together = np.prod(np.cos(angle + phases[2]), axis=1)
    values = found.derivative((0, 0), x)
    scales = np.abs(values).max(axis=0) / np.array([*np.abs(single).max(axis=0), np.abs(together).max()])
    np.testing.assert_allclose(values, np.column_stack([single, together]) * scales, atol=1e-12)


def test_bumps_against_automatic_differentiation():
    frame = Frame(np.zeros(2), np.array([2.0, 0.5]), np.array([2.0, 2.0]))
    places = np.array([[0.3, 0.2], [1.5, 0.4]])
    found = Bumps(places, 0.5 * frame.shortest)
    u = jax.jit(lambda x: jnp.exp(-0.5 * jnp.sum(((x[..., None, :] - places) / 0.25) ** 2, axis=-1)))
    op = lambda u: ko.partial(ko.partial(u, 0, 3), 1, 2) + (lambda x: x[..., 0]) * ko.partial(u, 1) - 2.0 * u
    points = ko.Box([0, 0], [2, 0.5]).sample(20)
    expected = apply_operator(op, u, points)
    np.testing.assert_allclose(found.apply(normal_form(op, points)), expected, atol=1e-11 * np.abs(expected).max())


def waves_of(op, region, frame):
    return free_waves(normal_form(op, region.sample(50)), frame)


class TestFreeWaves:
    @pytest.mark.parametrize("omega", [20.0, 50.0, 2000.0])
    @pytest.mark.parametrize("domain", [LINE, SQUARE])
    def test_helmholtz_carries_its_wave_number(self, domain, omega):
        found = waves_of(lambda u: -ko.laplacian(u) - omega**2 * u, domain, UNIT[domain.dim])
        assert len(found) == 1
        np.testing.assert_allclose(np.linalg.norm(found.k, axis=-1), omega, rtol=0.05)

    def test_in_the_units_of_the_domain(self):
        box = ko.Box([0, 0], [10, 10])
        found = waves_of(
            lambda u: ko.laplacian(u) + 25.0 * u, box, Frame(np.zeros(2), np.full(2, 10.0), np.full(2, 10.0))
        )
        np.testing.assert_allclose(np.linalg.norm(found.k, axis=-1), 5.0, rtol=0.05)

    def test_they_nearly_solve_the_equation(self):
        form = normal_form(lambda u: -ko.laplacian(u) - 2500.0 * u, SQUARE.sample(50))
        found = free_waves(form, UNIT[2])
        size = 2500.0 * np.abs(found.derivative((0, 0), form.x)).max()
        assert np.abs(found.apply(form)).max() < 0.1 * size

    @pytest.mark.parametrize(
        ("op", "domain"),
        [
            (lambda u: -ko.laplacian(u), SQUARE),
            (lambda u: -ko.laplacian(u) + 900.0 * u, SQUARE),
            (lambda u: ko.dt(u) - 0.1 * ko.laplacian(u), CYLINDER),
            (lambda u: u, SQUARE),
            (lambda u: -ko.laplacian(u) - 4.0 * u, SQUARE),  # so long that every probe has them
        ],
        ids=["Laplace", "screened", "heat", "identity", "long waves"],
    )
    def test_none(self, op, domain):
        assert waves_of(op, domain, UNIT[2]) is None


@pytest.mark.parametrize(("speed", "finer"), [(9.0, 3.0), (1.0, None)])
def test_axes_are_resolved_halfway_as_fine_as_waves_ask_for(speed, finer):
    """Waves of speed 9 have nine periods in time for each in space: √9 times finer. The Laplacian has no waves."""
    form = normal_form(lambda u: ko.dt(u, 2) - speed**2 * ko.partial(u, 0, 2), CYLINDER.sample(50), name="f")
    found = resolving(UNIT[2], [form])
    assert found.fineness is None if finer is None else found.fineness == pytest.approx([1.0, finer])
    plain = normal_form(lambda u: -speed * ko.laplacian(u), SQUARE.sample(50), name="f")
    assert resolving(UNIT[2], [plain]) is UNIT[2]
