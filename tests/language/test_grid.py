"""GridFunction: where its nodes are, what it does in JAX and in operators, and what it refuses."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import kernop as ko

SQUARE, PLATE = ko.Box([0, 0], [1, 1]), ko.Box([0, -1], [1, 2])
CYLINDER = ko.SpaceTime(ko.Interval(0, 1), (0, 0.5))


def nodes(*axes):
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)


def wave(x):
    return np.sin(3 * x[..., 0]) * np.exp(-x[..., 1])


GRID = nodes(np.linspace(0, 1, 25), np.linspace(-1, 2, 40))
INSIDE = PLATE.sample(400, "uniform").x


def test_all_values_are_met_at_nodes_that_include_the_ends():
    own = ko.GridFunction(wave(GRID), PLATE)
    assert np.allclose(own(GRID), wave(GRID), atol=1e-13)


def test_values_in_cells_stand_at_the_centres_of_the_cells():
    centres = nodes((np.arange(30) + 0.5) / 30, -1 + 3 * (np.arange(60) + 0.5) / 60)
    own = ko.GridFunction(wave(centres), PLATE, at="cells", degree=5)
    assert np.allclose(own(centres), wave(centres), atol=1e-13)
    assert np.abs(own(INSIDE) - wave(INSIDE)).max() < 1e-6  # half a cell beyond the nodes too


@pytest.mark.parametrize(("degree", "order"), [(3, 4), (5, 6)])
def test_the_error_falls_as_the_degree_says(degree, order):
    errors = []
    for n in (20, 40):
        grid = nodes(np.linspace(0, 1, n + 1), np.linspace(-1, 2, n + 1))
        own = ko.GridFunction(wave(grid), PLATE, degree=degree)
        errors.append(np.sqrt(np.mean((own(INSIDE) - wave(INSIDE)) ** 2)))
    assert np.log2(errors[0] / errors[1]) > order - 0.5


@pytest.mark.parametrize(
    "domain",
    [ko.Interval(-1, 1), ko.Box([0, 0, 0], [1, 2, 3]), CYLINDER, ko.SpaceTime(ko.Box([0, 0], [1, 1]), (1, 3))],
    ids=["line", "cube", "line and time", "square and time"],
)
def test_every_dimension_and_time(domain):
    low, high = domain.bounds
    grid = nodes(*(np.linspace(a, b, 9) for a, b in zip(low, high, strict=True)))
    cubic = lambda x: np.prod((x - 0.3) ** 3, axis=-1) + x[..., 0]  # which a cubic spline is
    own, x = ko.GridFunction(cubic(grid), domain), domain.sample(50, "uniform").x
    assert np.allclose(own(x), cubic(x), atol=1e-12 * np.abs(cubic(grid)).max())


def test_complex_values_and_vectors():
    both = np.stack([wave(GRID), 1j * wave(GRID) + 2], axis=-1)
    found = ko.GridFunction(both, PLATE)(INSIDE)
    one = ko.GridFunction(wave(GRID), PLATE)(INSIDE)
    assert np.allclose(found, np.stack([one, 1j * one + 2], axis=-1))


def test_jax_maps_compiles_and_differentiates_it():
    own = ko.GridFunction(wave(GRID), PLATE, degree=5)
    with jax.enable_x64(True):
        x = jnp.asarray(INSIDE)
        rows, mapped, hessian = jax.jit(lambda x: (own(x), jax.vmap(own)(x), jax.vmap(jax.hessian(own))(x)))(x)
    assert np.allclose(rows, own(INSIDE), atol=1e-14)
    assert np.allclose(mapped, own(INSIDE), atol=1e-14)
    assert np.allclose(hessian[:, 0, 0], -9 * wave(INSIDE), atol=2e-3)
    assert own(INSIDE.reshape(20, 20, 2)).shape == (20, 20)


def test_outside_it_is_not_known():
    own = ko.GridFunction(wave(GRID), PLATE)
    with pytest.raises(ko.errors.OutsideDomainError, match=r"1 of 2 points outside the grid, the first at \[0.5 2.1\]"):
        own(np.array([[0.5, 0.5], [0.5, 2.1]]))
    traced = jax.jit(own)(jnp.array([[0.5, 0.5], [0.5, 2.1]]))
    assert np.isfinite(traced[0])
    assert np.isnan(traced[1])
    larger = ko.Box([0, -1], [1, 3])
    with pytest.raises(ko.errors.OutsideDomainError, match=r"f: coefficient: GridFunction: .* outside the grid"):
        ko.learn(ko.Problem(ko.Equation(lambda u: own * u - ko.laplacian(u), on=larger), ko.Dirichlet(larger.boundary)))


def darcy(a, **fixed):
    return ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=SQUARE, name="f"), ko.Dirichlet(SQUARE.boundary, "g", **fixed)
    )


def test_as_a_coefficient_under_div_it_is_the_function_that_it_interpolates():
    grid = nodes(np.linspace(0, 1, 65), np.linspace(0, 1, 65))
    smooth = jax.jit(lambda x: jnp.exp(jnp.sin(2 * x[..., 0]) + x[..., 1]))
    u = jax.jit(lambda x: jnp.sin(2 * x[..., 0] + x[..., 1]))
    a = ko.GridFunction(np.exp(np.sin(2 * grid[..., 0]) + grid[..., 1]), SQUARE)
    T = ko.learn(darcy(a), method=ko.Subspace(250))
    data = darcy(smooth).manufacture(u, T.points)  # of the function, not of its interpolant
    x = SQUARE.sample(300, "uniform").x
    assert np.abs(T(**data)(x) - np.asarray(u(x))).max() < 2e-6


def test_as_source_and_initial_state():
    decay = lambda t: np.exp(-(np.pi**2) * t)
    line = np.linspace(0, 1, 60)
    heat = ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=CYLINDER, name="f"),
        ko.Initial(
            CYLINDER.initial, data=ko.GridFunction(np.sin(np.pi * nodes(line, line)[..., 0]), CYLINDER, degree=5)
        ),
        ko.Dirichlet(CYLINDER.walls, data=0.0),
    )
    grid = nodes(line, np.linspace(0, 0.5, 30))
    u = ko.learn(heat, method=ko.Subspace(250))(ko.GridFunction(np.sin(np.pi * grid[..., 0]), CYLINDER, degree=5))
    x = CYLINDER.sample(200, "uniform").x
    truth = np.sin(np.pi * x[:, 0]) * (decay(x[:, 1]) + (1 - decay(x[:, 1])) / np.pi**2)
    assert np.abs(u(x) - truth).max() < 1e-6


@pytest.mark.parametrize("scale", [1.0, 1j])
@pytest.mark.parametrize("box", [SQUARE, (np.linspace(0, 1, 6) ** 2, np.linspace(0, 1, 7))], ids=["box", "axes"])
def test_in_files_it_stays_a_function(tmp_path, scale, box):
    own = ko.GridFunction(scale * np.random.default_rng(0).normal(size=(6, 7)), box, degree=5)
    T = ko.learn(darcy(1.0, data=own), method=ko.Subspace(50))
    T.save(tmp_path / "T.kernop")
    back, x = ko.load(tmp_path / "T.kernop").problem["g"].data, SQUARE.sample(50, "uniform").x
    assert back == own
    assert np.array_equal(back(x), own(x))


def test_xarray_brings_its_coordinates():
    x, y = np.linspace(0, 1, 25) ** 1.2, np.linspace(2, -1, 40)  # uneven, and falling
    grid = nodes(x, y)
    array = xr.DataArray(wave(grid).T, dims=("lat", "lon"), coords={"lat": y, "lon": x})
    own = ko.GridFunction.from_xarray(array, dims=("lon", "lat"))
    assert np.allclose(own(grid), wave(grid), atol=1e-12)
    assert np.abs(own(INSIDE) - wave(INSIDE)).max() < 1e-4
    flipped = ko.GridFunction.from_xarray(array, dims=("lat", "lon"))
    assert np.allclose(flipped(grid[..., ::-1]), wave(grid), atol=1e-12)
    with pytest.raises(
        ko.errors.ArgumentError, match=r"dims: got .* x\[\.\.\., 0\] would be lat; give dims=\('lon', 'lat'\)"
    ):
        ko.GridFunction.from_xarray(array)
    named = array.rename(lat="row", lon="column")  # words that have no usual order are taken as they stand
    assert np.allclose(ko.GridFunction.from_xarray(named)(grid[..., ::-1]), wave(grid), atol=1e-12)


def test_labels_that_cannot_be_used_are_named():
    plain = xr.DataArray(np.zeros((3, 4)), dims=("x", "y"))
    with pytest.raises(
        ko.errors.ArgumentTypeError, match=r"named dimensions \('y', 'x'\); use GridFunction.from_xarray"
    ):
        ko.GridFunction(plain.T, SQUARE)  # its order would be lost
    with pytest.raises(ko.errors.ArgumentError, match=r"coords\['x'\]: got a dimension without coordinates"):
        ko.GridFunction.from_xarray(plain)
    days = plain.assign_coords(x=np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="M8[ns]"), y=range(4))
    with pytest.raises(ko.errors.ArgumentTypeError, match="dates or times; turn them into numbers"):
        ko.GridFunction.from_xarray(days)
    with pytest.raises(ko.errors.ArgumentError, match="name each of its dimensions once: x, y"):
        ko.GridFunction.from_xarray(days, dims=("x", "z"))
    with pytest.raises(ko.errors.ArgumentTypeError, match="give an xarray"):
        ko.GridFunction.from_xarray(np.zeros((3, 3)))
    with pytest.raises(ko.errors.ArgumentTypeError, match=r"a dataset of several arrays; give .* dataset\['k'\]"):
        ko.GridFunction.from_xarray(xr.Dataset({"k": plain}))


@pytest.mark.parametrize(
    ("values", "box", "more", "said"),
    [
        (np.full((3, 3), np.nan), SQUARE, {}, "9 of 9 values that are NaN"),
        (np.zeros(3), SQUARE, {}, r"shape \(3,\) for a box in 2 dimensions"),
        (np.zeros((1, 3)), SQUARE, {}, "1 node along an axis"),
        (np.zeros((3, 3)), ko.Ball([0, 0], 1), {}, "give an Interval, a Box"),
        (np.zeros((3, 3)), ko.SpaceTime(ko.Ball([0, 0], 1), (0, 1)), {}, "an array fills a box"),
        (np.zeros((3, 3)), ([0, 1, 2], [0, 2, 1]), {}, "do not increase"),
        (np.zeros((3, 3)), ([0, 1, 2], [0, 1]), {}, r"for \(3, 2\) nodes"),
        (np.zeros((3, 3)), ([0, 1, 2], [0, 1, 2]), {"at": "cells"}, "together with at='cells'"),
        (np.zeros((3, 3)), SQUARE, {"degree": 4}, "give 3, 5 or 7"),
        (np.zeros((3, 3)), SQUARE, {"at": "corners"}, "choose one of"),
        ("map.tif", SQUARE, {}, "numbers are needed"),
    ],
)
def test_what_is_wrong_is_said(values, box, more, said):
    with pytest.raises(ko.errors.KernopError, match=said):
        ko.GridFunction(values, box, **more)


def test_coordinates_come_on_the_last_axis():
    with pytest.raises(ko.errors.ShapeError, match=r"give points of shape \(…, 2\)"):
        ko.GridFunction(np.zeros((3, 3)), SQUARE)(np.zeros((2, 5)))
    with pytest.raises(ko.errors.ShapeError, match=r"lambda x: g\(x\[\.\.\., :1\]\)"):  # an initial state
        ko.GridFunction(np.zeros(3), ko.Interval(0, 1))(np.zeros((5, 2)))


def test_a_spline_that_leaves_the_positive_numbers_is_told():
    steep = np.full((12, 12), 1e-3)
    steep[6:] = 1e3
    with pytest.warns(ko.errors.AccuracyWarning, match="interpolate the logarithm"):
        assert ko.GridFunction(steep, SQUARE)([[0.4091, 0.7727]])[0] < 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ko.GridFunction(np.log(steep), SQUARE)
        ko.GridFunction(np.exp(nodes(np.linspace(0, 3, 20), np.linspace(0, 3, 20)).sum(axis=-1)), SQUARE)


def test_arrays_in_an_operator_are_told_of_it():
    with pytest.raises(ko.errors.OperatorError, match=r"coefficient: got an array of shape \(64, 64\); .*GridFunction"):
        ko.learn(darcy(np.ones((64, 64))))


def test_numpy_and_scipy_under_a_derivative_are_told_of_it():
    with pytest.raises(ko.errors.OperatorError, match=r"ko\.GridFunction.*ko\.ScatteredFunction.*ko\.Piecewise"):
        ko.learn(darcy(lambda x: np.interp(x[..., 0], [0, 1], [1, 2])))


def test_two_corners_are_not_coordinates():
    with pytest.raises(ko.errors.ArgumentError, match=r"box\[0\]: got \[0. 0.\], which do not increase; give Box\("):
        ko.GridFunction(np.ones((8, 8)), ([0, 0], [1, 1]))
