"""The convergence study at a small size, against the paper's formulas written out."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kernop.basics.precision import float64
from kernop.paper.poisson3d import MODES, REGULARIZATIONS, SIZES, Study, run, solutions, sources, summarised

SMALL = Study("paper", centers=40, batch=100, sizes=(200, 400))


def by_hand(dataset, n):
    """λ ↦ mean relative L2 error over the modes: (AᵀA + λI) c = Aᵀf with A by nested automatic differentiation."""
    x = np.concatenate([np.random.default_rng([dataset, k]).random((100, 3)) for k in range(n // 100)])
    z = np.random.default_rng([dataset, 10**6]).random((40, 3))
    line = np.arange(1, 24) / 24.0
    grid = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)

    def basis(p):
        return jnp.prod(p * (1.0 - p)) * jnp.exp(-jnp.sum((p - z) ** 2, axis=-1) / 0.2**2)

    with float64():
        hessian = jax.jit(jax.vmap(jax.jacfwd(jax.jacfwd(basis))))(jnp.asarray(x))
        a = -np.trace(np.asarray(hessian), axis1=2, axis2=3)
        e = np.asarray(jax.jit(jax.vmap(basis))(grid))
        f, u = np.asarray(sources(jnp.asarray(x))), np.asarray(solutions(jnp.asarray(grid)))

    def error(regularization):
        found = e @ np.linalg.solve(a.T @ a + regularization * np.eye(40), a.T @ f)
        return np.mean(np.linalg.norm(found - u, axis=0) / np.linalg.norm(u, axis=0))

    return error


def test_the_paper_s_estimator_by_hand():
    found = SMALL.errors(3)["errors"]
    for k, n in enumerate((200, 400)):
        error = by_hand(3, n)
        for label in ("fixed", "adaptive"):
            wanted = error(REGULARIZATIONS[label](n))
            assert found[label]["l2"][k] == pytest.approx(wanted, rel=1e-6)
            assert found[label]["linf"][k] > 0.0


def test_sources_are_minus_the_laplacian_of_the_solutions():
    x = np.random.default_rng(0).random((5, 3))
    with float64():
        hessian = jax.jit(jax.vmap(jax.jacfwd(jax.jacfwd(solutions))))(x)
        wanted = -jnp.trace(hessian, axis1=2, axis2=3)
        np.testing.assert_allclose(sources(jnp.asarray(x)), wanted, rtol=1e-10, atol=1e-10)


def test_modes_are_fifty_different_ones():
    assert MODES.shape == (50, 3)
    assert len({tuple(mode) for mode in MODES.tolist()}) == 50
    assert MODES.min() == 1
    assert MODES.max() == 4


def test_the_default_is_more_accurate_on_the_same_points():
    better = Study("default", centers=800, batch=1000, sizes=(3000,)).errors(0)["errors"]["default"]["l2"][0]
    paper = Study("paper", centers=800, batch=1000, sizes=(3000,)).errors(0)["errors"]["fixed"]["l2"][0]
    assert better < 0.1 * paper


def test_results_are_kept_and_not_computed_again(tmp_path, monkeypatch):
    first = list(run(SMALL, 2, tmp_path, lambda text: None))
    monkeypatch.setattr(Study, "errors", lambda *_: pytest.fail("computed again"))
    assert list(run(SMALL, 2, tmp_path, lambda text: None)) == first
    assert len(list(tmp_path.glob("*.json"))) == 2
    assert not list(tmp_path.glob("*.part"))


def test_results_of_other_sizes_are_not_taken(tmp_path):
    (tmp_path / "poisson3d-paper-40-0.json").write_text(json.dumps({"sizes": list(SIZES)}))
    (result,) = run(SMALL, 1, tmp_path, lambda text: None)
    assert result["sizes"] == [200, 400]


def test_summary_of_a_power_law():
    """Errors 3 N^(−1/2) and twice that in two data sets: the mean is 4.5 N^(−1/2), the standard error a third of it."""
    sizes = [100, 200, 400]
    law = 3.0 * np.asarray(sizes) ** -0.5
    results = [{"sizes": sizes, "seconds": s, "errors": {"fixed": {"l2": (s * law).tolist()}}} for s in (1.0, 2.0)]
    found = summarised(results)
    line = found["lines"]["fixed l2"]
    np.testing.assert_allclose(line["mean"], 1.5 * law)
    np.testing.assert_allclose(line["standard error"], 0.5 * law)
    assert line["slope"] == pytest.approx(0.5)
    assert found["mean seconds"] == 1.5
    assert found["data sets"] == 2
