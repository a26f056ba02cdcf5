"""Stokes flow
===========

−Δu + ∇p = f, ∇·u = 0 in a square, u = g on its boundary: velocity and pressure by one operator. The pressure is fixed
by its mean. The exact solution is u = (∂ψ/∂y, −∂ψ/∂x) with ψ = sin x sin 2y, p = sin π(x − y).
"""

import jax
import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.plotting import save

jax.config.update("jax_enable_x64", True)  # for our own use of JAX below; kernop computes in float64 either way

D = ko.Box([0, 0], [1, 1])
problem = ko.Problem(
    ko.Equation(lambda u, p: -ko.laplacian(u) + ko.grad(p), on=D, name="f"),
    ko.Equation(lambda u: ko.div(u), on=D, name="mass", data=0.0),
    ko.Dirichlet(on=D.boundary, name="g", of="u"),
    ko.Mean(on=D, name="mean", of="p", data=0.0),
    unknowns={"u": 2, "p": 1},
)
T = ko.learn(problem, method=ko.Subspace(300))  # for each component; without it, kernop tries several numbers

velocity = lambda x: jnp.stack(
    [2 * jnp.sin(x[..., 0]) * jnp.cos(2 * x[..., 1]), -jnp.cos(x[..., 0]) * jnp.sin(2 * x[..., 1])], axis=-1
)
pressure = lambda x: jnp.sin(jnp.pi * (x[..., 0] - x[..., 1]))
s = T(**problem.manufacture({"u": velocity, "p": pressure}, T.points))
x = D.sample(3721, "grid").x
error_u, error_p = np.abs(s.u(x) - velocity(x)).max(), np.abs(s.p(x) - pressure(x)).max()
print(f"largest error: velocity {error_u:.1e}, pressure {error_p:.1e}")
assert error_u < 1e-8
assert error_p < 1e-6
save(s.plot()[0].figure, "out/examples/stokes.png")
