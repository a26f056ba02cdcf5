"""Operators before and after a change of their points, compared by data without any structure."""

import numpy as np


def noise(operator, columns=(), seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(len(points), *columns)) for points in operator.points.values()]


def apart(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)
