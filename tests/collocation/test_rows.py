"""Rows of batches of points, and the data of inputs there, against the problem that holds all rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernop as ko
from kernop.basics.errors import ArgumentError, ShapeError
from kernop.collocation.ansatz import Ansatz, collocate
from kernop.collocation.batches import stream
from kernop.collocation.rows import StreamedRows

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"),
    ko.Dirichlet(on=LINE.boundary, name="g"),
    ko.Neumann(on=LINE.boundary, name="q", data=lambda x: 3.0 * x[..., 0]),
)
ENDS = LINE.boundary.sample(2)
POINTS = {"f": LINE.sample(20), "g": ENDS[np.arange(7) % 2], "q": ENDS}


def rows(size=9, points=POINTS):
    return StreamedRows(stream(PROBLEM, points, "halton", 0, size))


def all_rows(found):
    return [found[k] for k in range(found.stream.number)]


class TestFunctionals:
    @settings(max_examples=30, deadline=None)
    @given(size=st.integers(1, 30), more=st.booleans())
    def test_all_rows_stand_where_the_conditions_say(self, size, more):
        found, held = rows(size), dict(POINTS)
        if more:
            found = found.extended({"g": POINTS["g"]}, size)
            held["g"] = ko.Points(np.tile(held["g"].x, (2, 1)))
        x = np.full((sum(map(len, held.values())), 1), np.nan)
        for k, part in enumerate(all_rows(found)):
            for block, place in zip(part.functionals.blocks, found.places(k, part), strict=True):
                x[place] = block.x
        np.testing.assert_array_equal(x, np.concatenate([p.x for p in held.values()]))

    @pytest.mark.parametrize("number", [1, 5, 20, 100])
    def test_spread_as_without_a_stream(self, number):
        one, other = rows().spread(number), collocate(PROBLEM, POINTS).spread(number)
        assert len(one.blocks) == len(other.blocks)
        for a, b in zip(one.blocks, other.blocks, strict=True):
            np.testing.assert_array_equal(a.x, b.x)
            np.testing.assert_array_equal(a.coefficients, b.coefficients)

    def test_weights_are_those_of_the_conditions_that_are_there(self):
        part = rows().at({"q": POINTS["q"], "f": POINTS["f"]})
        assert part.conditions == (0, 2)
        np.testing.assert_array_equal(part.roots((4.0, 9.0, 16.0)), [2.0] * 20 + [4.0] * 2)
        assert part.data.shape == (22, 0)

    def test_an_envelope(self):
        ansatz = Ansatz(envelope=lambda x: x[..., 0])
        found = StreamedRows(stream(PROBLEM, POINTS, "halton", 0, 9), ansatz)[0].functionals.blocks[0]
        np.testing.assert_allclose(found.coefficients, np.stack([-2.0 + 0.0 * found.x[:, 0], -found.x[:, 0]], axis=1))


class TestData:
    def test_functions_numbers_values_and_what_is_fixed(self):
        inputs = [
            {"f": lambda x: x[..., 0], "g": 5.0},
            {"f": np.arange(20.0), "g": np.arange(14.0).reshape(7, 2)},
        ]
        found = rows().given(inputs)
        assert [columns.width for columns in found.columns] == [None, 2]
        assert found.width == 3
        for k, part in enumerate(all_rows(found)):
            x = np.concatenate([block.x[:, 0] for block in part.functionals.blocks])
            row = np.concatenate([np.arange(29)[place] for place in found.places(k, part)])
            f, g, q = row < 20, (row >= 20) & (row < 27), row >= 27
            expected = np.empty((len(row), 3))
            expected[f] = np.stack([x[f], row[f], row[f]], axis=1)
            expected[g] = np.stack([0 * x[g] + 5.0, 2.0 * (row[g] - 20), 2.0 * (row[g] - 20) + 1.0], axis=1)
            expected[q] = 3.0 * x[q, None]
            np.testing.assert_allclose(part.data, expected, rtol=1e-14)

    def test_values_at_all_rows(self):
        h = np.random.default_rng(0).normal(size=(29, 2))
        found = rows().holding(h)
        for k, part in enumerate(all_rows(found)):
            np.testing.assert_array_equal(part.data, np.concatenate([h[place] for place in found.places(k, part)]))

    def test_widths_do_not_depend_on_which_conditions_a_batch_has(self):
        wide = {"f": 1.0, "g": lambda x: np.stack([x[..., 0]] * 3, axis=-1)}
        found = rows(points=ko.Batches(1, lambda k: {"f": POINTS["f"]})).given([wide])
        assert [columns.width for columns in found.columns] == [3]
        assert found[0].data.shape == (20, 3)

    def test_values_without_a_place(self):
        found = rows().given([{"f": np.ones(20), "g": 0.0}])
        with pytest.raises(ArgumentError, match=r"f: got values of shape \(20,\); give a function or a number"):
            found.at(POINTS)

    def test_columns_that_disagree(self):
        found = rows().given([{"f": np.ones((20, 2)), "g": np.ones((7, 3))}])
        with pytest.raises(ShapeError, match="T: got batches that disagree"):
            found[0]

    def test_values_that_are_not_one_for_each_point(self):
        with pytest.raises(ShapeError, match=r"f: got an array of shape \(19,\); .*values at .* of shape .20,"):
            rows().given([{"f": np.ones(19), "g": 0.0}])
