"""A struck string over a long time
================================

u_tt + γ u_t = u_xx, learned on a short slab of time and marched over forty of them: what a slab ends with is what the
next begins with. It swings with ω² = (2π)² − γ²/4 and decays as exp(−γt/2).
"""

import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.plotting import save

gamma, steps = 0.05, 40
slab = ko.SpaceTime(ko.Interval(0, 1), (0, 0.5))
problem = ko.Problem(
    ko.Equation(lambda u: ko.dt(u, 2) + gamma * ko.dt(u) - ko.laplacian(u), on=slab, name="f"),
    ko.Dirichlet(on=slab.walls, name="g", data=0.0),
    ko.Initial(on=slab.initial, name="position"),
    ko.Initial(on=slab.initial, name="velocity", order=1),
)
T = ko.learn(problem, points=1000, method=ko.Subspace(250))
u = T.march(steps, f=0.0, position=0.0, velocity=lambda x: jnp.sin(2 * jnp.pi * x[..., 0]))
print(u)

x = np.stack(np.meshgrid(np.linspace(0, 1, 81), np.linspace(0, 0.5 * steps, 81), indexing="ij"), axis=-1).reshape(-1, 2)
omega = np.sqrt((2 * np.pi) ** 2 - gamma**2 / 4)
exact = np.exp(-gamma * x[:, 1] / 2) * np.sin(omega * x[:, 1]) / omega * np.sin(2 * np.pi * x[:, 0])
error = np.sqrt(np.mean((u(x) - exact) ** 2) / np.mean(exact**2))
estimate = u.error_estimate().relative_l2
print(f"relative L2 error: {error:.1e}, estimated {estimate:.1e}")
assert error < estimate < 1e-6
save(u.plot(points=60_000).figure, "out/examples/march.png")
