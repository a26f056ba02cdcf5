"""Parts of a file: what is written comes back in the same order of memory; what is not as it should be is named."""

import numpy as np
import pytest
from kernop.operators.files import Reader, Writer

from kernop.basics.errors import FileError, NonFiniteError, fail


def reader(writer):
    return Reader(writer.header, writer.arrays, lambda got: fail(FileError, "path", f"a file {got}", "write it again"))


def values(**header):
    return reader(Writer(header))


class TestArrays:
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_the_order_of_memory_stays(self, order):
        file, array = Writer(), np.asarray(np.arange(12.0).reshape(3, 4), order=order)
        file.below("part").array("a", array)
        assert all(stored.flags.c_contiguous for stored in file.arrays.values())
        found = reader(file).below("part").floats("a", (3, None))
        np.testing.assert_array_equal(found, array)
        assert found.strides == array.strides

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("lower", [True, False])
    def test_triangles_leave_the_other_side_out(self, order, lower):
        matrix = np.asarray(np.arange(1.0, 17.0).reshape(4, 4), order=order)
        file = Writer()
        file.triangle("t", matrix, lower=lower)
        (stored,) = file.arrays.values()
        assert stored.shape == (10,)
        found = reader(file).triangle("t", 4, lower=lower)
        np.testing.assert_array_equal(found, np.tril(matrix) if lower else np.triu(matrix))
        assert found.strides == matrix.strides

    @pytest.mark.parametrize(
        ("array", "ask", "match"),
        [
            (np.ones((2, 3)), lambda file: file.floats("a", (3, 2)), r"of shape \(2, 3\) and not of float64, 3 × 2"),
            (np.ones(2), lambda file: file.floats("a", (None, 2)), r"shape \(2,\)"),
            (np.ones(2), lambda file: file.floats("b", (2,)), "b is missing"),
            (np.array([1.0, np.inf]), lambda file: file.floats("a", (2,)), "not finite"),
            (np.array([1.0, 0.0]), lambda file: file.positive("a", (2,)), "not positive"),
            (np.ones(2), lambda file: file.whole("a", (2,), least=0, most=5), "float64 of shape"),
            (np.array([1, 6]), lambda file: file.whole("a", (2,), least=0, most=5), "not from 0 to 5"),
            (np.array([0, 0]), lambda file: file.permutation("a", 2), "no permutation"),
            (np.ones(5), lambda file: file.triangle("a", 3, lower=True), "no triangle of 3 × 3"),
            (np.array([0.0, 1.0, 1.0]), lambda file: file.triangle("a", 2, lower=True), "zero on its diagonal"),
            (np.array([1.0, np.nan, 1.0]), lambda file: file.triangle("a", 2, lower=True), "not finite"),
        ],
    )
    def test_what_is_wrong_is_named(self, array, ask, match):
        file = Writer()
        file.array("a", array)
        with pytest.raises(FileError, match=match):
            ask(reader(file))

    def test_a_huge_triangle_is_refused_before_it_is_made(self):
        with pytest.raises(FileError, match="no triangle"):
            reader(Writer()).triangle("t", 10**9, lower=True)

    @pytest.mark.parametrize("value", [1.5e308, -1e200, 1.1e154])
    def test_squares_that_overflow(self, value):
        file = Writer()
        file.below("kernel").array("a", np.full((3, 2), value))
        with pytest.raises(FileError, match="whose kernel/a is an array with squares that are not finite"):
            reader(file).below("kernel").floats("a", (3, 2))
        with pytest.raises(NonFiniteError, match=r"T: got an operator whose kernel/a has numbers .*; choose units"):
            file.finish()

    def test_large_numbers_with_squares(self):
        file = Writer()
        file.array("a", np.full(3, 1e153))
        file.finish()
        assert reader(file).floats("a", (3,)).shape == (3,)

    def test_arrays_that_nobody_asks_for(self):
        file = Writer()
        file.array("a", np.ones(2))
        file.array("b", np.ones(2))
        found = reader(file)
        found.floats("a", (2,))
        with pytest.raises(FileError, match="an array 'b' that does not belong to it"):
            found.finish()
        found.floats("b", (2,))
        found.finish()


class TestValues:
    def test_what_is_right(self):
        file = values(
            n=3, x=2.5, whole=4, word="a", flag=False, several=[1, 2.5], inner={"y": 1}, rows=[{"z": 1}], no=None
        )
        assert file.integer("n", least=3, most=3) == 3
        assert (file.number("x", above=2.0), file.number("whole")) == (2.5, 4.0)
        assert isinstance(file.number("whole"), float)
        assert file.word("word", ("a", "b")) == "a"
        assert file.flag("flag") is False
        assert file.numbers("several", 2) == [1.0, 2.5]
        assert file.below("inner").number("y") == 1.0
        assert [part.integer("z") for part in file.parts("rows")] == [1]
        assert "n" in file
        assert "no" not in file

    @pytest.mark.parametrize(
        ("value", "ask", "match"),
        [
            (None, lambda file: file.number("a"), "a is missing"),
            (True, lambda file: file.number("a"), "True and no number"),
            ("1", lambda file: file.number("a"), "'1' and no number"),
            (float("inf"), lambda file: file.number("a"), "inf and no number"),
            (float("nan"), lambda file: file.number("a"), "nan and no number"),
            (10**400, lambda file: file.number("a"), "a whole number of 1329 bits and no number"),
            (0.0, lambda file: file.number("a", above=0.0), "which it cannot be"),
            (-1.0, lambda file: file.number("a", least=0.0), "which it cannot be"),
            (1.5, lambda file: file.integer("a"), "no whole number"),
            (True, lambda file: file.integer("a"), "no whole number"),
            (7, lambda file: file.integer("a", most=6), "no whole number from 0 to 6"),
            ("c", lambda file: file.word("a", ("b",)), "'c', which this kernop does not know"),
            (["b"], lambda file: file.word("a", ("b",)), "does not know"),
            ({}, lambda file: file.word("a", {"b": 1}), "does not know"),
            (1, lambda file: file.flag("a"), "not true or false"),
            ([], lambda file: file.numbers("a"), "no list"),
            ([1.0], lambda file: file.numbers("a", 2), "no list of 2"),
            ([1.0, "2"], lambda file: file.numbers("a"), "no number"),
            ("12", lambda file: file.numbers("a"), "no list"),
            ([], lambda file: file.below("a"), "no object"),
            ([1], lambda file: file.parts("a"), "no object"),
            ("a\nb", lambda file: file.text("a"), "no text"),
            ("a" * 2000, lambda file: file.text("a"), "no text"),
        ],
    )
    def test_what_is_wrong_is_named(self, value, ask, match):
        with pytest.raises(FileError, match=match):
            ask(values(a=value))

    def test_messages_tell_the_place(self):
        with pytest.raises(FileError, match="path: got a file whose kernel/first/nu is missing; write it again"):
            values(kernel={"first": {}}).below("kernel").below("first").number("nu")
