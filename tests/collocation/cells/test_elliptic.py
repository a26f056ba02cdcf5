"""Which systems are elliptic: those whose principal part is invertible in all directions."""

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.cells.elliptic import kind_of

SQUARE = ko.Box([0, 0], [1, 1])


def curl(e):
    return ko.partial(e[1], 0) - ko.partial(e[0], 1)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda e: ko.partial(curl(e), 1) - 4.0 * e[0], lambda e: -ko.partial(curl(e), 0) - 4.0 * e[1]),
        (lambda e: ko.laplacian(e[0]) + e[1], lambda e: ko.partial(e[1], 1, 2) + e[0]),
    ],
    ids=["curl of curl: all directions", "the first direction"],
)
def test_a_principal_part_that_is_singular_is_told_without_a_warning_of_numpy(first, second):
    problem = ko.Problem(
        ko.Equation(first, on=SQUARE, name="f"),
        ko.Equation(second, on=SQUARE, name="h"),
        ko.Dirichlet(on=SQUARE.boundary),
        unknowns={"e": 2},
    )
    with np.errstate(all="raise"):
        found = kind_of(problem)
    assert isinstance(found, str)
    assert "not elliptic" in found
