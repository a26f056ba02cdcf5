"""Parts that are learned and merged subtree by subtree, in memory and on disk: the same bits."""

import gc
import mmap
import os
import tempfile

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics import shelf as shelves
from kernop.basics.errors import MemoryLimitError
from kernop.methods.parts import subtrees

SQUARE = ko.Box([0, 0], [1, 1])
X = np.random.default_rng(0).random((50, 2))
PROBLEM = ko.Problem(
    ko.Equation(
        lambda u: -ko.div((lambda x: 1.5 + jnp.sin(7.0 * x[..., 0]) * jnp.cos(5.0 * x[..., 1])) * ko.grad(u)), on=SQUARE
    ),
    ko.Dirichlet(on=SQUARE.boundary),
)


def learned(cells=6):
    return ko.learn(PROBLEM, method=ko.Partition(cells=cells, degree=7, levels=0))


def answers(T):
    data = PROBLEM.manufacture(lambda x: jnp.sin(3.0 * x[..., 0] + x[..., 1]), T.points)
    return T(**data)(X)


@pytest.fixture
def small_memory(monkeypatch, tmp_path):
    """Memory for a thousand numbers, and a folder of its own for temporary files."""

    def check(name, doubles, what, remedy):
        if doubles > 1000:
            raise MemoryLimitError(f"{name}: {what}; {remedy}")

    monkeypatch.setattr(shelves, "check_memory", check)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def on_disk(folder):
    """How many open files, or maps, there are of files in a folder."""
    gc.collect()
    with open("/proc/self/maps") as maps:
        return sum(str(folder) in line for line in maps)


def groups(root):
    yield root
    for child in root.children:
        yield from groups(child)


def test_a_subtree_is_merged_as_in_the_whole_tree(monkeypatch):
    """With subtrees of four parts, of nine, and with none: the same matrices up to rounding, and the same answers."""
    found = {}
    for size in (1, 4, 9):
        monkeypatch.setattr(subtrees, "SUBTREE", size)
        found[size] = learned()
    plain = found.pop(1)
    for T in found.values():
        np.testing.assert_allclose(answers(T), answers(plain), atol=1e-11)
        for one, other in zip(groups(T.factorisation.root), groups(plain.factorisation.root), strict=True):
            assert one.part == other.part
            np.testing.assert_array_equal(np.sort(one.outer), np.sort(other.outer))
    exact = np.sin(3.0 * X[:, 0] + X[:, 1])
    assert np.max(np.abs(answers(plain) - exact)) < 1e-3


def test_parts_that_do_not_fit_stand_on_disk(small_memory):
    T = learned()
    assert os.listdir(small_memory) == []  # the file has no name
    if os.path.exists("/proc/self/maps"):
        assert on_disk(small_memory) > 0
    there, path = answers(T), small_memory / "T.kernop"
    T.save(path)
    read = ko.load(path)
    path.unlink()
    assert mapped(T.factorisation.locals[0].upper)
    assert mapped(read.factorisation.locals[0].upper)
    assert np.array_equal(answers(read), there)
    del T, read
    if os.path.exists("/proc/self/maps"):
        assert on_disk(small_memory) == 0
    assert os.listdir(small_memory) == []


def mapped(array):
    """Does an array stand in a file?"""
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return isinstance(array, memoryview) and isinstance(array.obj, mmap.mmap)


def test_the_same_bits_as_in_memory(small_memory, monkeypatch):
    there = learned(cells=9)  # more parts than one subtree has
    monkeypatch.undo()
    here = learned(cells=9)
    assert not mapped(here.factorisation.locals[0].upper)
    for one, other in zip(here.factorisation.locals, there.factorisation.locals, strict=True):
        assert np.array_equal(one.q, other.q)
        assert np.array_equal(one.inner, other.inner)
        assert one.upper.flags.f_contiguous == other.upper.flags.f_contiguous
    assert np.array_equal(answers(here), answers(there))


def test_an_error_on_the_way_leaves_nothing(small_memory, monkeypatch):
    def fails(leaf):
        raise RuntimeError("on the way")

    monkeypatch.setattr(subtrees, "learned", fails)
    with pytest.raises(RuntimeError, match="on the way"):
        learned()
    assert os.listdir(small_memory) == []
    if os.path.exists("/proc/self/maps"):
        assert on_disk(small_memory) == 0


def test_neither_memory_nor_disk(small_memory, monkeypatch):
    monkeypatch.setattr(shelves.shutil, "disk_usage", lambda folder: shelves.shutil._ntuple_diskusage(10, 0, 10))
    with pytest.raises(MemoryLimitError, match=r"36 parts of 36 functions.*TMPDIR"):
        learned()
