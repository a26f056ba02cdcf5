"""The bound by the maximum principle: attained in closed form, never violated, refused with a reason elsewhere."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.methods import Combination
from kernop.trust.estimates.maximum import NotApplicableError, maximum_bound

LINE, SQUARE, DISK = ko.Interval(0, 1), ko.Box([0, 0], [1, 1]), ko.Ball([0, 0], 1.0)
BRIEF = ko.SpaceTime(LINE, (0, 0.01))


def dirichlet(domain, op):
    return ko.Problem(ko.Equation(op, on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g"))


def heat(domain, op=lambda u: ko.dt(u) - ko.laplacian(u)):
    return ko.Problem(
        ko.Equation(op, on=domain, name="f"),
        ko.Dirichlet(on=domain.walls, name="g"),
        ko.Initial(on=domain.initial, name="u0"),
    )


def bound_of_zero(problem, f=1.0, g=0.0, number=400, method=None):
    """The bound for û = 0, which is wrong by u itself."""
    operator = ko.learn(problem, points=60, method=method or ko.Subspace(centers=10))
    c = np.zeros((len(operator.factorisation.expansion), 1))
    values = {"f": f}

    def data(condition, points):
        return np.full((len(points), 1), values.get(condition.name, g))

    return maximum_bound(problem, Combination(operator.factorisation.expansion, c), data, number)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_on_a_line_the_bound_is_attained(sign):
    # −u″ = 1, u(0) = u(1) = 0.3: u = 0.3 + x(1 − x)/2.
    found = bound_of_zero(dirichlet(LINE, lambda u: -sign * ko.partial(u, 0, 2)), f=sign, g=0.3)
    assert found.linf[0] == pytest.approx(0.3 + 0.125)
    assert found.boundary[0] == pytest.approx(0.3)
    assert found.interior[0] == pytest.approx(1.0)
    assert found.constant == pytest.approx(0.125)
    assert found.kind == "elliptic"


def test_on_a_disk_the_bound_is_attained():
    assert bound_of_zero(dirichlet(DISK, lambda u: -3.0 * ko.laplacian(u))).linf[0] == pytest.approx(1.0 / 12.0)


@pytest.mark.parametrize("mixed", [1.9, -1.9])
def test_a_mixed_derivative_counts_half_in_each_corner_of_the_diffusion(mixed):
    """−Δu − m ∂xy u has the diffusion [[1, m/2], [m/2, 1]], which is positive definite for |m| < 2."""
    problem = dirichlet(SQUARE, lambda u: -ko.laplacian(u) - mixed * ko.partial(ko.partial(u, 0), 1))
    assert bound_of_zero(problem).linf[0] == pytest.approx(0.125)
    beyond = dirichlet(SQUARE, lambda u: -ko.laplacian(u) - 1.1 * mixed * ko.partial(ko.partial(u, 0), 1))
    with pytest.raises(NotApplicableError, match="neither elliptic nor parabolic"):
        bound_of_zero(beyond)


def test_for_a_short_time_the_bound_is_attained():
    # u_t − u_xx = 1 from 0: u ≈ t away from the walls.
    found = bound_of_zero(heat(BRIEF))
    assert found.linf[0] == pytest.approx(0.01)
    assert (found.kind, found.barrier, found.divisor) == ("parabolic", "time", "factor of ∂u/∂t")
    long = bound_of_zero(heat(ko.SpaceTime(LINE, (0, 100))))
    assert long.linf[0] == pytest.approx(0.125)  # the steady state


def test_a_jump_in_the_coefficient_does_not_loosen_the_constant():
    a = lambda x: jnp.where(x[..., 0] < 0.5, 1.0, 1000.0)
    found = bound_of_zero(dirichlet(SQUARE, lambda u: -(a * ko.laplacian(u))), f=0.0)
    assert found.constant == pytest.approx(0.125)


@pytest.mark.filterwarnings("ignore::kernop.errors.IllPosedWarning")
def test_an_envelope_prescribes_what_it_ensures():
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"))
    x = lambda x: x[..., 0] * (1 - x[..., 0]) * x[..., 1] * (1 - x[..., 1])
    assert bound_of_zero(problem, method=ko.Subspace(centers=10, envelope=x)).linf[0] == pytest.approx(0.125)
    half = lambda x: x[..., 0]
    with pytest.raises(NotApplicableError, match="not prescribed on a part"):
        bound_of_zero(problem, method=ko.Subspace(centers=10, envelope=half))


CLOUD = ko.PointCloud(SQUARE.sample(60).x, SQUARE.boundary.sample(40).x)
WAVES = ko.SpaceTime(LINE, (0, 1))
REFUSED = {
    "negative": dirichlet(LINE, lambda u: -ko.partial(u, 0, 2) - 400.0 * u),
    "neither elliptic": dirichlet(SQUARE, lambda u: ko.partial(u, 0, 2) - ko.partial(u, 1, 2)),
    "order 4": dirichlet(LINE, lambda u: ko.partial(u, 0, 4)),
    "time does not run forward": heat(BRIEF, lambda u: -ko.dt(u) - ko.laplacian(u)),
    "second derivatives in time": heat(BRIEF, lambda u: -ko.dt(u, 2) - ko.laplacian(u)),
    "no covering": dirichlet(CLOUD, lambda u: -ko.laplacian(u)),
    "'q' is not a Dirichlet": ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.face("left", "right", "top"), name="g"),
        ko.Neumann(on=SQUARE.face("bottom"), name="q"),
    ),
    "not prescribed on a part": ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.face("left", "right", "top"), name="g"),
    ),
}


@pytest.mark.filterwarnings("ignore::kernop.errors.IllPosedWarning")
@pytest.mark.parametrize("reason", REFUSED)
def test_where_there_is_no_maximum_principle_the_reason_is_told(reason):
    with pytest.raises(NotApplicableError, match=reason):
        bound_of_zero(REFUSED[reason])


@pytest.mark.parametrize("width", [1e-8, 1.0, 1e8])
def test_what_is_negligible_does_not_depend_on_units(width):
    """Waves of number 20 across the domain have no maximum principle, whatever the unit of length; decay has."""
    domain = ko.Interval(0, width)
    waves = dirichlet(domain, lambda u: -ko.partial(u, 0, 2) - (20.0 / width) ** 2 * u)
    with pytest.raises(NotApplicableError, match="negative"):
        bound_of_zero(waves)
    decay = dirichlet(domain, lambda u: -ko.partial(u, 0, 2) + (20.0 / width) ** 2 * u)
    assert bound_of_zero(decay).linf[0] == pytest.approx(width**2 / 8.0)


def test_of_space_and_time_too():
    domain = ko.SpaceTime(ko.Interval(0, 1e8), (0, 1e16))
    growth = heat(domain, lambda u: ko.partial(u, -1) - ko.partial(u, 0, 2) - 1e-14 * u)
    with pytest.raises(NotApplicableError, match="negative"):
        bound_of_zero(growth)


@pytest.mark.filterwarnings("ignore::kernop.errors.IllPosedWarning")
@pytest.mark.parametrize("width", [1e-8, 1e8])
def test_an_envelope_may_have_any_size(width):
    square = ko.Box([0, 0], [width, width])
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=square, name="f"))
    whole = lambda x: x[..., 0] * (width - x[..., 0]) * x[..., 1] * (width - x[..., 1])
    found = bound_of_zero(problem, method=ko.Subspace(centers=10, envelope=whole))
    assert found.linf[0] == pytest.approx(width**2 / 8.0)
    open_above = lambda x: 1e-13 * (x[..., 0] / width) * (1 - x[..., 0] / width) * (x[..., 1] / width)
    with pytest.raises(NotApplicableError, match="not prescribed on a part"):
        bound_of_zero(problem, method=ko.Subspace(centers=10, envelope=open_above))


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_the_bound_holds_for_poor_answers():
    # Five solutions that 16 centres cannot resolve, variable coefficients and a drift.
    problem = dirichlet(
        SQUARE,
        lambda u: -ko.div((lambda x: jnp.exp(x[..., 0])) * ko.grad(u)) + ko.dot([3.0, -1.0], ko.grad(u)) + 2.0 * u,
    )
    waves = np.random.default_rng(5).normal(size=(5, 2)) * 4

    def exact(x):
        return np.sin(x @ waves.T)

    def source(x):
        a, slope = np.exp(x[..., :1]), np.cos(x @ waves.T)
        return (a * np.sum(waves**2, axis=1) + 2.0) * exact(x) + ((3.0 - a) * waves[:, 0] - waves[:, 1]) * slope

    u = ko.learn(problem, points=200, method=ko.Subspace(centers=16))(source, exact)
    bound = u.error_estimate(covering=1600).bound.linf
    places = SQUARE.sample(5000, "uniform", seed=9)
    error = np.max(np.abs(u(places.x) - exact(places.x)), axis=0)
    assert np.min(error) > 1e-4
    assert np.all(error <= bound)
    assert np.all(bound <= 100.0 * error)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("centers", [100, 200])
@pytest.mark.parametrize("name", ["Poisson", "Darcy", "heat"])
def test_suprema_of_residuals_are_not_below_what_is_found_elsewhere(name, centers):
    """Data that do not fit together at corners: the residual peaks there, and is looked for there too."""
    problem = {
        "Poisson": dirichlet(SQUARE, lambda u: -ko.laplacian(u)),
        "Darcy": dirichlet(SQUARE, lambda u: -ko.div((lambda x: jnp.exp(x[..., 0] + x[..., 1])) * ko.grad(u))),
        "heat": heat(ko.SpaceTime(LINE, (0, 1))),
    }[name]
    operator = ko.learn(problem, points=3 * centers, method=ko.Subspace(centers))
    u = operator(**dict.fromkeys(problem.inputs, 0.0) | {"f": 1.0})
    found = u.error_estimate().bound
    rng = np.random.default_rng(7)
    x = np.concatenate([rng.uniform(size=(5000, 2)), rng.beta(0.2, 0.2, size=(5000, 2)), rng.beta(0.2, 1, (5000, 2))])
    size = np.exp(x[:, 0] + x[:, 1]) if name == "Darcy" else 1.0  # the mean diffusion, or the factor of ∂u/∂t
    assert found.interior >= np.max(np.abs(u.residual("f", x) / size))
    for condition in problem.conditions[1:]:
        rim = condition.on.sample(3000, "uniform", seed=5)
        assert found.boundary >= np.max(np.abs(u.residual(condition.name, rim)))
