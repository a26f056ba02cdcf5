"""Heat in an L-shaped plate with convection on one side, against finite elements.

Δu = 0 in [−1, 1]² without [0, 1]², hot (u = 1) at y = 1, cooled by the air at x = 1, ∂u/∂n + 5u = 0, insulated
elsewhere. At the re-entrant corner u is a sum of r^k cos kθ, k = 2/3, 4/3, 8/3, …, which no smooth space follows: T
alone is wrong by 0.09 with 400 centres and by more with more, and warns. (Parts of the domain, graded to the corner,
will lift that.) But T is linear: each of these functions comes with T's answer to what it leaves over, and as much of
each is added as makes the residual least. References: `benchmarks/geometry_fem.py`, by scikit-fem, graded.
"""

import warnings

import numpy as np

import kernop as ko

plate = ko.Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)])
problem = ko.Problem(
    ko.Equation(lambda u: ko.laplacian(u), on=plate, data=0.0),
    ko.Dirichlet(on=plate.edge(4), name="hot"),
    ko.Robin(5.0, 1.0, on=plate.edge(1), name="air"),
    ko.Neumann(on=plate.edge(0, 5), name="far"),
    ko.Neumann(on=plate.edge(2, 3), name="near", data=0.0),
)
T, k = ko.learn(problem, points=2100, method=ko.Subspace(700)), np.array([2, 4, 8, 10]) / 3
angle = lambda x: (np.arctan2(x[:, 1:], x[:, :1]) - np.pi / 2) % (2 * np.pi)  # from the edge x = 0
power = lambda x, k: np.hypot(x[:, :1], x[:, 1:]) ** k * np.exp(1j * k * angle(x))
slope = lambda p: np.real(k * power(p.x, k - 1) * (p.normal[:, :1] + 1j * p.normal[:, 1:]) / 1j)  # ∂/∂n
hot, air, far = (T.points[name] for name in ("hot", "air", "far"))
left = {"hot": power(hot.x, k).real, "air": 5 * power(air.x, k).real + slope(air), "far": slope(far)}
with warnings.catch_warnings(action="ignore", category=ko.AccuracyWarning):  # what is given at once does not fit alone
    v = T(**{name: np.column_stack([np.full(len(T.points[name]), name == "hot"), -h]) for name, h in left.items()})
residual = np.concatenate([v.residual(name, points) for name, points in T.points.items()])
much = np.linalg.lstsq(residual[:, 1:], -residual[:, 0])[0]
u = lambda x: v(x) @ np.append(1.0, much) + power(x, k).real @ much

x = np.array([[-0.5, 0.5], [-0.5, -0.5], [-0.1, -0.1], [0.5, -0.5], [0.9, -0.2]])
reference = [0.819385, 0.536241, 0.536281, 0.253114, 0.110784]
alone, error = (np.abs(w - reference).max() for w in (v(x)[:, 0], u(x)))
print(f"temperatures {u(x).round(6)}, error {error:.1e}; without the functions of the corner {alone:.1e}")
assert error < 5e-6
