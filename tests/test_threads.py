"""Eight threads that use one operator get the bits that one thread gets."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko

THREADS, ROUNDS = 8, 2  # most of the work, and all of the caches, are in the first round
SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"), ko.Dirichlet(on=SQUARE.boundary, name="g")
)
X = SQUARE.sample(40, seed=3).x
MORE = {"f": SQUARE.sample(20, seed=9).x}
SETTINGS: dict[str, dict[str, Any]] = {
    "subspace": {"points": 400, "method": ko.Subspace(130)},
    "noisy": {"points": 300, "method": ko.Subspace(80), "noise": 1e-3},
    "normal": {"points": 300, "method": ko.Subspace(60, solver="normal"), "regularization": 1e-8},
    "full": {"points": 150, "method": ko.Full(), "regularization": 1e-9},
    "low rank": {"points": 150, "method": ko.LowRank(), "regularization": 1e-9},
    "stream": {"points": 300, "method": ko.Subspace(60, batch=100)},
}


def wave(k: int) -> Any:
    return lambda x: jnp.sin((1 + k) * x[..., 0])


def estimated(operator: ko.SolutionOperator, k: int) -> tuple[float, float]:
    found = operator(wave(k), 0.0).error_estimate(covering=None, search=1024)
    return found.relative_l2, found.relative_linf


def saved(operator: ko.SolutionOperator, k: int, folder: Path) -> bytes:
    path = folder / f"{threading.get_ident()}-{k}.kernop"
    operator.save(path)
    return ko.load(path)(wave(k), 0.0)(X).tobytes()


#: What is done, and with which settings: what one factorisation refuses is left out.
WORK: dict[str, tuple[Any, tuple[str, ...]]] = {
    "T(f, g)(x)": (lambda T, k, _: T(wave(k), 0.0)(X), tuple(SETTINGS)),
    "u.grad": (lambda T, k, _: T(wave(k), 0.0).grad(X), ("subspace", "full", "low rank")),
    "T.on(x)": (lambda T, k, _: T.on(X)(wave(k), 0.0), ("subspace", "normal", "full", "low rank")),
    "T.std": (lambda T, k, _: T.std(X), ("noisy", "normal", "full", "low rank")),
    "u.samples": (lambda T, k, _: T(wave(k), 0.0).samples(X, 3), ("noisy", "full", "low rank")),
    "error_estimate": (lambda T, k, _: estimated(T, k), ("subspace", "full", "stream")),
    "update": (lambda T, k, _: T.update(MORE)(wave(k), 0.0)(X), ("subspace", "normal", "full", "low rank", "stream")),
    "save": (lambda T, k, folder: saved(T, k, folder), ("subspace", "full", "low rank", "stream")),
}


@pytest.fixture(scope="module")
def operators() -> dict[str, ko.SolutionOperator]:
    return {name: ko.learn(PROBLEM, **setting) for name, setting in SETTINGS.items()}


@pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")
@pytest.mark.parametrize(("work", "setting"), [(w, s) for w, (_, settings) in WORK.items() for s in settings])
def test_the_same_bits(work: str, setting: str, operators: dict[str, ko.SolutionOperator], tmp_path: Path) -> None:
    # A new operator for each test: caches are empty when the threads start.
    operator = ko.learn(PROBLEM, **SETTINGS[setting])
    alone = [np.asarray(WORK[work][0](operators[setting], k, tmp_path)) for k in range(ROUNDS)]
    start = threading.Barrier(THREADS)

    def run(first: int) -> list[tuple[int, Any]]:
        start.wait()
        return [(k, WORK[work][0](operator, k, tmp_path)) for k in [(first + i) % ROUNDS for i in range(ROUNDS)]]

    with ThreadPoolExecutor(THREADS) as pool:
        found = [pair for part in pool.map(run, range(THREADS)) for pair in part]
    # While pivots are sought BLAS has one thread, in the whole process: products of others are then rounded otherwise.
    same = np.allclose if (work, setting) == ("update", "low rank") else np.array_equal
    wrong = sum(not same(alone[k], np.asarray(value)) for k, value in found)
    assert wrong == 0, f"{wrong} of {len(found)} answers differ"
    # … and the operator is not worse for it afterwards.
    np.testing.assert_array_equal(operator(wave(1), 0.0)(X), operators[setting](wave(1), 0.0)(X))


@pytest.mark.parametrize("setting", SETTINGS)
def test_arrays_are_read_only(setting: str, operators: dict[str, ko.SolutionOperator]) -> None:
    operator = operators[setting]
    for name, array in arrays_in(operator.factorisation):
        assert not array.flags.writeable, name


def test_a_solution_is_read_only(operators: dict[str, ko.SolutionOperator]) -> None:
    u = operators["subspace"](wave(0), 0.0)
    with pytest.raises(ValueError, match="read-only"):
        u.function.y[0] = 1.0


def arrays_in(value: Any, name: str = "factorisation") -> list[tuple[str, np.ndarray]]:
    """Every array that a factorisation holds, with where; batches of a stream are the user's own."""
    if isinstance(value, np.ndarray):
        return [(name, value)]
    if isinstance(value, tuple | list):
        return [pair for k, part in enumerate(value) for pair in arrays_in(part, f"{name}[{k}]")]
    users = name.endswith((".stream", ".problem"))
    if type(value).__module__.startswith("kernop.") and hasattr(value, "__dict__") and not users:
        return [pair for key, part in vars(value).items() for pair in arrays_in(part, f"{name}.{key}")]
    return []
