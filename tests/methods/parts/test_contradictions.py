"""Data that contradict each other leave a misfit on the seams, at the root of the tree, and are not passed over."""

import warnings

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko

LINE, PLATE = ko.Interval(0, 1), ko.Box([0, 0], [2, 1])
GLUINGS = ["values", "robin", "impedance"]


def insulated(domain):
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=domain),
        ko.Neumann(on=domain.boundary, name="g"),
        ko.Mean(on=domain, name="m"),
    )


def answered(T, *data):
    """The solution, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return T(*data)


@pytest.mark.parametrize("gluing", GLUINGS)
@pytest.mark.parametrize("cells", [2, 3, 4])
def test_slopes_alone_on_a_line(cells, gluing):
    """−u″ = π² cos πx with slopes and mean 0 is cos πx; with a source that is larger by δ there is no solution."""
    T = ko.learn(insulated(LINE), method=ko.Partition(cells=cells, degree=16, gluing=gluing))
    source = lambda x: np.pi**2 * jnp.cos(np.pi * x[..., 0])
    u, x = T(source, 0.0, 0.0), np.linspace(0, 1, 40)[:, None]
    np.testing.assert_allclose(u(x), np.cos(np.pi * x[:, 0]), atol=1e-11)
    assert u.misfit < 1e-9
    moved = T(source, 0.0, 2.5)
    np.testing.assert_allclose(moved(x), 2.5 + np.cos(np.pi * x[:, 0]), atol=1e-11)
    assert moved.misfit < 1e-9
    defects = np.array([1e-6, 1e-4, 1e-2])
    left = np.array([answered(T, lambda x, d=d: source(x) + d, 0.0, 0.0).misfit for d in defects])
    np.testing.assert_allclose(left / defects, left[0] / defects[0], rtol=1e-2)  # linear in the defect
    assert 0.05 < left[0] / (defects[0] / np.pi**2) < 500
    hidden = answered(T, lambda x: source(x) + 1e-2, 0.0, 1e4)
    assert hidden.misfit == pytest.approx(left[2], rel=1e-2)  # a mean, however large, does not hide it


@pytest.mark.parametrize("gluing", GLUINGS)
def test_a_source_without_a_sink_is_said(gluing):
    T = ko.learn(insulated(PLATE), method=ko.Partition(cells=2, degree=9, levels=0, gluing=gluing))
    with pytest.warns(ko.errors.AccuracyWarning, match="contradict"):
        u = T(1.0, 0.0, 0.0)
    assert u.misfit > 0.1
    assert u.error_estimate(covering=None, search=None).relative_l2 > 0.5
    v = answered(T, 1.0, lambda x: -1.0 / 3.0 + 0.0 * x[..., 0], 0.0)  # ∮g = −∫f
    assert v.misfit < 1e-2 * u.misfit


def test_the_estimate_sees_what_points_do_not():
    """On a line of two parts −u″ = 1 with slopes 0 holds at every point but the seam, at which the slope jumps by 1."""
    T = ko.learn(insulated(LINE), method=ko.Partition(cells=2, degree=6))
    u = answered(T, 1.0, 0.0, 0.0)
    x = np.array([[0.1], [0.4], [0.9]])
    np.testing.assert_allclose(u.apply(lambda v: -ko.laplacian(v), x), 1.0, atol=1e-9)
    assert u.misfit > 0.1
    found = u.error_estimate(covering=None, search=None)
    assert found.relative_l2 > 0.5


def test_complex_data():
    T = ko.learn(insulated(LINE), method=ko.Partition(cells=3, degree=8))
    real, both = answered(T, 1.0, 0.0, 0.0), answered(T, 3.0 + 4.0j, 0.0, 0.0)
    assert both.misfit == pytest.approx(real.misfit)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cells", [1, 2])
def test_nothing_that_determines_a_constant_is_refused(cells):
    problem = ko.Problem(*insulated(LINE).conditions[:2])
    with pytest.raises(ko.errors.SingularGramError):
        ko.learn(problem, method=ko.Partition(cells=cells, degree=8))


def test_two_conditions_on_one_side():
    """u = 1 and u = 0 on the same side: whatever part has it, it is said."""
    square = ko.Box([0, 0], [1, 1])
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=square),
        ko.Dirichlet(on=square.boundary, name="g"),
        ko.Dirichlet(on=square.face("left"), name="again"),
    )
    T = ko.learn(problem, method=ko.Partition(cells=2, degree=8, levels=0))
    assert T(0.0, 1.0, 1.0).misfit < 1e-9
    with pytest.warns(ko.errors.AccuracyWarning, match="contradict"):
        assert T(0.0, 1.0, 0.0).misfit > 0.1


def test_constant_data_without_a_solution_are_not_followed():
    T = ko.learn(insulated(LINE), method=ko.Partition(degree=9), tol=1e-4)
    assert T.report.met
    assert T.report.followed == ("m = 1",)
    with pytest.warns(ko.errors.AccuracyWarning, match="contradict"):
        T(1.0, 0.0, 0.0)
