"""Rows as values, by input, component and unknown: round trips against explicit loops."""

import numpy as np
import pytest

from kernop.collocation.data import split_pairs
from kernop.collocation.functionals import Layout
from kernop.language.unknowns import Unknowns
from kernop.operators.shapes import blanked, by_unknown, deviations, values_of

N, B = 5, 3
LAYOUTS = [Layout(), Layout(2), Layout(None, True), Layout(2, True), Layout(1)]
FLOW = Unknowns((("u", 2), ("p", 1)))
layouts = pytest.mark.parametrize("layout", LAYOUTS, ids=repr)


def drawn(*shape, complex_too=False):
    rng = np.random.default_rng(0)
    return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if complex_too else 0.0)


def shape_of(layout):
    return (N,) if layout.components is None else (N, layout.components)


@layouts
def test_rows_stand_part_by_part(layout):
    """Row r of part k and point i, real before imaginary."""
    values = drawn(*shape_of(layout), complex_too=layout.complex)
    rows = layout.rows(values)
    assert rows.shape == (layout.parts * N,)
    columns = values.reshape(N, -1)
    k = columns.shape[1]
    for part in range(layout.parts):
        wanted = (np.imag if part >= k else np.real)(columns[:, part % k])
        np.testing.assert_array_equal(rows[part * N : (part + 1) * N], wanted)


@layouts
def test_values_of_rows_are_the_values_again(layout):
    values = drawn(*shape_of(layout), B, complex_too=layout.complex)
    np.testing.assert_array_equal(values_of(layout.rows(values), layout, single=False), values)
    first = layout.rows(values[..., 0])
    np.testing.assert_array_equal(values_of(first[:, None], layout, single=True), values[..., 0])


@pytest.mark.parametrize("layout", [Layout(), Layout(2)], ids=repr)
def test_paired_columns_are_complex_values_of_a_real_operator(layout):
    values = drawn(*shape_of(layout), B, complex_too=True)
    paired = split_pairs(layout.rows(values))
    assert paired.shape == (layout.parts * N, 2 * B)
    np.testing.assert_array_equal(values_of(paired, layout, single=False, paired=True), values)
    one = split_pairs(layout.rows(values[..., :1]))
    np.testing.assert_array_equal(values_of(one, layout, single=True, paired=True), values[..., 0])


@layouts
def test_deviations_add_the_variances_of_real_and_imaginary_parts(layout):
    variance = drawn(layout.parts * N) ** 2
    parts = variance.reshape(layout.parts, N)
    k = layout.components or 1
    wanted = np.sqrt([[sum(parts[p, i] for p in range(q, layout.parts, k)) for q in range(k)] for i in range(N)])
    np.testing.assert_allclose(deviations(variance, layout), wanted.reshape(shape_of(layout)), rtol=1e-15)


@pytest.mark.parametrize("tail", [(), (B,)])
def test_values_by_unknown(tail):
    values = drawn(N, 3, *tail)
    found = by_unknown(values, FLOW)
    assert found._fields == ("u", "p")
    np.testing.assert_array_equal(found.u, values[:, :2])
    np.testing.assert_array_equal(found.p, values[:, 2])
    assert type(by_unknown(values, FLOW)) is type(found)


@pytest.mark.parametrize("unknowns", [Unknowns(), Unknowns((("u", 3),))])
def test_values_of_a_single_unknown_are_no_tuple(unknowns):
    values = drawn(N, 3)
    assert by_unknown(values, unknowns) is values


def test_points_outside_are_blank_in_every_unknown():
    inside = np.array([True, False, True, True, False])
    found = blanked(by_unknown(drawn(N, 3), FLOW), inside)
    np.testing.assert_array_equal(np.isnan(found.p), ~inside)
    np.testing.assert_array_equal(np.isnan(found.u).all(axis=1), ~inside)
    np.testing.assert_array_equal(np.isnan(found.u).any(axis=1), ~inside)
    assert np.isnan(blanked(drawn(N, complex_too=True), inside)).sum() == 2
