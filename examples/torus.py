"""A wave in a torus
=================

`Implicit` takes any signed distance, or any function that is negative inside: (√(x² + y²) − 0.7)² + z² < 0.3². In it
−Δu + u = f, with Neumann data on normals that kernop finds from the function.
"""

import jax
import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.plotting import save

jax.config.update("jax_enable_x64", True)  # for our own use of JAX below; kernop computes in float64 either way
distance = lambda x: jnp.hypot(jnp.hypot(x[..., 0], x[..., 1]) - 0.7, x[..., 2]) - 0.3
torus = ko.Implicit(distance, bounds=([-1, -1, -0.3], [1, 1, 0.3]))
print(f"volume {torus.measure:.5f}, exact {2 * np.pi**2 * 0.7 * 0.3**2:.5f}")
print(f"surface {torus.boundary.measure:.5f}, exact {4 * np.pi**2 * 0.7 * 0.3:.5f}")

problem = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u) + u, on=torus, name="f"), ko.Neumann(on=torus.boundary, name="q")
)
T = ko.learn(problem, method=ko.Subspace(700))  # without it, kernop tries several numbers of functions
exact = lambda x: jnp.sin(2 * x[..., 0] + x[..., 2]) * jnp.cos(x[..., 1])
u = T(**problem.manufacture(exact, T.points))
x = torus.sample(1000, "uniform", seed=1).x
error = np.abs(u(x) - exact(x)).max()
print(f"largest error {error:.1e}, estimated {u.error_estimate().relative_linf:.1e}")
assert error < 1e-6
save(u.plot()[0].figure, "out/examples/torus.png")
