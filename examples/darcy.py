"""Darcy flow: one operator, a thousand inputs
===========================================

−∇·(a∇u) = f with a = exp(x + y) and u = g on the boundary. T is learned once, to a tolerance; a thousand right-hand
sides are one product, and the gradient of the mean of u with respect to f is a call of `jax.grad`.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.plotting import save

jax.config.update("jax_enable_x64", True)  # for our own use of JAX below; kernop computes in float64 either way
D, a = ko.Box([0, 0], [1, 1]), lambda x: jnp.exp(x[..., 0] + x[..., 1])
problem = ko.Problem(
    ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=D, name="f"), ko.Dirichlet(on=D.boundary, name="g")
)
T = ko.learn(problem, tol=1e-6, method=ko.Subspace())  # smooth data: one space, with few points, is enough
print(T.report)

# A thousand exact solutions sin(k·x + b), their data, and their values on a grid.
rng = np.random.default_rng(0)
k, b = rng.normal(scale=3.0, size=(2, 1000)), rng.uniform(0, 6, size=1000)
data = problem.manufacture(lambda x: jnp.sin(x @ k + b), T.points)
x = D.sample(3721, "grid").x
S = T.on(x)  # precomputed for these points
started = time.perf_counter()
found = S(**data)  # (3721, 1000)
seconds = time.perf_counter() - started
error = np.linalg.norm(found - np.sin(x @ k + b)) / np.linalg.norm(np.sin(x @ k + b))
print(f"{found.shape[1]} solutions at {len(x)} points in {seconds:.3f} s, relative error {error:.1e}")
assert error < 1e-8

gradient = jax.grad(lambda f: jnp.mean(S(f, 0.0)))(jnp.zeros(len(T.points["f"])))
print(f"d mean(u) / d f at the first points: {gradient[:3]}")
save(T(*(h[:, :5].sum(axis=1) for h in data.values())).plot().figure, "out/examples/darcy.png")  # T is linear
