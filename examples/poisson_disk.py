"""Poisson's equation on a disk
============================

−Δu = f in the disk; u = g on the left half of the circle, ∂u/∂n = q on the right half. First a solution that we know,
then a constant load, clamped left and insulated right, by the same operator.
"""

import jax
import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.plotting import save

jax.config.update("jax_enable_x64", True)  # for our own use of JAX below; kernop computes in float64 either way

disk = ko.Ball([0, 0], 1)
problem = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=disk, name="f"),
    ko.Dirichlet(on=disk.boundary.where(lambda x: x[..., 0] < 0), name="g"),
    ko.Neumann(on=disk.boundary.where(lambda x: x[..., 0] >= 0), name="q"),
)

T = ko.learn(problem, tol=1e-8, method=ko.Subspace())  # one space: the loads below are smooth
print(T.report)

exact = lambda x: jnp.exp(x[..., 0]) * jnp.cos(2 * x[..., 1]) + x[..., 0] ** 2 * x[..., 1]
u = T(**problem.manufacture(exact, T.points))

x = disk.sample(2000, "uniform", seed=1).x
error = np.abs(u(x) - exact(x)).max()
print(f"largest error at {len(x)} points: {error:.1e}")
assert error < 1e-8

load = T(f=1.0, g=0.0, q=0.0)
print(f"u(0, 0) under a unit load: {load([[0.0, 0.0]])[0]:.6f}, its gradient: {load.grad([[0.0, 0.0]])[0]}")
save(load.plot().figure, "out/examples/poisson_disk.png")
