"""An L-shaped plate, cooled by the air
====================================

Δu = 0 in [−1, 1]² without [0, 1]², hot (u = 1) at y = 1, cooled at x = 1, ∂u/∂n + 5u = 0, insulated elsewhere. At the
re-entrant corner u behaves like r^(2/3), with an infinite gradient, which no smooth space follows: one space is wrong
by 0.09, whatever its size, and warns. With a tolerance, `learn` turns to parts: cells that are graded to the corners,
each with polynomials of its own; the report says why. References: `benchmarks/geometry_fem.py`, by scikit-fem on
graded triangles.
"""

import numpy as np

import kernop as ko
from kernop.plotting import save

plate = ko.Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)])
problem = ko.Problem(
    ko.Equation(lambda u: ko.laplacian(u), on=plate, data=0.0),
    ko.Dirichlet(on=plate.edge(4), name="hot"),
    ko.Robin(5.0, 1.0, on=plate.edge(1), name="air"),
    ko.Neumann(on=plate.edge(0, 2, 3, 5), name="insulated", data=0.0),
)
T = ko.learn(problem, tol=1e-6)
u = T(hot=1.0, air=0.0)
x = np.array([[-0.5, 0.5], [-0.5, -0.5], [-0.1, -0.1], [0.5, -0.5], [0.9, -0.2]])
reference = [0.819385, 0.536241, 0.536281, 0.253114, 0.110784]
error = np.abs(u(x) - reference).max()
print(f"{T.report}\ntemperatures {u(x).round(6)}, error {error:.1e}")
assert error < 2e-6
save(u.plot().figure, "out/examples/l_shape.png")
