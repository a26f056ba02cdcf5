"""A fibre in a uniform field
==========================

A disk of conductivity k = 10 in a plate of conductivity 1, −∇·(a ∇u) = 0. Known since Maxwell: u = 2x / (k + 1) inside,
where the field stays uniform, and x (1 − (k − 1) / (k + 1) R² / r²) around it. `Piecewise` tells where a jumps; u and
its flux are continuous there, and the kink of u is sharp.
"""

import numpy as np

import kernop as ko
from kernop.plotting import save

R, k = 0.5, 10.0
plate, fibre = ko.Box([-1, -1], [1, 1]), ko.Ball([0, 0], R)
a = ko.Piecewise({fibre: k}, otherwise=1.0)
problem = ko.Problem(
    ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=plate, data=0.0), ko.Dirichlet(on=plate.boundary, name="g")
)
T = ko.learn(problem, points=4500, method=ko.Subspace(1500))


def exact(x):
    """Maxwell's solution at x (n, 2)."""
    square = np.sum(np.square(x), axis=-1)
    around = x[..., 0] * (1 - (k - 1) / (k + 1) * R**2 / np.maximum(square, R**2))
    return np.where(square < R**2, 2 / (k + 1) * x[..., 0], around)


u = T(g=exact)
x = plate.sample(2000, "uniform", seed=1).x
error = np.abs(u(x) - exact(x)).max() / np.abs(exact(x)).max()
uneven = np.abs(u.grad(fibre.sample(500, "uniform", seed=2).x) - [2 / (k + 1), 0]).max()
print(f"relative error {error:.1e}; the field in the fibre is uniform to {uneven:.1e}")
assert error < 3e-6
assert uneven < 1e-5
save(u.plot().figure, "out/examples/inclusion.png")
