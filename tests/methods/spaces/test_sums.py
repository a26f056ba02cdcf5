"""Direct sums against their summands."""

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.ansatz import PLAIN, Ansatz
from kernop.collocation.functionals import Functionals, evaluations
from kernop.methods.spaces import DirectSum, KernelFunctions, Polynomials
from kernop.methods.spaces.polynomials import total_degree

RNG = np.random.default_rng(0)
WIDE = KernelFunctions(ko.Gaussian([0.7, 0.7]), Functionals((evaluations(RNG.uniform(size=(11, 2))),)))
FLAT = Polynomials(np.full(2, 0.5), np.full(2, 0.5), total_degree(2, 6))


def test_the_functions_stand_side_by_side():
    both, left = DirectSum((WIDE, FLAT)), PLAIN.evaluations(RNG.uniform(size=(50, 2)))
    apart = np.hstack([WIDE.matrix(left), FLAT.matrix(left)])
    assert len(both) == 17
    for order in ("C", "F"):
        np.testing.assert_array_equal(both.matrix(left, order=order), apart)
    c = RNG.normal(size=(17, 3))
    np.testing.assert_allclose(both.apply(left, c), apart @ c, rtol=1e-13, atol=1e-13)


def test_one_ansatz_for_all():
    other = FLAT.with_ansatz(Ansatz(complex=True))
    with pytest.raises(ko.errors.ArgumentError, match="another ansatz"):
        DirectSum((WIDE, other))
    changed = DirectSum((WIDE, FLAT)).with_ansatz(Ansatz(complex=True))
    assert changed.ansatz == Ansatz(complex=True) == changed.summands[1].ansatz


def test_signatures_tell_spaces_apart():
    finer = Polynomials(FLAT.centre, FLAT.half, total_degree(2, 10))
    one, other = DirectSum((WIDE, FLAT)).signature, DirectSum((WIDE, finer)).signature
    assert one[0] == other[0]
    assert [a.shape for a in one[1]] != [a.shape for a in other[1]]
