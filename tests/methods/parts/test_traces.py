"""Polynomials on faces."""

import numpy as np
import pytest

from kernop.methods.parts.traces import face_trace


@pytest.mark.parametrize(("axes", "degree", "count"), [(0, 1, 1), (1, 7, 7), (2, 5, 15)])
def test_projection_gives_back_what_it_projects(axes, degree, count):
    own = face_trace(axes, degree)
    assert len(own) == count
    np.testing.assert_allclose(own.project @ own.values, np.eye(count), atol=1e-12)


def test_they_are_orthonormal_in_the_mean():
    own, fine = face_trace(1, 6), np.linspace(0, 1, 20001)
    values = np.stack([np.polyval(np.polyfit(own.nodes[:, 0], own.values[:, k], 5), fine) for k in range(6)])
    np.testing.assert_allclose(values @ values.T / len(fine), np.eye(6), atol=2e-3)
