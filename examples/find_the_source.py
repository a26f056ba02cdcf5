"""Where does the smoke come from?
===============================

A source A exp(−(x − c)²/2w²) in a room, found from 20 noisy sensors: `jax.grad` goes through the solution of the PDE,
BFGS finds A and c, and the Hessian says how certain they are.
"""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

import kernop as ko
from kernop.plotting import save

jax.config.update("jax_enable_x64", True)
w, noise, truth = 0.08, 1e-3, np.array([20.0, 0.62, 0.37])  # A, c
room = ko.Box([0, 0], [1, 1])
problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=room), ko.Dirichlet(on=room.boundary, data=0.0))
T = ko.learn(problem)
smoke = lambda x, p: p[0] * jnp.exp(-jnp.sum((x - p[1:]) ** 2, axis=-1) / (2 * w**2))

# The truth: −Δu = smoke, u = 0 at the walls, which are far from it: a series of sines.
sensors = room.sample(20, seed=1).x
k, (A, cx, cy) = np.pi * np.arange(1, 60), truth
c = 8 * np.pi * w**2 * A * np.exp(-(k[:, None] ** 2 + k**2) * w**2 / 2) * np.outer(np.sin(k * cx), np.sin(k * cy))
sines = np.sin(sensors[:, :, None] * k)  # (20, 2, 59)
exact = np.einsum("ik,km,im->i", sines[:, 0], c / (k[:, None] ** 2 + k**2), sines[:, 1])
readings = exact + noise * np.random.default_rng(0).normal(size=20)

S, places = T.on(sensors), jnp.asarray(T.points["f"].x)
misfit = lambda p: jnp.sum((S(smoke(places, p)) - readings) ** 2) / noise**2
found = minimize(jax.jit(misfit), [10.0, 0.5, 0.5], jac=jax.jit(jax.grad(misfit)), method="BFGS").x
spread = np.sqrt(np.diag(np.linalg.inv(jax.jit(jax.hessian(misfit))(found) / 2)))
print(f"found {found.round(3)} ± {spread.round(3)}, error {np.abs(found - truth).max():.1e}")
assert np.all(np.abs(found - truth) < 3 * spread)
assert np.all(spread < [0.5, 0.01, 0.01])
axis = T(lambda x: smoke(x, found)).plot()
axis.plot(*sensors.T, "wo", *truth[1:], "r+", markeredgecolor="k")
save(axis.figure, "out/examples/find_the_source.png")
