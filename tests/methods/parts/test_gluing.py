"""Eliminating faces up a tree, against one dense system for all of them."""

import numpy as np
import pytest

from kernop.basics import checks
from kernop.basics.errors import MemoryLimitError, SingularGramError
from kernop.geometry.cells import Cells, tree
from kernop.methods.parts import gluing
from kernop.methods.parts.balancing import balanced, balanced_transposed
from kernop.methods.parts.gluing import Glue, glued

LINES = [np.linspace(0, 1, 4), np.linspace(0, 1, 3)]
WIDTH = 3


@pytest.fixture(scope="module")
def puzzle():
    """Cells with random maps from traces to fluxes."""
    cells = Cells.of(tree(LINES, lambda low, high: True, lambda low, high, depth: depth < 1 and bool(low[0] < 0.1)))
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
    glue = Glue(owned, count)
    root, condition = glued(cells.root, parts, glue, lambda p: maps[p])
    fluxes = [rng.normal(size=(len(own), 2)) for own in owned]
    right = np.zeros((count, 2))
    for own, flux in zip(owned, fluxes, strict=True):
        right[own] += flux
    found = -np.linalg.solve(dense(owned, maps, count), right)
    np.testing.assert_allclose(balanced(root, fluxes, glue), found, atol=1e-11)
    assert 1e-4 < condition < 1.0


@pytest.fixture(scope="module")
def sided(puzzle):
    """The same cells, with unknowns of its own on either side of a face, and two sums."""
    cells, _, _, parts, count, rng = puzzle
    inner = [face for face in cells.faces if face.inner]
    owned = [
        np.concatenate(
            [
                np.arange((2 * k + side) * WIDTH, (2 * k + side + 1) * WIDTH)
                for k, face in enumerate(inner)
                for side, part in enumerate((face.below, face.above))
                if part == p
            ]
        )
        for p in range(len(cells.leaves))
    ]
    partner = np.arange(2 * count).reshape(-1, 2, WIDTH)[:, ::-1].ravel()
    maps = [rng.normal(size=(len(own) + 2, len(own))) / len(own) for own in owned]
    return cells, parts, Glue(owned, 2 * count, partner, 2), maps, rng


def test_mixed_traces_and_sums(sided):
    """in + out of the other side = 0, and sums 0, all by least squares, against one dense system."""
    cells, parts, glue, maps, rng = sided
    root, _ = glued(cells.root, parts, glue, lambda p: maps[p])
    out = [rng.normal(size=(len(own), 1)) for own in maps]
    whole, right = np.zeros((glue.count + 2, glue.count)), np.zeros((glue.count + 2, 1))
    for own, s, r in zip(glue.owned, maps, out, strict=True):
        whole[np.ix_(np.append(glue.partner[own], glue.sum_numbers), own)] += s
        right[np.append(glue.partner[own], glue.sum_numbers)] += r
    whole[: glue.count] += np.eye(glue.count)
    found = balanced(root, out, glue)
    # Equations below the last group hold exactly; those of the last group by least squares, with scaled rows.
    left = whole @ found + right
    last = np.append(root.inner, glue.sum_numbers)
    assert np.max(np.abs(np.delete(left, last, axis=0))) < 1e-11
    exact = -np.linalg.solve(whole[: glue.count], right[: glue.count])
    fitting = [r.copy() for r in out]
    fitting[0][-2:] -= whole[glue.count :] @ exact + right[glue.count :]
    np.testing.assert_allclose(balanced(root, fitting, glue), exact, atol=1e-10)


def test_the_transpose(puzzle, sided):
    for cells, parts, glue, maps, rng in (
        (puzzle[0], puzzle[3], Glue(puzzle[1], puzzle[4]), puzzle[2], puzzle[5]),
        sided,
    ):
        root, _ = glued(cells.root, parts, glue, lambda p, maps=maps: maps[p])
        out, pulls = [rng.normal(size=(len(own), 1)) for own in maps], rng.normal(size=(glue.count, 1))
        forward = float(np.sum(pulls * balanced(root, out, glue)))
        back = balanced_transposed(root, pulls, glue)
        assert sum(float(np.sum(a * b)) for a, b in zip(back, out, strict=True)) == pytest.approx(forward, rel=1e-10)


@pytest.mark.filterwarnings("error")  # the refusal is all that users see
def test_a_singular_balance_is_said(puzzle):
    cells, owned, maps, parts, count, _ = puzzle
    with pytest.raises(SingularGramError, match="cannot be glued"):
        glued(cells.root, parts, Glue(owned, count), lambda p: 0.0 * maps[p])


def test_matrices_of_faces_that_do_not_fit_into_memory_are_refused_before(puzzle, monkeypatch):
    """Where parts are graded deeply, the matrices at the top of the tree have gigabytes: the process was killed."""
    _, owned, maps, parts, count, _ = puzzle
    monkeypatch.setattr(gluing, "LARGE", 0)
    monkeypatch.setattr(checks, "SMALL", 0)
    monkeypatch.setattr(checks, "available_memory", lambda: 8 * count)
    with pytest.raises(MemoryLimitError, match="unknowns between parts"):
        glued(puzzle[0].root, parts, Glue(owned, count), lambda p: maps[p])
