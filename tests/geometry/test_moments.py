"""Measures from boundaries."""

import numpy as np
import pytest

from kernop.geometry import Points
from kernop.geometry.moments import enclosed
from kernop.geometry.patch import Patch


def test_the_area_within_one_long_curve():
    """A star r = 1 + 0.2 cos 15θ as one line, by arc length: 64 nodes see two of three petals."""
    theta = np.linspace(0.0, 2.0 * np.pi, 200_001)
    r, slope = 1.0 + 0.2 * np.cos(15 * theta), -3.0 * np.sin(15 * theta)
    step = np.hypot(r, slope)
    length = np.append(0.0, np.cumsum(0.5 * (step[1:] + step[:-1]) * np.diff(theta)))

    def place(t):
        at = np.interp(t[:, 0] * length[-1], length, theta)
        r, slope = 1.0 + 0.2 * np.cos(15 * at), -3.0 * np.sin(15 * at)
        out, along = np.stack([np.cos(at), np.sin(at)], axis=1), np.stack([-np.sin(at), np.cos(at)], axis=1)
        normal = r[:, None] * out - slope[:, None] * along
        return Points(r[:, None] * out, normal / np.linalg.norm(normal, axis=1, keepdims=True))

    assert enclosed([Patch(length[-1], (length[-1],), place)], np.zeros(2)) == pytest.approx(1.02 * np.pi, rel=1e-6)
