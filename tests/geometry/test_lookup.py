"""Finding rows again by their values."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernop.geometry.lookup import Lookup


@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 20), st.integers(1, 3)), elements=st.sampled_from([0.0, -0.0, 1.0, 0.1])
    )
)
def test_rows_are_found_where_a_search_finds_them(table):
    other_zeros = np.where(table == 0.0, -table, table)
    wanted = np.concatenate([table[::-1], table + 7.0, other_zeros])
    rows = Lookup(table).rows(wanted)
    for row, found in zip(wanted, rows, strict=True):
        equal = np.flatnonzero((table == row).all(axis=1))
        assert found in equal if len(equal) else found == -1


def test_the_last_bit_counts():
    table = np.array([[0.1, 0.2]])
    assert Lookup(table).rows(np.nextafter(table, 1.0)) == -1
    assert Lookup(np.asfortranarray(np.arange(6.0).reshape(3, 2))).rows(np.array([[4.0, 5.0]])) == 2
