"""The lid-driven cavity
=====================

Stokes flow in a square whose upper wall moves with velocity 1. Where the lid meets a wall the velocity jumps, and no
smooth space resolves that. Taylor's flow in a corner between a fixed and a moving wall is known, so T is given only
what it leaves over; then the velocity has five digits (references: `benchmarks/systems_fem.py`, P2/P1 elements).
"""

import numpy as np

import kernop as ko
from kernop.plotting import field

D = ko.Box([0, 0], [1, 1])
problem = ko.Problem(
    ko.Equation(lambda u, p: -ko.laplacian(u) + ko.grad(p), on=D, name="f", data=0.0),
    ko.Equation(lambda u: ko.div(u), on=D, name="mass", data=0.0),
    ko.Dirichlet(on=D.boundary, name="g", of="u"),
    ko.Mean(on=D, name="mean", of="p", data=0.0),
    unknowns={"u": 2, "p": 1},
)


def corner(x, y):
    """Taylor's flow: y = 0 moves with velocity (1, 0), x = 0 stands still; ψ = r(a sin θ + θ(c sin θ + d cos θ))."""
    angle, d = np.arctan2(y, x), 1 / (1 - np.pi**2 / 4)
    a, c, sin, cos = -d * np.pi**2 / 4, d * np.pi / 2, np.sin(angle), np.cos(angle)
    slope = a * cos + c * (sin + angle * cos) + d * (cos - angle * sin)
    return np.array([slope * cos, slope * sin]) + (a * sin + angle * (c * sin + d * cos)) * np.array([sin, -cos])


both = lambda x: (corner(x[..., 0], 1 - x[..., 1]) * [[1], [-1]] + corner(1 - x[..., 0], 1 - x[..., 1])).T
T = ko.learn(problem, method=ko.Subspace(500))
rest = T(g=lambda x: np.stack([x[..., 1] == 1, 0 * x[..., 0]], axis=-1) - both(x))
cavity = lambda x: rest.u(x) + both(x)
line, x = np.stack([np.full(4, 0.5), [0.2, 0.4, 0.6, 0.8]], axis=1), D.sample(3721, "grid").x
error = np.abs(cavity(line)[:, 0] - [-0.102132, -0.179791, -0.197028, 0.089841]).max()
print(f"velocity on the centreline: {cavity(line)[:, 0]}, error {error:.1e}")
assert error < 1e-5
field(x, np.linalg.norm(cavity(x), axis=1), "out/examples/cavity.png", title="speed in the lid-driven cavity")
