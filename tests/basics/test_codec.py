"""The codec: what is written comes back, in the same order of memory; what is not as it should be is named."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from kernop.basics.codec import ARRAY, Decoder, Encoder
from kernop.basics.errors import ArgumentTypeError, FileError, FloatArray, NonFiniteError, fail
from kernop.basics.fitting import check_shape
from kernop.basics.stored import Extended, Lower, Numbers, Upper, stored


@stored("test leaf")
@dataclass(frozen=True, eq=False)
class Leaf:
    x: FloatArray
    n: int = 1

    def check(self):
        check_shape("x", self.x, None)


class Strange(Leaf):
    """Not stored itself."""


@stored("test tree")
@dataclass(frozen=True, eq=False)
class Tree:
    leaf: Leaf
    several: tuple[Leaf, ...]
    number: Extended
    numbers: Numbers
    mapping: Mapping[str, float] | None
    pair: tuple[int, float]
    word: Literal["a", "b"]
    flag: bool
    either: int | FloatArray | None
    lower: Lower
    upper: Upper
    order: NDArray[np.intp]
    function: Callable[[Any], Any]
    anything: Any


@stored("test list")
class Listed:
    def __init__(self, *leaves: Leaf, name: str = "") -> None:
        self.leaves, self.name = leaves, name


@stored("test function")
def function(x):
    return x


def tree(**changes):
    own = np.arange(3.0)
    values = {
        "leaf": Leaf(own),
        "several": (Leaf(own, 2), Leaf(np.ones(2))),
        "number": np.inf,
        "numbers": np.array([1.0, 2.0]),
        "mapping": {"a": 0.5},
        "pair": (3, 0.5),
        "word": "a",
        "flag": True,
        "either": np.ones((2, 2)),
        "lower": np.asfortranarray(np.tril(np.full((3, 3), 2.0))),
        "upper": np.triu(np.full((2, 2), 3.0)),
        "order": np.array([1, 0]),
        "function": function,
        "anything": {"a": (1, "b", None, own)},
    }
    return Tree(**{**values, **changes})


def coded(value):
    encoder = Encoder()
    header = json.loads(json.dumps(encoder.encode(value, "v"), allow_nan=False))
    return header, encoder.arrays


def decoded(hint, header, arrays=None):
    decoder = Decoder(arrays or {}, lambda got: fail(FileError, "path", f"a file {got}", "write it again"))
    found = decoder.decode(hint, header, "v")
    decoder.finish()
    return found


class TestObjects:
    @pytest.mark.parametrize(
        "changes",
        [{}, {"either": 3}, {"either": None}, {"number": 2.5}, {"number": -np.inf}, {"mapping": None}, {"several": ()}],
    )
    def test_come_back(self, changes):
        value = tree(**changes)
        found = decoded(Tree, *coded(value))
        assert type(found) is Tree
        assert found == value
        assert found != tree(word="b")
        assert found != tree(leaf=Leaf(np.zeros(3)))
        assert hash(found) == hash(value)

    def test_with_a_number_of_arguments(self):
        value = Listed(Leaf(np.ones(1)), Leaf(np.ones(2)), name="a")
        assert decoded(Listed, *coded(value)) == value

    def test_an_array_is_stored_once(self):
        header, arrays = coded(tree())
        assert header["leaf"]["x"] == header["several"][0]["x"] == header["anything"]["a"][3] == {ARRAY: "v/leaf/x"}
        found = decoded(Tree, header, arrays)
        assert found.leaf.x is found.several[0].x

    def test_what_is_not_stored(self):
        for value in (Strange(np.ones(1)), lambda x: x, object(), {1, 2}):
            with pytest.raises(ArgumentTypeError, match=r"v: got .*, which cannot be stored"):
                Encoder().encode(value, "v")

    @pytest.mark.parametrize(
        ("place", "value", "match"),
        [
            (("leaf",), None, "v/leaf is missing"),
            (("leaf",), [], r"v/leaf is \(\), which it cannot be"),
            (("leaf",), {}, "v/leaf is {}, which it cannot be"),
            (("leaf", "class"), "oak", "v/leaf/class is 'oak', which this kernop does not know"),
            (("leaf", "class"), ["oak"], "does not know"),
            (("leaf", "class"), "test function", "which it cannot be"),
            (
                ("leaf", "x"),
                {ARRAY: "v/either"},
                r"v/leaf has parts that do not fit each other \(x: got an array",
            ),
            (("leaf", "x"), {ARRAY: "v/none"}, "v/leaf/x is missing"),
            (("leaf", "x"), {ARRAY: 3}, "v/leaf/x is missing"),
            (("leaf", "x"), {ARRAY: "v/order"}, "v/leaf/x is an array .*, which it cannot be"),
            (("order",), {ARRAY: "v/leaf/x"}, "v/order is an array .*, which it cannot be"),
            (("leaf", "n"), 1.5, "no whole number"),
            (("leaf", "n"), True, "no whole number"),
            (("leaf", "n"), 10**50, "no number"),
            (("several",), 3, "v/several is 3, which it cannot be"),
            (("several",), [3], r"v/several is \(3,\), which it cannot be"),
            (("number",), "1", "v/number is '1', which it cannot be"),
            (("number",), True, "v/number is True, which it cannot be"),
            (("number",), 10**400, "a whole number of 1329 bits and no number"),
            (("numbers",), [1.0, "2"], "v/numbers is .*, which it cannot be"),
            (("numbers",), [["a"]], "v/numbers is .*, which it cannot be"),
            (("mapping",), {"a": "inf"}, "v/mapping is {'a': 'inf'}, which it cannot be"),
            (("mapping",), [1.0], "which it cannot be"),
            (("pair",), [1], r"v/pair is \(1,\), which it cannot be"),
            (("word",), "c", "v/word is 'c', which it cannot be"),
            (("flag",), 1, "v/flag is 1 and no truth value"),
            (("either",), "3", "which it cannot be"),
            (("either",), True, "which it cannot be"),
            (("lower",), {ARRAY: "v/several/1/x"}, "v/lower is an array .*, which it cannot be"),
            (("function",), {"class": "none"}, "does not know"),
            (("function",), 3, "v/function is 3, which it cannot be"),
            (("anything",), "a\nb", "no text"),
            (("anything",), "a" * 2000, "no text"),
        ],
    )
    def test_what_is_wrong_is_named(self, place, value, match):
        header, arrays = coded(tree())
        part = header
        for name in place[:-1]:
            part = part[name]
        part[place[-1]] = value
        with pytest.raises(FileError, match=match):
            decoded(Tree, header, arrays)

    def test_a_part_that_is_not_there(self):
        header, arrays = coded(tree())
        del header["mapping"]
        with pytest.raises(FileError, match="path: got a file whose v/mapping is missing; write it again"):
            decoded(Tree, header, arrays)

    def test_comments_are_free(self):
        header, arrays = coded(tree())
        assert decoded(Tree, {**header, "note": "for Ada"}, arrays) == tree()

    def test_nested_too_deeply(self):
        header = []
        for _ in range(200):
            header = [header]
        with pytest.raises(FileError, match="nested too deeply"):
            decoded(Any, header)


class TestArrays:
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_the_order_of_memory_stays(self, order):
        array = np.asarray(np.arange(12.0).reshape(3, 4), order=order)
        header, arrays = coded(array)
        assert all(kept.flags.c_contiguous for kept in arrays.values())
        found = decoded(FloatArray, header, arrays)
        np.testing.assert_array_equal(found, array)
        assert found.strides == array.strides

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("hint", [Lower, Upper])
    def test_triangles_leave_the_other_side_out(self, order, hint):
        matrix = np.asarray(np.arange(1.0, 17.0).reshape(4, 4), order=order)
        one = (np.tril if hint is Lower else np.triu)(matrix)
        matrix[one == 0.0] = np.nan  # leftovers do not matter
        encoder = Encoder()
        header = encoder.encode(matrix, "t", hint)
        (kept,) = encoder.arrays.values()
        assert kept.shape == (10,)
        found = decoded(hint, header, encoder.arrays)
        np.testing.assert_array_equal(found, one)
        assert found.strides == matrix.strides

    @pytest.mark.parametrize(
        ("array", "hint", "match"),
        [
            (np.array([1.0, np.inf]), FloatArray, "v is an array with numbers that are not finite"),
            (np.array([1.0, 1e200]), FloatArray, "v is an array with squares that are not finite"),
            (np.array([0.0, 1.0, 1.0]), Lower, "a triangle with a zero on its diagonal"),
            (np.array([1.0, np.nan, 1.0]), Upper, "not finite"),
            (np.ones((1, 3)), Lower, "no triangle"),
            (np.empty(0), Lower, "no triangle"),
        ],
    )
    def test_what_is_wrong_is_named(self, array, hint, match):
        with pytest.raises(FileError, match=match):
            decoded(hint, {getattr(hint, "__metadata__", [ARRAY])[0]: "a"}, {"a": array})

    @pytest.mark.parametrize("value", [1.5e308, -1e200, 1.1e154])
    def test_squares_that_overflow_are_not_written(self, value):
        with pytest.raises(NonFiniteError, match=r"T: got an operator whose kernel/a has numbers .*; choose units"):
            Encoder().encode(np.full((3, 2), value), "kernel/a")

    def test_large_numbers_with_squares(self):
        assert decoded(FloatArray, *coded(np.full(3, 1e153))).shape == (3,)

    def test_arrays_that_nobody_asks_for(self):
        with pytest.raises(FileError, match="an array 'b' that does not belong to it"):
            decoded(FloatArray, {ARRAY: "a"}, {"a": np.ones(2), "b": np.ones(2)})
