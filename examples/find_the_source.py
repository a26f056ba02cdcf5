"""Where does the smoke come from? A source A exp(−|x − c|²/2w²) in a room, found from 20 noisy sensors by jax.grad."""

from contextlib import suppress

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

import kernop as ko
from kernop.plotting import true_predicted_error

jax.config.update("jax_enable_x64", True)
w, noise, truth = 0.08, 1e-3, np.array([20.0, 0.62, 0.37])  # A, c
room = ko.Box([0, 0], [1, 1])
problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=room), ko.Dirichlet(on=room.boundary, data=0.0))
T = ko.learn(problem)
smoke = lambda x, p: p[0] * jnp.exp(-jnp.sum((x - p[1:]) ** 2, axis=-1) / (2 * w**2))


def exact(x, p):
    """−Δu = smoke, u = 0 at the walls, which are far from it: a series of sines."""
    k, m = np.pi * np.arange(1, 60)[:, None], np.pi * np.arange(1, 60)
    c = 8 * np.pi * w**2 * p[0] * np.exp(-(k**2 + m**2) * w**2 / 2) * np.sin(k * p[1]) * np.sin(m * p[2])
    return np.einsum("ki,km,mi->i", np.sin(k * x[:, 0]), c / (k**2 + m**2), np.sin(m[:, None] * x[:, 1]))


sensors = room.sample(20, seed=1).x
readings = exact(sensors, truth) + noise * np.random.default_rng(0).normal(size=20)
S, places = T.on(sensors), jnp.asarray(T.points["f"].x)
misfit = lambda p: jnp.sum((S(smoke(places, p)) - readings) ** 2) / noise**2
found = minimize(jax.jit(misfit), [10.0, 0.5, 0.5], jac=jax.jit(jax.grad(misfit)), method="BFGS")
spread = np.sqrt(np.diag(np.linalg.inv(jax.hessian(misfit)(jnp.asarray(found.x)) / 2)))
print(f"found {found.x.round(3)} ± {spread.round(3)}, error {np.abs(found.x - truth).max():.1e}")
assert np.all(np.abs(found.x - truth) < 3 * spread)
assert np.all(spread < [0.5, 0.01, 0.01])
with suppress(ko.errors.MissingExtraError):
    x = room.sample(2500, "grid").x
    u = T(lambda x: smoke(x, found.x))(x)
    true_predicted_error(x, exact(x, truth), u, "out/examples/find_the_source.png", title="smoke")
