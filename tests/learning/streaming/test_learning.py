"""Learning from a stream: what is chosen, how often points are asked for, and what is refused."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics import checks
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    InputNameError,
    KernopError,
    MemoryLimitError,
    NonFiniteError,
    RoughKernelError,
    ShapeError,
    SingularGramError,
)

LINE, SQUARE = ko.Interval(0, 1), ko.Box([0, 0], [1, 1])
ODE = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u) + 2.0 * u, on=LINE), ko.Dirichlet(on=LINE.boundary))
POISSON = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary))
CENTRES = np.linspace(-0.2, 1.2, 12)[:, None]
POINTS = {"f": LINE.sample(60), "g": LINE.boundary.sample(2)}
X = np.linspace(0, 1, 30)[:, None]


def learn(batch=9, centers=CENTRES, options=None, **more):
    method = ko.Subspace(centers, batch=batch, **(options or {}))
    return ko.learn(**{"problem": ODE, "points": POINTS, "kernel": ko.Gaussian([0.3]), "method": method, **more})


def functionals(operator):
    return operator.factorisation.expansion.functionals


def take(k):
    return {"f": POINTS["f"][12 * k : 12 * k + 12], **({"g": POINTS["g"]} if k == 4 else {})}


class TestChoices:
    @pytest.mark.parametrize("problem", [ODE, POISSON], ids=["line", "square"])
    @pytest.mark.parametrize("batch", [20, 60])
    def test_balanced_weights_are_close_to_those_of_all_rows(self, problem, batch):
        """On the line there are two points of the boundary, in one batch or two of thirty."""
        given = {"problem": problem, "points": 600, "kernel": ko.Gaussian([0.3] * problem.dim)}
        held = ko.learn(**given, method=ko.Subspace(40))
        t = ko.learn(**given, method=ko.Subspace(40, batch=batch))
        for name, weight in held.weights.items():
            assert t.weights[name] == pytest.approx(weight, rel=0.15)

    def test_balanced_weights_of_one_batch_are_exact(self):
        assert learn(batch=100).weights == pytest.approx(learn(batch=None).weights, rel=1e-12)

    @pytest.mark.parametrize("weights", ["unit", {"f": 3.0}])
    def test_weights_that_are_given(self, weights):
        assert learn(weights=weights).weights == learn(batch=None, weights=weights).weights

    @pytest.mark.parametrize("source", ["arrays", "Batches"])
    def test_number_of_centres_from_the_number_of_points(self, source):
        points = POINTS if source == "arrays" else ko.Batches(5, take)
        assert len(functionals(learn(centers=None, points=points))) == len(functionals(learn(None, None))) == 31

    @pytest.mark.parametrize("source", ["arrays", "Batches"])
    @pytest.mark.parametrize("number", [None, 5, 20, 100])
    def test_representers_are_spread_over_all_points(self, source, number):
        """Not over the first batch, which of points in order has the left end of the line only."""
        options, order = {"basis": "representers"}, {**POINTS, "f": POINTS["f"][np.argsort(POINTS["f"].x[:, 0])]}
        points = (
            order if source == "arrays" else ko.Batches(5, lambda k: {**take(k), "f": order["f"][12 * k : 12 * k + 12]})
        )
        t, held = (learn(b, number, options, points=p) for b, p in ((9, points), (None, order)))
        assert [len(block) for block in functionals(t).blocks] == [len(block) for block in functionals(held).blocks]
        for one, other in zip(functionals(t).blocks, functionals(held).blocks, strict=True):
            np.testing.assert_array_equal(one.x, other.x)

    def test_the_default_kernel_is_that_of_the_centres(self):
        np.testing.assert_array_equal(
            learn(kernel=None).kernel.lengthscale, learn(None, kernel=None).kernel.lengthscale
        )

    def test_a_regularization_that_is_given(self):
        assert learn(regularization=1e-5).regularization == 1e-5
        assert learn(regularization=1e-5, options={"solver": "normal"}).regularization == 1e-5

    @pytest.mark.parametrize("solver", ["qr", "normal"])
    def test_a_regularization_that_is_chosen_is_next_to_nothing(self, solver):
        regression = learn().factorisation.regression
        a = np.vstack([regression.design(regression.rows.at(batch)) for batch in regression.rows.stream])
        relative = learn(options={"solver": solver}).regularization / np.sum(a**2)
        assert relative == pytest.approx({"qr": 1e-28, "normal": np.finfo(float).eps}[solver], rel=1e-6)

    def test_update_keeps_the_penalty(self):
        more = {"f": LINE.sample(62, seed=1)}
        assert learn(regularization=1e-5).update(more).regularization == 1e-5
        t = learn(regularization=1e-5, options={"penalty": "rkhs"})
        assert t.update(more).regularization == pytest.approx(0.5e-5, rel=1e-12)
        assert t.update(more).factorisation.noise == t.factorisation.noise

    @pytest.mark.parametrize("batch", [1, 2, 3])
    def test_tiny_batches(self, batch):
        t = learn(batch, regularization=1e-4)
        held = learn(None, regularization=1e-4, weights=t.weights)
        np.testing.assert_allclose(t(1.0, 0.5)(X), held(1.0, 0.5)(X), rtol=1e-9)

    @pytest.mark.parametrize("points", [70, {"f": 60, "g": 2}, {"f": POINTS["f"].x[:, 0], "g": [0.0, 1.0]}])
    def test_points_of_every_form(self, points):
        t = learn(points=points, regularization=1e-4, weights="unit")
        held = learn(None, points=points, regularization=1e-4, weights="unit")
        np.testing.assert_allclose(t(1.0, 0.5)(X), held(1.0, 0.5)(X), rtol=1e-9)

    def test_stages(self, capsys):
        t = learn(progress=True)
        assert set(t.stats) == {"sample", "collocate", "examine", "factorise"}
        shown = capsys.readouterr().out
        assert "62 rows" in shown
        assert "per second" in shown


@pytest.mark.parametrize("number", [20, 40, 60])
@pytest.mark.parametrize("ridge", [None, 0.0])
def test_a_penalty_that_leaves_some_coefficients_free(number, ridge):
    """The norm of the kernel is blind to what the Gram matrix of representers is: R alone would be singular."""
    exact, source = lambda x: jnp.sin(3.0 * x[..., 0]), lambda x: 11.0 * jnp.sin(3.0 * x[..., 0])
    options = {"basis": "representers", "penalty": "rkhs"}
    t = learn(17, number, options, kernel=None, regularization=ridge, inputs=[(source, exact)])
    truth = np.sin(3.0 * X[:, 0])
    for u in (t.solutions[0], t(source, exact), t.materialize()(source, exact)):
        np.testing.assert_allclose(u(X), truth, atol=1e-6)


class TestHowOften:
    """What a user's function is asked for: a look at three batches, then each of them once for each pass."""

    @pytest.fixture
    def calls(self):
        return []

    @pytest.fixture
    def batches(self, calls):
        return ko.Batches(5, lambda k: calls.append(k) or take(k))

    def test_one_pass_with_and_without_inputs_in_advance(self, calls, batches):
        learn(points=batches)
        assert calls == [0, 2, 4, 0, 1, 2, 3, 4]
        calls.clear()
        learn(points=batches, inputs=[(1.0, 0.0), (lambda x: x[..., 0], 2.0)])
        assert calls == [0, 2, 4, 0, 1, 2, 3, 4]

    def test_a_number_of_centres_needs_a_count(self, calls, batches):
        learn(points=batches, centers=None)
        assert calls == [0, 2, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4]

    @pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")
    def test_later_inputs_share_their_passes(self, calls, batches):
        t = learn(points=batches, regularization=1e-4)
        calls.clear()
        t(1.0, 0.0)
        one = len(calls)
        calls.clear()
        t.solve([(1.0, 0.0), (lambda x: jnp.sin(x[..., 0]), 2.0), (0.0, 1.0)])
        assert len(calls) <= one + 5

    def test_an_iterator_is_read_once(self):
        drawn = []
        learn(points=(drawn.append(k) or take(k) for k in range(5)), weights="unit")
        assert drawn == [0, 1, 2, 3, 4]


class TestErrors:
    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            ({"tol": 1e-3}, ArgumentError, "tol: got 0.001 with a stream of points; leave out batch"),
            ({"method": ko.Subspace(9), "checkpoint": "x"}, ArgumentError, r"checkpoint: got .*ko\.Subspace\(batch="),
            ({"method": ko.Full(), "checkpoint": "x"}, ArgumentError, r"checkpoint: got .*use method=ko\.Subspace"),
            (
                {"method": ko.Full(), "client": object()},
                ArgumentError,
                r"client: got .*use method=ko\.Subspace\(batch=",
            ),
            ({"method": None, "client": object()}, ArgumentError, r"client: got one with Subspace"),
            ({"checkpoint": 3}, ArgumentTypeError, "checkpoint: got 3; give the path of a file"),
            (
                {"points": iter([POINTS]), "method": ko.Subspace(batch=9)},
                ArgumentError,
                r"points: got an iterator; .*centers",
            ),
            (
                {"points": iter([POINTS]), "method": ko.Subspace(70, basis="representers", batch=9)},
                ArgumentError,
                "centers: got 70 representers, more than the first batch has points; use basis='translates'",
            ),
            (
                {"points": ko.Batches(1, lambda k: {"f": POINTS["f"]})},
                ArgumentError,
                "points: got no rows of condition 'g'",
            ),
            (
                {"points": ko.Batches(5, take), "method": ko.Full()},
                ArgumentTypeError,
                r"points: got .* for Full\(\), which needs all rows at once; use method=ko\.Subspace\(batch",
            ),
            (
                {"points": iter([POINTS]), "method": ko.LowRank()},
                ArgumentTypeError,
                r"points: got .* for LowRank\(.*\), which needs all rows at once; use method=ko\.Subspace\(batch",
            ),
            ({"points": {"f": POINTS["f"]}}, InputNameError, "points: got none for condition 'g'"),
            ({"points": ["f", "g"]}, ArgumentTypeError, "points: got"),
            ({"inputs": (1.0, 2.0)}, InputNameError, "inputs: got no 'g'"),
            ({"inputs": [(np.ones(60), 0.0)]}, ArgumentError, r"inputs\['f'\]: got an array of shape \(60,\)"),
            ({"inputs": [(lambda x: x[0], 0.0)]}, ShapeError, "f: got"),
            ({"inputs": [(lambda x: jnp.log(x[..., 0] - 0.9), 0.0)]}, NonFiniteError, "f: got .*make it finite"),
            ({"kernel": ko.Matern(0.5, 1.0)}, RoughKernelError, "condition 'f' needs 2; use nu = 1.5 or more"),
            ({"kernel": ko.Gaussian([1.0, 1.0])}, ShapeError, "lengthscale: got 2 numbers"),
            ({"regularization": -1.0}, ArgumentError, "regularization: got -1"),
            ({"weights": {"h": 1.0}}, InputNameError, "weights: got the unknown condition 'h'"),
            (
                {"method": ko.Subspace(np.zeros((5, 2)), batch=9)},
                ShapeError,
                "centers: .*; give centres in 1 dimensions",
            ),
        ],
    )
    def test_arguments(self, changes, error, message):
        with pytest.raises(error, match=message) as caught:
            learn(**changes)
        assert isinstance(caught.value, KernopError)

    @pytest.mark.parametrize(
        ("batch", "error", "message"),
        [
            (0, ArgumentError, "batch: got 0; give a whole number, at least 1"),
            (2.5, ArgumentTypeError, "batch: got 2.5"),
            (True, ArgumentTypeError, "batch: got True"),
            ("large", ArgumentTypeError, "batch: got 'large'"),
        ],
    )
    def test_batch(self, batch, error, message):
        with pytest.raises(error, match=message):
            ko.Subspace(CENTRES, batch=batch)

    def test_normal_equations_that_are_singular(self):
        with pytest.raises(SingularGramError, match=r"regularization: got 0, .*no unique solution.*solver='qr'"):
            learn(centers=np.concatenate([CENTRES, CENTRES + 1e-12]), regularization=0.0, options={"solver": "normal"})

    def test_matrices_that_do_not_fit(self, monkeypatch):
        monkeypatch.setattr(checks, "SMALL", 0)
        monkeypatch.setattr(checks, "available_memory", lambda: 4 * 8 * 1000**2 - 1)
        with pytest.raises(MemoryLimitError, match=r"centers: got matrices of 1000 × 1000.*use fewer centres"):
            learn(centers=1000)

    def test_a_kernel_that_is_not_finite(self):
        with pytest.raises(NonFiniteError, match=r"kernel: got .*derivatives that are not finite; use another"):
            learn(centers=POINTS["f"].x[:9], kernel=lambda x, y: jnp.sqrt(jnp.sum((x - y) ** 2)), weights="unit")

    def test_a_point_that_is_wrong_stops_the_pass_where_it_comes(self):
        x = POINTS["f"].x.copy()
        x[40] = np.nan
        with pytest.raises(NonFiniteError, match=r"points\['f'\]: got 1 of \d values"):
            learn(points={**POINTS, "f": x})
