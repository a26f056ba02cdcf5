"""Degrees of parts: higher where solutions decay fast, smaller cells elsewhere, and no more than is asked for."""

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.ansatz import PLAIN, collocate
from kernop.collocation.cells.divisible import pieces_of
from kernop.collocation.cells.tiling import tiled
from kernop.learning.parts.degrees import HIGHEST, LOWEST, expected, same_degree, slopes, wanted
from kernop.learning.parts.plan import Plan
from kernop.methods.parts.joining import glued_operator
from kernop.methods.parts.partition import counts_for

DISK = ko.Ball([0.0, 0.0], 1.0)
SQUARE = ko.Box([0.0, 0.0], [1.0, 1.0])


def poisson(domain):
    return ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=domain), ko.Dirichlet(on=domain.boundary))


def wave(x):
    return np.exp(x[..., 0]) * np.sin(3.0 * x[..., 1])


def source(x):
    return 8.0 * wave(x)


@pytest.fixture(scope="module")
def learned():
    """By tolerances of 2, 4 and 6 digits."""
    return {tol: ko.learn(poisson(DISK), method=ko.Partition(), tol=tol) for tol in (1e-2, 1e-4, 1e-6)}


def test_a_loose_tolerance_takes_fewer_functions_and_is_met(learned):
    sizes = [len(T.factorisation.expansion) for T in learned.values()]
    assert sizes[0] < 0.6 * sizes[1] < 0.6 * sizes[2]
    x = DISK.sample(300, "uniform", seed=1).x
    for tol, T in learned.items():
        assert T.report.met
        assert np.max(np.abs(T(source, wave)(x) - wave(x))) < tol


def test_the_report_tells_the_degrees(learned):
    space = learned[1e-6].factorisation.expansion
    least, most = np.min(space.of_parts), np.max(space.of_parts)
    assert least < most <= HIGHEST
    assert f"16 parts of degrees {least} to {most}, halved up to" in str(learned[1e-6].report)
    assert repr(space) == f"Polynomials(degrees {least} to {most}) on 16 parts"


def test_seams_have_no_more_traces_than_the_poorer_part(learned):
    space = learned[1e-6].factorisation.expansion
    counts = [counts_for(2, degree) for degree in space.of_parts.tolist()]
    traces = np.array([max(own.traces, own.whole) for own in counts])
    assert np.all(space.mosaic.sewn.degrees <= np.min(traces[space.mosaic.sewn.sides], axis=1))


@pytest.mark.parametrize(("mixed", "within"), [((9, 12), 2e-8), ((12, 19), 5e-12)])
def test_condensed_parts_of_different_degrees_are_as_right_as_the_poorest(mixed, within):
    """sin(3x + 2y) on 3 × 3 cells; with one degree, 9 and 12, the errors are 6e-9 and 1e-12."""
    problem, pieces = poisson(SQUARE), pieces_of(poisson(SQUARE))
    cells, _ = Plan(cells=3, target=1.0, degrees=same_degree(1)).laid(problem, pieces, 0)
    degrees = np.resize(mixed, len(cells.low))
    counts = [counts_for(2, own) for own in degrees.tolist()]
    placed = tiled(problem, pieces, cells, np.zeros(len(degrees), dtype=bool), counts, 0)
    own, rows = degrees[placed.owners[:, 0]], collocate(problem, placed.points, PLAIN)
    found = glued_operator(problem, placed, own, ko.Partition(), rows, PLAIN)
    assert np.all(found.expansion.bubbly == 1)
    assert found.expansion.of_parts.tolist() == own.tolist()
    exact = lambda x: np.sin(3.0 * x[..., 0] + 2.0 * x[..., 1])
    h = np.concatenate([13.0 * exact(placed.points["f"].x), exact(placed.points["g"].x)])[:, None]
    x = SQUARE.sample(300, "uniform", seed=1).x
    assert np.max(np.abs(found.answer(h).u.apply(PLAIN.evaluations(x))[:, 0] - exact(x))) < within


def test_a_degree_that_is_given_is_that_of_all_parts():
    T = ko.learn(poisson(DISK), method=ko.Partition(degree=12), tol=1e-3)
    assert T.report.met
    assert set(T.factorisation.expansion.of_parts.tolist()) == {12}


def _pole(far):
    """Re 1/(z − a), which is harmonic, with a pole outside of [−1, 1]²."""
    return lambda x: np.real(1.0 / (x[..., 0] + 1j * x[..., 1] - far)), lambda x: np.zeros(x.shape[:-1])


def _logarithm(far):
    """(x − a) log |z − a|, with a source."""
    radius = lambda x: np.hypot(x[..., 0] - far, x[..., 1])
    return lambda x: (x[..., 0] - far) * np.log(radius(x)), lambda x: -2.0 * (x[..., 0] - far) / radius(x) ** 2


@pytest.mark.parametrize("degree", [8, 12])
@pytest.mark.parametrize(("made", "far"), [(_pole, 1.3), (_pole, 2.0), (_logarithm, 2.2)])
def test_decay_tells_what_a_higher_degree_gains(made, far, degree):
    """Singularities outside of [−1, 1]², at a distance: errors of a degree, and of one higher by 5, against e^(−5b)."""
    box, (exact, source) = ko.Box([-1, -1], [1, 1]), made(far)
    x, errors, found = box.sample(200, "uniform", seed=2).x, [], []
    for own in (degree, degree + 5):
        T = ko.learn(poisson(box), method=ko.Partition(cells=1, degree=own, levels=0))
        h = np.concatenate([source(T.points["f"].x), exact(T.points["g"].x)])[:, None]
        u = T.factorisation.answer(h).u
        errors.append(np.max(np.abs(u.apply(T.ansatz.evaluations(x))[:, 0] - exact(x))))
        found.append(slopes(T.factorisation.expansion, u.y)[0, 0])
    measured = np.log(errors[0] / errors[1]) / 5
    assert 0.5 * measured < found[0] < 1.6 * measured


def test_degrees_are_raised_where_solutions_decay_fast_and_cells_are_halved_where_they_do_not():
    """e(p) = e^(−b p): with b = 1 four degrees more bring a factor of e⁴; with b = 0.2 twenty would be needed."""
    degrees, wrong = np.array([10, 10, 10, 18]), np.array([1e-6, 1e-6 * np.exp(4.0), 1e-6 * np.exp(4.0), 1.0])
    need, halve, finer = wanted(degrees, wrong, np.array([1.0, 1.0, 0.2, 1.0]), 1.0000001e-6)
    assert need.tolist() == [10, 14, HIGHEST, HIGHEST]
    assert halve.tolist() == [False, False, True, True]
    assert np.all((finer >= LOWEST) & (finer <= HIGHEST))
    assert finer[2] < HIGHEST  # cells of half the size need lower ones


def test_first_degrees_grow_with_the_digits_and_fall_towards_singularities():
    problem = poisson(SQUARE)
    cells, places = Plan(cells=2, target=1e-9, degrees=same_degree(1)).laid(problem, pieces_of(problem), None)
    tips = np.array([any(map(leaf.touches, places)) for leaf in cells.leaves])
    few, many = (expected(tol, 1.0)(cells, tips) for tol in (1e-3, 1e-8))
    assert np.all(few <= many)
    assert np.sum(few) < np.sum(many)
    size = np.max(cells.high - cells.low, axis=1)
    order = np.argsort(size)
    assert np.all(np.diff(many[order]) >= -1)
    assert many[order[0]] < many[order[-1]]
