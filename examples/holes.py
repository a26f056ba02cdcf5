"""Plates with holes
=================

A square with a circular hole, and a disk with a hexagonal one through which heat flows. Their solutions are harmonic
functions whose singularity lies in the hole. The hole is a part of the boundary of its own, `D.boundary.of(hole)`; its
normals point into it.
"""

import jax
import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.plotting import save

jax.config.update("jax_enable_x64", True)  # for our own use of JAX below; kernop computes in float64 either way
exact = lambda x: jnp.log((x[..., 0] - 0.2) ** 2 + (x[..., 1] - 0.1) ** 2) + x[..., 0]

hole, six = ko.Ball([0.2, 0.1], 0.4), np.pi / 3 * np.arange(6)
hexagon = ko.Polygon(0.45 * np.stack([np.cos(six), np.sin(six)], axis=1) + [0.2, 0.1])
square, disk = ko.Box([-1, -1], [1, 1]), ko.Ball([0, 0], 1)
for outer, inner, condition in ((square, hole, ko.Dirichlet), (disk, hexagon, ko.Neumann)):
    plate = outer - inner
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=plate, name="f"),
        ko.Dirichlet(on=plate.boundary.of(outer), name="g"),
        condition(on=plate.boundary.of(inner), name="h"),
    )
    T = ko.learn(problem, method=ko.Subspace(1000))
    u = T(**problem.manufacture(exact, T.points))
    x = plate.sample(2000, "uniform", seed=1).x
    error = np.abs(u(x) - exact(x)).max() / np.abs(exact(x)).max()
    print(f"{plate}: relative error {error:.1e}")
    assert error < 1e-7
save(u.plot().figure, "out/examples/holes.png")
