"""Heat in space–time
==================

u_t − 0.1 u_xx = f on a rod; walls and initial values are inputs too. Time is a coordinate like others, and there is no
time step. Without a source and with zero walls, sin(πx) decays as exp(−0.1π²t).
"""

import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.plotting import save

cylinder = ko.SpaceTime(ko.Interval(0, 1), (0, 1))
problem = ko.Problem(
    ko.Equation(lambda u: ko.dt(u) - 0.1 * ko.laplacian(u), on=cylinder, name="f"),
    ko.Dirichlet(on=cylinder.walls, name="g"),
    ko.Initial(on=cylinder.initial, name="u0"),
)
T = ko.learn(problem, tol=1e-8)
print(T.report)

u = T(f=0.0, g=0.0, u0=lambda x: jnp.sin(jnp.pi * x[..., 0]))
x = cylinder.sample(2000, "uniform", seed=1).x
exact = np.sin(np.pi * x[:, 0]) * np.exp(-0.1 * np.pi**2 * x[:, 1])
error = np.abs(u(x) - exact).max()
print(f"largest error: {error:.1e}")
assert error < 1e-7
save(u.plot().figure, "out/examples/heat.png")
