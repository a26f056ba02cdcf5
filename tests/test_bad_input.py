"""Bad input: every row of docs/bad-input.md, and a few hundred invalid calls of the whole public interface.

`benchmarks/fuzz_api.py` makes two thousand of them, with the same calls, ways to spoil them, and judge.
"""

import re
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse
from fuzzing.calls import catalogue
from fuzzing.judge import Case, cases_of, judge, numbers
from fuzzing.mutations import Mutation, TheirError, raises
from fuzzing.setting import INSIDE, N_F, N_G, PROBLEM, RIM, SQUARE, Call, X, learned, operator, sine
from hypothesis import given, settings
from hypothesis import strategies as st

import kernop as ko
from kernop import plotting
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    InputNameError,
    KernopError,
    MemoryLimitError,
    NonFiniteError,
    NonlinearOperatorError,
    OperatorError,
    OutsideDomainError,
    RoughKernelError,
    ShapeError,
    SingularGramError,
)
from kernop.trust import metrics

PAGE = Path(__file__).parents[1] / "docs" / "bad-input.md"
CALLS = {call.name: call for call in catalogue()}
#: Cases of each call that are tried here; those that draw figures are left to the benchmark.
TRIED = 5


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.filterwarnings("ignore::kernop.errors.IllPosedWarning")
@pytest.mark.parametrize("name", [name for name in CALLS if "plot" not in name])
def test_invalid_calls_are_refused_as_documented(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call = CALLS[name]
    expected = numbers(call.run(**call.good))
    rng = np.random.default_rng(sum(map(ord, name)))
    for case in rng.permutation(np.array(cases_of(call), dtype=object))[:TRIED]:
        verdict = judge(case, expected)
        assert verdict.good, f"{verdict.outcome}: {case}: {verdict.detail}"


def test_every_public_name_is_called():
    """Classes that only come back from a call, and the abstract ones, have no call of their own."""
    results = {"Report", "Solution", "SolutionOperator", "ToleranceWarning", "Tuned"}
    folder = Path(__file__).parents[1] / "benchmarks" / "fuzzing"
    text = "".join((folder / name).read_text() for name in ("setting.py", "stating.py", "asking.py"))
    called = {name for name in ko.__all__ if re.search(rf"ko\.{name}\b", text)}
    silent = set(ko.__all__) - called - results - {"Kernel", "Region", "errors"}
    assert {name for name in silent if callable(getattr(ko, name)) and not isinstance(getattr(ko, name), type)} == set()


class TestTheJudge:
    """It must see what it is there to see."""

    @staticmethod
    def verdict(run, same=None):
        case = Case(Call("f", run, {"x": 1.0}), "x", Mutation("kind", "two", lambda _: 2.0, same))
        return judge(case, [np.array(1.0)]).outcome

    @pytest.mark.parametrize(
        ("run", "outcome"),
        [
            (lambda x: np.ones(3), "works"),
            (lambda x: [1.0, {"a": np.array([np.nan])}], "not finite"),
            (lambda x: np.linalg.solve(np.zeros((2, 2)), np.ones(2)), "raw exception"),
            (lambda x: raises(), "theirs"),
            (lambda x: np.log(np.zeros(2)) * 0.0 if warnings.warn("hm", stacklevel=1) else 1.0, "warning"),
        ],
    )
    def test_outcomes(self, run, outcome):
        assert self.verdict(run) == outcome

    @pytest.mark.parametrize(
        ("message", "outcome"), [("x: got 2; no.", "refused"), ("y: got x; no.", "argument not named")]
    )
    def test_names(self, message, outcome):
        def run(x):
            raise ArgumentError(message)

        assert self.verdict(run) == outcome

    @pytest.mark.parametrize(("value", "outcome"), [(np.inf, "works"), (np.nan, "not finite")])
    def test_infinite_answers_of_calls_that_may_give_them(self, value, outcome):
        case = Case(Call("f", lambda x: value, {"x": 1.0}, infinite=True), "x", Mutation("kind", "two", lambda _: 2.0))
        assert judge(case, [np.array(1.0)]).outcome == outcome
        assert self.verdict(lambda x: value) == "not finite"

    def test_wrong_answers(self):
        assert self.verdict(lambda x: x, same=1e-9) == "wrong"
        assert self.verdict(lambda x: 1.0, same=1e-9) == "works"


def refused(kind, message, function, *arguments, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="matplotlib")  # it and pyparsing
        warnings.simplefilter("ignore", ko.AccuracyWarning)
        with pytest.raises(kind, match=message) as caught:
            function(*arguments, **named)
    assert isinstance(caught.value, KernopError)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("value", [1j, [[1.0], [1.0, 2.0]], RIM])
def test_data_of_an_estimate_are_refused_by_their_name(value):
    refused(ArgumentTypeError, "g: got", operator()(sine, 0.0).error_estimate, sine, value)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
class TestPromises:
    """One test for each row of the table."""

    @pytest.mark.parametrize("value", [None, "abc", b"abc", object(), {}, [[1.0], [1.0, 2.0]], (k for k in ())])
    def test_wrong_type(self, value):
        refused(ArgumentTypeError, "lengthscale: got", ko.Gaussian, value)
        refused(ArgumentTypeError, "f: got", operator(), value, 0.0)
        refused(ArgumentTypeError, "x: got", operator()(1.0, 0.0), value)

    @pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 0), (4, 3), (2, 2, 3)])
    def test_wrong_shape(self, shape):
        refused(ShapeError, "x: got", operator()(1.0, 0.0), np.full(shape, 0.5))

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
    def test_not_finite(self, value):
        refused(NonFiniteError, "f: got", operator(), value, 0.0)
        refused(NonFiniteError, "g: got", operator(), 0.0, np.full(N_G, value))
        refused(NonFiniteError, "f: got", operator(), lambda x: value + 0.0 * x[..., 0], 0.0)
        refused(NonFiniteError, "x: got", operator()(1.0, 0.0), [[0.5, value]])

    def test_masked(self):
        values = np.ma.array(np.ones(N_F), mask=np.arange(N_F) == 3)
        refused(NonFiniteError, f"f: got 1 of {N_F} values that are masked", operator(), values, 0.0)
        np.testing.assert_array_equal(operator()(np.ma.array(np.ones(N_F)), 0.0)(X), operator()(np.ones(N_F), 0.0)(X))

    @pytest.mark.parametrize("value", [0, -1, 0.0, -2.5])
    def test_out_of_range(self, value):
        refused(ArgumentError, "lengthscale: got", ko.Gaussian, value)
        refused(KernopError, "n: got", SQUARE.sample, value)

    def test_names(self):
        refused(InputNameError, "T: got the unknown input 'h'", operator(), 1.0, h=2.0)
        refused(InputNameError, "T: got no 'g'", operator(), 1.0)
        refused(InputNameError, "T: got 'f' twice", operator(), 1.0, f=2.0)
        refused(InputNameError, "T: got 3 inputs", operator(), 1.0, 2.0, 3.0)
        refused(InputNameError, "name: got", PROBLEM.__getitem__, np.array(["f", "g"]))

    def test_outside(self):
        refused(OutsideDomainError, "x: got 1 of 2 points outside", operator()(1.0, 0.0), [[0.5, 0.5], [2.0, 0.5]])
        refused(OutsideDomainError, r"points\['g'\]: got", ko.learn, PROBLEM, points={"f": INSIDE, "g": X})

    def test_memory(self):
        refused(MemoryLimitError, "n: got", SQUARE.sample, 10**12)
        refused(MemoryLimitError, "points: got", ko.learn, PROBLEM, points=10**400)
        refused(MemoryLimitError, "centers: got", learned, method=ko.Subspace(10**13))
        refused(MemoryLimitError, "x: got", operator()(1.0, 0.0), np.broadcast_to(0.5, (10**12, 2)))
        refused(MemoryLimitError, "f: got", operator(), lambda x: np.broadcast_to(1.0, (len(x), 10**10)), 0.0)
        refused(MemoryLimitError, "lo: got", ko.Box, range(10**13), [1.0])

    def test_extreme_units(self):
        refused(ArgumentError, "lo, hi: got a side of 1e[+]200", ko.Box, [0, 0], [1, 1e200])
        refused(ArgumentError, "a, b: lo, hi: got a side", ko.Interval, 1e16, 1e16 + 4.0)
        refused(ArgumentError, "center, radius: got", ko.Ball, [0.0, 0.0], 1e-300)
        refused(ArgumentError, "lengthscale: got", ko.Gaussian, 1e-300)
        refused(NonFiniteError, "op: got a coefficient", operator().on, X, lambda u: 1e200 * u)

    def test_endless_work(self):
        refused(OperatorError, "order: got 1000000000", operator().on, X, lambda u: ko.partial(u, 0, 10**9))
        refused(ArgumentError, "nu: got", ko.Matern, 10**6 + 0.5, 1.0)
        refused(ArgumentError, "k: got", ko.Wendland, 10**6, 1.0)
        refused(ArgumentError, "number: got", ko.Batches, 10**12, lambda k: {})
        asked = []

        def fickle(x):  # true at one point that was tried, and never again
            asked.append(x)
            return np.all(x == asked[0][0], axis=1) & (len(asked) <= 3)  # while the predicate is looked at

        part = SQUARE.where(fickle)
        refused(ArgumentError, "predicate: got one that held at 0 of", part.sample, 1)
        assert sum(map(len, asked)) < 10**7

    def test_not_linear(self):
        for op in (lambda u: u * u, lambda u: u + 1.0, lambda u: u**2, lambda u: jnp.sin(u)):
            refused(NonlinearOperatorError, "op: got", operator().on, X, op)
        for op in (lambda u: 1.0, lambda u: None, lambda u: ko.grad(ko.grad(u)), lambda u: 0.0 * u):
            refused(OperatorError, "op: got", operator().on, X, op)

    def test_rough_kernel(self):
        refused(RoughKernelError, "kernel: got Matern", learned, kernel=ko.Matern(1.5, 0.5), method=ko.Full())

    @pytest.mark.parametrize(
        ("function", "kind"),
        [
            (lambda x: None, ArgumentTypeError),
            (lambda x: "abc", ArgumentTypeError),
            (lambda x: np.array([None] * len(x)), ArgumentTypeError),
            (lambda: 1.0, ArgumentTypeError),
            (int, ArgumentTypeError),
            (lambda x: x, None),
            (lambda x: x[0], ShapeError),
            (lambda x: x[..., 7], ShapeError),
            (lambda x: jnp.sum(x), ShapeError),
            (lambda x: np.ones((len(x), 1, 1)), ShapeError),
            (lambda x: np.ma.masked_all(len(x)), NonFiniteError),
            (lambda x: x[..., 0] - jnp.mean(x[..., 0]), ArgumentError),
            (lambda x: x[..., 0] / np.max(x[..., 0]), ArgumentError),
            (lambda x: np.random.default_rng().normal(size=len(x)), ArgumentError),
        ],
    )
    def test_functions(self, function, kind):
        if kind is None:  # two functions at once: right for data, wrong for a coefficient
            assert operator()(function, 0.0)(X).shape == (len(X), 2)
            kind = ShapeError
        else:
            refused(kind, "f: got", operator(), function, 0.0)
        refused(kind, "coefficient: got", operator().on, X, lambda u: function * u)

    def test_functions_that_raise(self):
        for call in (
            lambda: operator()(raises, 0.0),
            lambda: operator().on(X, lambda u: raises * u),
            lambda: SQUARE.where(raises),
            lambda: learned(kernel=ko.CustomKernel(raises)),
            lambda: learned(points=ko.Batches(1, raises), method=ko.Subspace(12, batch=16)),
        ):
            with pytest.raises(TheirError, match="from a function of the user"):
                call()

    def test_predicates(self):
        refused(ArgumentTypeError, "predicate: got a result of dtype float64", SQUARE.where, lambda x: x[..., 0])
        refused(ShapeError, "predicate: got", SQUARE.where, lambda x: True)
        refused(ArgumentTypeError, "predicate: got", SQUARE.where, lambda: True)
        refused(ArgumentError, "predicate: got", SQUARE.where, lambda x: x[..., 0] < np.mean(x[..., 0]))
        refused(ShapeError, "predicate: got a function that fails on x", SQUARE.where, lambda x: x[..., 2] > 0.0)

    def test_own_kernels(self):
        for function, kind in (
            (lambda x, y: None, ShapeError),
            (lambda x, y: x, ShapeError),
            (lambda x, y: jnp.nan, NonFiniteError),
            (lambda x: 1.0, ArgumentTypeError),
            (lambda x, y: np.exp(-np.sum(np.square(x - y))), OperatorError),
        ):
            refused(kind, "kernel: got", learned, kernel=ko.CustomKernel(function), method=ko.Full())

    def test_duplicates(self):
        twice = {"f": np.concatenate([INSIDE.x, INSIDE.x[:3]]), "g": RIM.x}
        refused(SingularGramError, "regularization: got 0", learned, points=twice, method=ko.Full(), regularization=0.0)
        # Every point twice is the same mean over rows, so the same estimate.
        paper = {"method": ko.Full(), "regularization": 1e-4}
        doubled = {"f": np.repeat(INSIDE.x, 2, axis=0), "g": np.repeat(RIM.x, 2, axis=0)}
        np.testing.assert_allclose(learned(points=doubled, **paper), learned(**paper), rtol=1e-8)

    @pytest.mark.parametrize(
        "dressed",
        [
            lambda a: a.tolist(),
            lambda a: np.asfortranarray(a),
            lambda a: np.repeat(a, 2, axis=0)[::2],
            lambda a: a.astype(">f8"),
            lambda a: a.astype(np.longdouble),
            lambda a: jnp.asarray(a),
            lambda a: np.ma.array(a),
        ],
    )
    def test_other_clothes(self, dressed):
        u = operator()(sine, 0.0)
        np.testing.assert_allclose(u(dressed(X)), u(X), rtol=1e-12)

    def test_sparse_and_objects(self):
        refused(ArgumentTypeError, "f: got", operator(), scipy.sparse.eye_array(N_F), 0.0)
        refused(ArgumentTypeError, "x: got an array of dtype object", operator()(1.0, 0.0), X.astype(object))

    def test_traced_values(self):
        u, s = operator()(1.0, 0.0), operator().on(X)
        refused(ArgumentTypeError, "x: got", jax.jit(lambda x: u(x)), X)
        refused(ArgumentTypeError, "T: got traced JAX values", jax.jit(lambda f: operator()(f, 0.0)(X)), np.ones(N_F))
        compared = jax.jit(lambda f: operator()(1.0, 0.0).residual("f", INSIDE, f))
        refused(ArgumentTypeError, "data: got traced JAX values", compared, np.ones(N_F))
        refused(ArgumentTypeError, "coefficient: got", jax.jit(lambda c: operator().on(X, lambda v: c * v).matrix), 1.0)
        refused(
            OperatorError, "coefficient: got values that JAX traces",
            jax.jit(lambda c: operator().on(X, lambda v: (lambda x: c * x[..., 0]) * v).matrix), 1.0,
        )  # fmt: skip
        values = np.linspace(0.0, 1.0, N_F)
        np.testing.assert_allclose(jax.jit(lambda f: s(f, 0.0))(values), s(values, 0.0), rtol=1e-5)
        # What does not depend on what is traced is computed as ever.
        np.testing.assert_allclose(jax.jit(lambda c: c * operator().on(X).matrix)(2.0), 2.0 * s.matrix, rtol=1e-6)

    def test_flags(self):
        refused(ArgumentTypeError, "progress: got", ko.learn, PROBLEM, points=64, progress="yes")
        refused(ArgumentTypeError, "lengthscales: got", ko.tune, PROBLEM, ko.Gaussian(0.5), lengthscales=[0.1, 0.2])

    def test_too_small_a_problem(self):
        left = ko.Interval(0, 1).face("left")
        refused(ArgumentError, "problem: got", ko.learn, ko.Problem(ko.Dirichlet(on=left)))
        refused(ArgumentError, "interior, boundary: got", ko.PointCloud, [[0.5, 0.5]], [[0.5, 0.5]])

    def test_relative_to_zero(self):
        for metric in (metrics.relative_l2, metrics.relative_linf):
            refused(ArgumentError, "exact: got values that are all zero", metric, np.ones(3), np.zeros(3))
            refused(ShapeError, "found, exact: got", metric, np.ones(0), np.ones(0))

    def test_paths(self, tmp_path):
        for path in (None, 3, b"abc", "a\0b", object()):
            refused(KernopError, "path: got", operator("full").save, path)
        refused(FileError, "path: got", ko.load, tmp_path / "nothing.kernop")
        refused(FileError, "path: got", plotting.field, X[[0, 1, 2, 3]], np.ones(4), tmp_path / "figure.abc")

    @settings(max_examples=60, deadline=None)
    @given(data=st.data())
    def test_damaged_files(self, data, stored):
        path, whole = stored
        if data.draw(st.booleans(), "cut"):
            damaged = whole[: data.draw(st.integers(0, len(whole) - 1), "length")]
        else:
            at, byte = data.draw(st.integers(0, len(whole) - 1), "at"), data.draw(st.integers(1, 255), "byte")
            damaged = whole[:at] + bytes([whole[at] ^ byte]) + whole[at + 1 :]
        path.write_bytes(damaged)
        try:
            found = ko.load(path)  # a space between words of the header may become a tab
        except FileError as error:
            assert str(error).startswith("path: got")  # noqa: PT017
        else:
            np.testing.assert_array_equal(found(sine, 0.0)(X), operator("subspace")(sine, 0.0)(X))

    def test_unprintable(self):
        class Silent:
            def __repr__(self):
                raise TheirError

        refused(ArgumentTypeError, "problem: got", ko.learn, Silent())
        refused(ArgumentTypeError, "name: got|problem: got", ko.learn, list(range(10**6)))
        refused(ArgumentError, "n: got a whole number of", SQUARE.sample, -(10**5000))


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A file of an operator, and its bytes."""
    path = tmp_path_factory.mktemp("bad") / "operator.kernop"
    operator("subspace").save(path)
    return path, path.read_bytes()


def rows():
    """The rows of the first table: what is bad, what happens, the class of error, the test."""
    first = PAGE.read_text().partition("## Well-formed but wrong")[0]
    lines = [line for line in first.splitlines() if line.startswith("|")][2:]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]


def test_every_row_of_the_page_has_its_test():
    tests = {f"`{name}`" for name in vars(TestPromises) if name.startswith("test_")}
    named = [row[-1] for row in rows()]
    assert sorted(named) == sorted(tests)
    assert len(set(named)) == len(named)


def test_every_test_of_the_second_table_exists():
    second = PAGE.read_text().partition("## Well-formed but wrong")[2]
    named = [
        cell for line in second.splitlines() if line.startswith("| ") for cell in [line.strip("| ").split(" | ")[-1]]
    ]
    tests = Path(__file__).parent
    for place in re.findall(r"`((?:\w+/)?test_\w+\.py(?:::\w+)*)`", " ".join(named)):
        file, *names = place.split("::")
        text = (tests / file).read_text()
        assert all(re.search(rf"(def|class) {name}\b", text) for name in names), place
    assert len(named) > 20


def test_every_class_on_the_page_exists():
    for row in rows():
        for name in re.findall(r"`(\w+Error)`", row[-2]):
            assert issubclass(getattr(ko.errors, name), KernopError)
