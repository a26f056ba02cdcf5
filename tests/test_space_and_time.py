"""On a SpaceTime grad, div, laplacian and normal_derivative are spatial and dt is ∂/∂t, wherever operators are read."""

import functools
import pickle
import sys

import cloudpickle
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from distributed import Client, LocalCluster

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, FileError, OperatorError
from kernop.basics.precision import float64
from kernop.collocation.ansatz import collocate, normal_form
from kernop.geometry.points import concatenate
from kernop.trust.estimates import maximum

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers have no such module

ROD = ko.SpaceTime(ko.Interval(0, 1), (0, 1))
PLATE = ko.SpaceTime(ko.Box([0, 0], [1, 2]), (0.5, 1.5))
DRUM = ko.SpaceTime(ko.Ball([0, 0], 1.0), (0, 2))
SQUARE = ko.Box([0, 0], [1, 1])


@jax.jit
def a(x):
    """Diffusion that depends on place and time."""
    return jnp.exp(0.4 * x[..., 0] - 0.3 * x[..., -1]) + x[..., -1] ** 2


@jax.jit
def wind(x):
    """As many parts as space has coordinates."""
    return jnp.stack([jnp.sin(x[..., -1]) + k * x[..., 0] for k in range(x.shape[-1] - 1)], axis=-1)


@jax.jit
def stiffness(x):
    unit = jnp.eye(x.shape[-1] - 1)
    return unit * a(x)[..., None, None] + 0.1


@jax.jit
def smooth(x):
    k = jnp.arange(1, x.shape[-1] + 1)
    return jnp.sin(jnp.sum(k * x, axis=-1)) + 0.5 * jnp.exp(-x[..., -1]) * x[..., 0] ** 3


# --- What the words mean, against nested automatic differentiation of u at one point ----------------------------------


def space_gradient(u, z):
    return jax.grad(u)(z)[:-1]


def space_divergence(v, z):
    return jnp.trace(jax.jacfwd(v)(z)[:, :-1])


WORDS = {
    "dt": (lambda u: ko.dt(u), lambda u, z: jax.grad(u)(z)[-1]),
    "dt of order 2": (lambda u: ko.dt(u, 2), lambda u, z: jax.hessian(u)(z)[-1, -1]),
    "dt of order 0": (lambda u: ko.dt(u, order=0), lambda u, z: u(z)),
    "laplacian": (lambda u: ko.laplacian(u), lambda u, z: jnp.trace(jax.hessian(u)(z)[:-1, :-1])),
    "laplacian over all": (lambda u: ko.laplacian(u, axes=range(u.dim)), lambda u, z: jnp.trace(jax.hessian(u)(z))),
    "div(grad)": (lambda u: ko.div(ko.grad(u)), lambda u, z: jnp.trace(jax.hessian(u)(z)[:-1, :-1])),
    "div(a grad), a(x, t)": (
        lambda u: ko.div(a * ko.grad(u)),
        lambda u, z: space_divergence(lambda y: a(y) * space_gradient(u, y), z),
    ),
    "dot(b, grad)": (lambda u: ko.dot(wind, ko.grad(u)), lambda u, z: wind(z) @ space_gradient(u, z)),
    "div(A grad)": (
        lambda u: ko.div(ko.matvec(stiffness, ko.grad(u))),
        lambda u, z: space_divergence(lambda y: stiffness(y) @ space_gradient(u, y), z),
    ),
    "dt(a u)": (lambda u: ko.dt(a * u), lambda u, z: jax.grad(lambda y: a(y) * u(y))(z)[-1]),
    "heat": (
        lambda u: ko.dt(u) - 0.1 * ko.laplacian(u),
        lambda u, z: jax.grad(u)(z)[-1] - 0.1 * jnp.trace(jax.hessian(u)(z)[:-1, :-1]),
    ),
}
PLACES = {
    "rod": ROD.sample(7),
    "plate": PLATE.sample(7),
    "a part of the drum": DRUM.where(lambda x: x[..., 0] > 0).sample(7),
    "walls": PLATE.walls.sample(7),
    "initial": PLATE.initial.sample(7),
    "final": ROD.final.sample(7),
    "boundary": PLATE.boundary.sample(7),
    "part of the walls": DRUM.walls.where(lambda x: x[..., 1] > 0).sample(7),
    "own points": ROD.adopt([[0.25, 0.5], [0.5, 1.0]]),
    "own points of a region without time": ROD.adopt(SQUARE.sample(5)),
    "own points that say it": ko.Points([[0.25, 0.5], [0.5, 1.0]], timed=True),
    "slice of points": PLATE.sample(9)[2:5],
    "points together": concatenate([ROD.sample(3), ROD.walls.sample(3)]),
    "points that travelled": pickle.loads(pickle.dumps(PLATE.sample(4))),
    "cloud": ko.PointCloud(ROD.sample(20).x, ROD.boundary.sample(8).x, timed=True).sample(5),
    "rim of a cloud": ko.PointCloud(ROD.sample(20).x, ROD.boundary.sample(8).x, timed=True).boundary.sample(5),
}


#: Every word at some places, and every place with some words.
PAIRS = [
    (word, place)
    for word in WORDS
    for place in PLACES
    if place in ("rod", "plate", "walls") or word in ("heat", "div(a grad), a(x, t)")
]


@pytest.mark.parametrize(("word", "place"), PAIRS)
def test_words_against_nested_differentiation(word, place):
    (op, by_hand), points = WORDS[word], PLACES[place]
    with float64():
        x = jnp.asarray(points.x)
        wanted = np.asarray(_compiled(by_hand)(x))
        form = normal_form(op, points)
        found = sum(
            c * np.asarray(_derivative(alpha)(x)) for alpha, c in zip(form.alphas, form.coefficients.T, strict=True)
        )
    np.testing.assert_allclose(ko.apply_operator(op, smooth, points), wanted, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


@functools.cache
def _compiled(by_hand):
    return jax.jit(jax.vmap(lambda z: by_hand(smooth, z)))


@functools.cache
def _derivative(alpha):
    """∂^α of the smooth function, compiled once for all words."""
    u = smooth
    for axis, times in enumerate(alpha):
        for _ in range(times):
            u = lambda z, u=u, axis=axis: jax.grad(u)(z)[axis]
    return jax.jit(jax.vmap(u))


@pytest.mark.parametrize("region", [PLATE, PLATE.walls, PLATE.initial, DRUM.final, ROD.boundary])
def test_gradients_have_a_part_for_each_coordinate_of_space(region):
    sizes = []
    normal_form(lambda u: sizes.append(len(ko.grad(u))) or u, region.sample(3))
    assert sizes == [region.dim - 1]


@pytest.mark.parametrize("domain", [ROD, PLATE, DRUM])
def test_normal_derivatives_on_walls(domain):
    points = domain.walls.sample(9)
    with float64():
        slopes = np.asarray(jax.jit(jax.vmap(jax.grad(smooth)))(points.x))
    wanted = np.sum(slopes[:, :-1] * points.normal[:, :-1], axis=1)
    np.testing.assert_allclose(ko.apply_operator(ko.normal_derivative, smooth, points), wanted, rtol=1e-12)


@pytest.mark.parametrize("region", [PLATE.initial, PLATE.final, PLATE.boundary])
def test_normals_along_time_are_refused_unless_axes_say_so(region):
    points = region.sample(40)
    with pytest.raises(OperatorError, match=r"q: normal_derivative: got points whose normal is along time; use it on"):
        normal_form(ko.normal_derivative, points, name="q")
    with float64():
        slopes = np.asarray(jax.jit(jax.vmap(jax.grad(smooth)))(points.x))
    found = ko.apply_operator(lambda u: ko.normal_derivative(u, axes=(0, 1, 2)), smooth, points)
    # Terms near 3, which cancel at some points.
    np.testing.assert_allclose(found, np.sum(slopes * points.normal, axis=1), rtol=0.0, atol=2e-14)


# --- Where there is no time, or nobody said ---------------------------------------------------------------------------


@pytest.mark.parametrize("points", [SQUARE.sample(3), SQUARE.boundary.sample(3), ko.Interval(0, 1).sample(3)])
def test_dt_needs_a_time(points):
    with pytest.raises(
        OperatorError, match=r"f: dt\(u\): got a problem that has no time; state the problem on a Space"
    ):
        normal_form(lambda u: ko.dt(u) - ko.laplacian(u), points, name="f")


@pytest.mark.parametrize("word", [ko.dt, ko.laplacian, ko.grad, ko.normal_derivative])
def test_points_that_do_not_say_are_refused(word):
    points = ko.Points([[0.6, 0.8]], [[0.6, 0.8]])
    message = rf"{word.__name__}\(u\): points: got points with 2 coordinates that do not say .*Points\(x, timed=False\)"
    for read in (normal_form, lambda op, places: ko.apply_operator(op, smooth, places)):
        with pytest.raises(OperatorError, match=message):
            read(lambda u: u + word(u) if word is not ko.grad else u + word(u)[0], points)


def test_one_coordinate_is_space_and_named_axes_need_not_know():
    assert normal_form(ko.laplacian, ko.Points([[0.5]])).alphas == ((2,),)
    form = normal_form(lambda u: ko.laplacian(u, axes=(1,)) + ko.partial(u, -1), ko.Points([[0.5, 0.2]]))
    assert form.alphas == ((0, 1), (0, 2))


def test_points_of_both_kinds_together_do_not_say():
    assert concatenate([ROD.sample(2), SQUARE.sample(2)]).timed is None
    assert ROD.sample(2).timed is True
    assert SQUARE.sample(2).timed is False
    assert repr(ROD.walls.sample(2)) == "Points(n=2, d=2, with normals, in space–time)"


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: ko.Points([[0.5]], timed=True), ArgumentError, r"Points.timed: got True for one coordinate"),
        (lambda: ko.Points([[0.5, 1.0]], timed=1), ArgumentTypeError, r"Points.timed: got 1; give True or False"),
        (lambda: ko.PointCloud([[0.5, 1.0]], [[1.0, 1.0]], timed="t"), ArgumentTypeError, r"^timed: got 't'"),
        (
            lambda: ko.Problem(ko.Equation(ko.dt, on=ROD), ko.Dirichlet(on=SQUARE.boundary)),
            ArgumentError,
            r"conditions: got 'f' on SpaceTime.*, with time, 'g' on Box.*, without time; state all on parts of",
        ),
    ],
)
def test_times_that_do_not_fit(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


# --- A learned operator: u_t − 0.1 u_xx = −0.6 u for u = e^{−t} sin(2x + 0.3) -----------------------------------------


def exact(x):
    return jnp.exp(-x[..., 1]) * jnp.sin(2.0 * x[..., 0] + 0.3)


def source(x):
    return -0.6 * exact(x)


def heat(op=lambda u: ko.dt(u) - 0.1 * ko.laplacian(u), walls=ROD.walls):
    return ko.Problem(ko.Equation(op, on=ROD), ko.Dirichlet(on=walls), ko.Initial(on=ROD.initial))


PROBLEM = heat()
X = ROD.sample(60, "uniform", seed=5).x
VALUES = np.exp(-X[:, 1]) * np.sin(2.0 * X[:, 0] + 0.3)
METHODS = {
    "subspace": {"points": 400},
    "representers": {"points": 400, "method": ko.Subspace(200, basis="representers"), "kernel": ko.Gaussian(0.5)},
    "full": {"points": 400, "method": ko.Full(), "kernel": ko.Gaussian(0.6), "regularization": 1e-10},
    "low rank": {"points": 400, "method": ko.LowRank(), "kernel": ko.Gaussian(0.6), "regularization": 1e-10},
    "stream": {"points": 400, "method": ko.Subspace(100, batch=90)},
    "stream, normal equations": {"points": 400, "method": ko.Subspace(60, batch=90, solver="normal")},
    "own points": {"points": {"f": X, "g": ROD.walls.sample(40).x, "u0": ROD.initial.sample(20).x}},
    "batches": {
        "points": ko.Batches(4, lambda k: {c.name: c.on.sample(60, seed=k).x for c in PROBLEM.conditions}),
        "method": ko.Subspace(100, batch=180),
    },
}


@pytest.fixture(scope="module")
def operator():
    return ko.learn(PROBLEM, points=600)


@pytest.fixture(scope="module")
def u(operator):
    return operator(source, exact, exact)


def test_the_problem_knows_its_time():
    assert PROBLEM.timed
    assert not ko.Problem(ko.Dirichlet(on=SQUARE.boundary)).timed


@pytest.mark.parametrize("arguments", METHODS.values(), ids=METHODS)
def test_every_method_learns_the_heat_equation(arguments):
    assert np.max(np.abs(ko.learn(PROBLEM, **arguments)(source, exact, exact)(X) - VALUES)) < 1e-3


@pytest.mark.parametrize("arguments", [METHODS["full"], METHODS["stream"]], ids=["full", "stream"])
def test_rows_of_updates(arguments):
    T = ko.learn(PROBLEM, **arguments).update({"f": ROD.sample(30, seed=9).x})
    assert np.max(np.abs(T(source, exact, exact)(X) - VALUES)) < 1e-3


def test_learning_to_a_tolerance():
    T = ko.learn(PROBLEM, tol=1e-5, inputs=[(source, exact, exact)])
    assert np.max(np.abs(T(source, exact, exact)(X) - VALUES)) < 1e-5


def test_on_workers():
    arguments = METHODS["batches"] | {"inputs": [(source, exact, exact)]}
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as one, Client(one) as client:
        (found,) = ko.learn(PROBLEM, client=client, **arguments).solutions
    assert np.max(np.abs(found(X) - VALUES)) < 1e-3


@pytest.mark.filterwarnings("ignore::kernop.errors.IllPosedWarning")
def test_a_checkpoint_is_of_this_equation(tmp_path):
    """u_t − 0.1 u_xx goes on; with u_tt it is another pass."""

    class PowerCutError(Exception):
        pass

    def learn(take, op=lambda u: ko.dt(u) - 0.1 * ko.laplacian(u)):
        batches, method = ko.Batches(4, take), ko.Subspace(60, batch=180)
        mark = ko.Checkpoint(tmp_path / "mark", every=0.0)
        return ko.learn(heat(op), points=batches, method=method, checkpoint=mark, inputs=[(source, exact, exact)])

    seen = []

    def cut(k):
        seen.append(k)
        if k == 3 and len(seen) > 3:  # not when a few batches are looked at
            raise PowerCutError
        return whole(k)

    def whole(k):
        return {c.name: c.on.sample(60, seed=k).x for c in PROBLEM.conditions}

    with pytest.raises(PowerCutError):
        learn(cut)
    with pytest.raises(FileError, match="a checkpoint of another pass"):
        learn(whole, lambda u: ko.dt(u) - 0.1 * ko.laplacian(u, axes=(0, 1)))
    assert np.max(np.abs(learn(whole).solutions[0](X) - VALUES)) < 1e-3


def test_manufactured_data():
    points = {c.name: c.on.sample(30).x for c in PROBLEM.conditions}
    data = PROBLEM.manufacture(exact, points)
    with float64():
        np.testing.assert_allclose(data["f"], source(points["f"]), rtol=1e-12)


def test_u_apply_and_on_and_residual(operator, u):
    for places in (X, ROD.adopt(X), SQUARE.adopt(X), ko.Points(X)):
        np.testing.assert_allclose(u.apply(lambda v: ko.laplacian(v), places), -4.0 * VALUES, atol=1e-4)
        np.testing.assert_allclose(u.apply(lambda v: ko.dt(v, 2), places), VALUES, atol=1e-4)
    found = operator.on(X, lambda v: ko.div(ko.grad(v)))(source, exact, exact)
    np.testing.assert_allclose(found, -4.0 * VALUES, atol=1e-4)
    assert np.max(np.abs(u.residual("f", X))) < 1e-5
    assert u.grad(X).shape == (60, 2)
    np.testing.assert_allclose(u.grad(X)[:, 1], -VALUES, atol=1e-5)


def test_std_and_samples_of_operators():
    T = ko.learn(
        PROBLEM, points=150, method=ko.Full(), kernel=ko.Gaussian(0.6), noise={"f": 0.1, "g": 0.01, "u0": 0.01}
    )
    plain, spatial = lambda v: ko.partial(v, 0, 2), lambda v: ko.laplacian(v)
    solution = T(source, exact, exact)
    np.testing.assert_array_equal(T.std(X, spatial), T.std(X, plain))
    np.testing.assert_array_equal(T.covariance(X[:5], op=spatial), T.covariance(X[:5], op=plain))
    np.testing.assert_array_equal(solution.std(X, spatial), solution.std(X, plain))
    np.testing.assert_array_equal(solution.samples(X[:5], 2, op=spatial), solution.samples(X[:5], 2, op=plain))


def test_error_estimates(u):
    estimate = u.error_estimate(covering=400)
    assert estimate.bound is not None
    assert estimate.bound.kind == "parabolic"
    assert np.max(np.abs(u(X) - VALUES)) <= estimate.bound.linf < 1e-3
    assert isinstance(estimate.bound, maximum.MaximumBound)


def moving(v):
    """An operator that a file knows by its values alone."""
    return ko.dt(v) - ko.div(a * ko.grad(v))


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.filterwarnings("ignore::kernop.errors.IllPosedWarning")
@pytest.mark.parametrize("op", [PROBLEM["f"].op, moving], ids=["constant", "table"])
@pytest.mark.parametrize("walls", [ROD.walls, ROD.walls.where(lambda x: x[..., 0] < 0.5)], ids=["walls", "part"])
def test_files(tmp_path, op, walls):
    """The words keep their meaning on what comes back; the problem is the one of the file, and with u_tt it is not."""
    problem = heat(op, walls)
    T = ko.learn(problem, points=200, method=ko.Subspace(50))
    T.save(tmp_path / "T")
    for back in (ko.load(tmp_path / "T"), ko.load(tmp_path / "T", problem=problem)):
        assert back.problem.timed
        assert all(points.timed for points in back.points.values())
        assert all(region.on.sample(3).timed for region in back.problem.conditions)
        one, other = (each(1.0, 0.0, exact).apply(lambda v: ko.laplacian(v), X) for each in (T, back))
        np.testing.assert_array_equal(one, other)
        for was, now in zip(*(collocate(t.problem, t.points).blocks for t in (T, back)), strict=True):
            assert was.alphas == now.alphas
    changed = heat(lambda v: op(v) - ko.partial(v, -1, 2), walls)
    with pytest.raises(
        ArgumentError, match=r"another one than the one in the file: 'f' has the coefficient .*\(0, 2\)"
    ):
        ko.load(tmp_path / "T", problem=changed)


def test_files_of_streams_and_clouds(tmp_path):
    sensors = ko.PointCloud(X[:40], X[40:], timed=True)
    problem = ko.Problem(*PROBLEM.conditions, ko.Condition(lambda v: ko.laplacian(v), sensors.boundary, "s"))
    T = ko.learn(problem, points={"f": 200, "g": 60, "u0": 40, "s": 20}, method=ko.Subspace(60, batch=90))
    T.save(tmp_path / "T")
    back = ko.load(tmp_path / "T")
    assert back.problem["s"].on.timed
    inputs = (source, exact, exact, lambda x: -4.0 * exact(x))
    one, other = (each(*inputs).apply(lambda v: ko.dt(v) + ko.laplacian(v), X) for each in (T, back))
    np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(one, -5.0 * VALUES, atol=1e-2)
