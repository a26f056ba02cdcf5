"""Points of parts: which condition holds next to a corner."""

import numpy as np

import kernop as ko


def test_points_next_to_a_corner_stay_on_their_side():
    """A dart with a condition on each of its sides, and cells down to 2⁻³⁰ of it at its re-entrant corner."""
    corners = np.array([[0.0, 0.0], [1.0, 0.37], [0.3, 0.4], [0.21, 1.0]])
    dart = ko.Polygon(corners)
    sides = [ko.Dirichlet(on=dart.edge(k), name=f"g{k}") for k in range(4)]
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=dart, name="f"), *sides)
    T = ko.learn(problem, method=ko.Partition(cells=2, degree=4, levels=30))
    for k, (here, there) in enumerate(zip(corners, np.roll(corners, -1, axis=0), strict=True)):
        x = T.points[f"g{k}"].x
        along = (there - here) / np.linalg.norm(there - here)
        assert np.min(np.linalg.norm(x - here, axis=1)) < (1e-8 if k == 2 else 1e-2)
        assert np.min(np.linalg.norm(x - there, axis=1)) < (1e-8 if k == 1 else 1e-2)
        assert np.max(np.abs((x - here) @ [along[1], -along[0]])) < 1e-14
