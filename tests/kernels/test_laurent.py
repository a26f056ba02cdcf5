"""Laurent polynomials, against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest

from kernop.basics.precision import float64
from kernop.kernels.laurent import laurent_values

#: Exponents of one sign, of both, with gaps, and the zero polynomial.
POLYNOMIALS = [
    {},
    {0: Fraction(3, 2)},
    {3: Fraction(1)},
    {0: Fraction(1), 1: Fraction(-2, 3), 4: Fraction(5)},
    {-3: Fraction(7, 4), -1: Fraction(2)},
    {-2: Fraction(-1, 3), 0: Fraction(1), 2: Fraction(9, 5)},
    {-5: Fraction(1, 7)},
]
PLACES = [Fraction(1, 3), Fraction(2), Fraction(7, 5)]

polynomials = pytest.mark.parametrize("p", POLYNOMIALS)


def exactly(p, r):
    return sum((c * r**n for n, c in p.items()), Fraction(0))


@polynomials
def test_evaluate(p):
    with float64():
        found = laurent_values(p, jnp.asarray([float(r) for r in PLACES]))
    np.testing.assert_allclose(found, [float(exactly(p, r)) for r in PLACES], rtol=1e-14)
    assert found.dtype == np.float64


@polynomials
def test_evaluate_is_finite_at_zero(p):
    """Also at a pole, where the value is multiplied by zero later."""
    with float64():
        found = np.asarray(laurent_values(p, jnp.asarray([0.0, 1.0])))
    assert np.all(np.isfinite(found))
    if all(n >= 0 for n in p):
        assert found[0] == float(p.get(0, 0))
