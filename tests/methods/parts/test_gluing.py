"""Eliminating faces up a tree, against one dense system for all of them."""

import numpy as np
import pytest

from kernop.basics.errors import SingularGramError
from kernop.geometry.cells import Cells, grown
from kernop.methods.parts.gluing import balanced, balanced_transposed, glued

LINES = [np.linspace(0, 1, 4), np.linspace(0, 1, 3)]
WIDTH = 3


@pytest.fixture(scope="module")
def puzzle():
    """Cells with random maps from traces to fluxes."""
    cells = Cells.of(grown(LINES, lambda low, high: True, lambda low, high, depth: depth < 1 and bool(low[0] < 0.1)))
    inner = [face for face in cells.faces if face.inner]
    owned = [
        np.concatenate([np.arange(k * WIDTH, (k + 1) * WIDTH) for k, f in enumerate(inner) if p in (f.below, f.above)])
        for p in range(len(cells.leaves))
    ]
    rng = np.random.default_rng(0)
    maps = [rng.normal(size=(len(own), len(own))) + 4.0 * np.eye(len(own)) for own in owned]
    parts = [(p,) for p in range(len(owned))]
    return cells, owned, maps, parts, WIDTH * len(inner), rng


def dense(owned, maps, count):
    whole = np.zeros((count, count))
    for own, s in zip(owned, maps, strict=True):
        whole[np.ix_(own, own)] += s
    return whole


def test_fluxes_balance(puzzle):
    cells, owned, maps, parts, count, rng = puzzle
    root = glued(cells.root, parts, owned, lambda p: maps[p])
    fluxes = [rng.normal(size=(len(own), 2)) for own in owned]
    right = np.zeros((count, 2))
    for own, flux in zip(owned, fluxes, strict=True):
        right[own] += flux
    np.testing.assert_allclose(
        balanced(root, fluxes, count), -np.linalg.solve(dense(owned, maps, count), right), atol=1e-11
    )


def test_the_transpose(puzzle):
    cells, owned, maps, parts, count, rng = puzzle
    root = glued(cells.root, parts, owned, lambda p: maps[p])
    fluxes, pulls = [rng.normal(size=(len(own), 1)) for own in owned], rng.normal(size=(count, 1))
    forward = float(np.sum(pulls * balanced(root, fluxes, count)))
    back = balanced_transposed(root, pulls, len(owned))
    assert sum(float(np.sum(a * b)) for a, b in zip(back, fluxes, strict=True)) == pytest.approx(forward, rel=1e-11)


@pytest.mark.filterwarnings("error")  # the refusal is all that users see
def test_a_singular_balance_is_said(puzzle):
    cells, owned, maps, parts, _, _ = puzzle
    with pytest.raises(SingularGramError, match="cannot be balanced"):
        glued(cells.root, parts, owned, lambda p: 0.0 * maps[p])
