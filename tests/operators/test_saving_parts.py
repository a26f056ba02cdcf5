"""Operators made of parts in files: the same bits, equal parts once, and nothing that does not fit is let in."""

import json
import os
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, MissingFunctionError
from kernop.basics.ragged import Ragged
from kernop.basics.storage import read, write
from kernop.operators.records import parts_record

SQUARE = ko.Box([0.0, 0.0], [1.0, 1.0])
ELL = ko.Polygon([[-1, -1], [1, -1], [1, 0], [0, 0], [0, 1], [-1, 1]])


def flow(domain, a):
    equation = ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=domain)
    return ko.Problem(equation, ko.Dirichlet(on=domain.boundary))


def slopes_alone(domain):
    """With an integral over all parts, and so something of all of them in one array."""
    equation = ko.Equation(lambda u: -ko.div(ko.grad(u)), on=domain)
    return ko.Problem(equation, ko.Neumann(on=domain.boundary), ko.Mean(on=domain, name="mean", data=0.0))


CASES = {
    "corner": (flow(ELL, 1.0), ko.Partition(cells=2, degree=8, levels=4)),
    "coefficient": (flow(SQUARE, lambda x: jnp.exp(x[..., 0])), ko.Partition(cells=2, degree=6, levels=0)),
    "jump": (
        flow(SQUARE, ko.Piecewise({ko.Ball([0.45, 0.55], 0.25): 10.0}, otherwise=1.0)),
        ko.Partition(cells=3, degree=6, levels=0),
    ),
    "bubbles": (flow(SQUARE, lambda x: 2.0 + x[..., 1]), ko.Partition(cells=2, degree=9, levels=0)),
    "alone": (flow(SQUARE, 1.0), ko.Partition(cells=1, degree=6, levels=0)),
    "line": (flow(ko.Interval(0, 1), 1.0), ko.Partition(cells=4, degree=6)),
    "degrees": (slopes_alone(ko.Ball([0, 0], 1.0)), ko.Partition()),
    "cube": (flow(ko.Box([0, 0, 0], [1, 1, 1]), 1.0), ko.Partition(cells=2, degree=6)),
}


@pytest.fixture(scope="module", params=CASES)
def pair(request, tmp_path_factory):
    """An operator, and the same from its file."""
    problem, method = CASES[request.param]
    T = ko.learn(problem, method=method, tol=1e-5 if method.degree is None else None)
    path = tmp_path_factory.mktemp("parts") / "T.kernop"
    T.save(path)
    return T, ko.load(path), path


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_the_same_bits(pair):
    T, S, _ = pair
    x = T.problem.conditions[0].on.sample(100, "uniform", seed=3).x
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(len(T.points[name]), 3)) for name in T.problem.inputs]
    for data in ((1.0, 0.0), arrays):
        u, v = T(*data), S(*data)
        np.testing.assert_array_equal(u(x), v(x))
        np.testing.assert_array_equal(u.grad(x), v.grad(x))
    np.testing.assert_array_equal(T.basis(x[:5]), S.basis(x[:5]))
    np.testing.assert_array_equal(T.on(x)(*arrays), S.on(x)(*arrays))
    assert repr(S) == repr(T)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("name", ["alone", "line", "jump"])
def test_errors_are_estimated_as_before(name, tmp_path):
    """Finer parts are made of the domain, which a file has in its problem alone; with the problem of the user, too."""
    problem, method = CASES[name]
    T = ko.learn(problem, method=replace(method, degree=4))
    T.save(tmp_path / "T.kernop")
    f = lambda x: np.cos(2.0 * x[..., 0])
    wanted = T(f, 0.0).error_estimate(covering=None, search=None)
    alone, whole = ko.load(tmp_path / "T.kernop"), ko.load(tmp_path / "T.kernop", problem=problem)
    if name == "jump":
        with pytest.raises(MissingFunctionError, match="problem="):
            alone(f, 0.0).error_estimate(covering=None, search=None)
    for S in (whole,) if name == "jump" else (alone, whole):
        found = S(f, 0.0).error_estimate(covering=None, search=None)
        assert (found.l2, found.linf, found.source) == (wanted.l2, wanted.linf, "fresh points")


def test_equal_parts_are_one_in_the_file_and_after_it(pair):
    T, S, path = pair
    count = len({id(own) for own in T.factorisation.locals})
    assert len({id(own) for own in S.factorisation.locals}) == count
    assert len({id(own) for own in S.factorisation.expansion.uppers}) == count
    bytes_of_parts = sum(own.q.nbytes for own in T.factorisation.locals)
    if count < len(T.factorisation.locals) / 4:
        assert os.path.getsize(path) < bytes_of_parts


def test_a_file_again(pair, tmp_path):
    T, S, _ = pair
    S.save(tmp_path / "again.kernop")
    x = T.problem.conditions[0].on.sample(20, "uniform", seed=3).x
    np.testing.assert_array_equal(ko.load(tmp_path / "again.kernop").basis(x), T.basis(x))


def without_bubbles(own):
    """An object of a file as it was before there were any."""
    new = {"local": ("inner", "beside"), "polynomials on parts": ("bubbly",)}.get(own.get("class"), ())
    return {key: value for key, value in own.items() if key not in new}


def test_files_from_before_there_were_bubbles(tmp_path):
    """Nothing in them tells of parts that have any."""
    T = ko.learn(flow(SQUARE, 1.0), method=ko.Partition(cells=2, degree=6, levels=0, gluing="robin"))
    assert all(own.inner is None for own in T.factorisation.locals)
    T.save(tmp_path / "new.kernop")
    header, arrays = read(tmp_path / "new.kernop", "operator")
    older = json.loads(json.dumps(header), object_hook=without_bubbles)
    assert older != header
    write(
        tmp_path / "old.kernop",
        "operator",
        {**older, "format": 2},
        {k: v for k, v in arrays.items() if not k.endswith("bubbly")},
    )
    x = SQUARE.sample(50, "uniform").x
    np.testing.assert_array_equal(ko.load(tmp_path / "old.kernop")(1.0, 0.0)(x), T(1.0, 0.0)(x))


def test_bubbles_that_do_not_fit_are_refused():
    record = parts_record(ko.learn(CASES["bubbles"][0], method=CASES["bubbles"][1]).factorisation)
    first, *others = record.locals
    assert first.inner is not None
    for broken in (replace(first, beside=None), replace(first, inner=first.inner[:-1]), replace(first, inner=None)):
        with pytest.raises(ArgumentError):
            replace(record, locals=(broken, *others)).check()


def changed(array, change):
    found = array.copy()
    change(found)
    return found


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("which", lambda a: a.__setitem__(0, 10**6)),
        ("strengths", lambda a: a.__setitem__(0, 0.0)),
        ("parents", lambda a: a.__setitem__(0, 0)),
    ],
)
def test_what_does_not_fit_is_refused(name, change):
    problem, method = CASES["corner"]
    record = parts_record(ko.learn(problem, method=method).factorisation)
    record.check()
    with pytest.raises(ArgumentError):
        replace(record, **{name: changed(getattr(record, name), change)}).check()


def test_groups_that_are_not_those_of_the_parts_are_refused():
    problem, method = CASES["corner"]
    record = parts_record(ko.learn(problem, method=method).factorisation)
    for broken in (
        replace(record, groups=(replace(record.groups[0], part=10**6), *record.groups[1:])),
        replace(record, groups=(*record.groups[:-1], replace(record.groups[-1], down=None))),
        replace(record, unknowns=Ragged(record.unknowns.values, record.unknowns.lengths[::-1].copy())),
        replace(record, locals=record.locals[:1] * len(record.locals)),
        replace(record, count=record.count + 1),
    ):
        with pytest.raises(ArgumentError):
            broken.check()
