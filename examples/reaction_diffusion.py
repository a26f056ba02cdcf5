"""Two substances that react and diffuse
=====================================

u_t = a u_xx − u + 2v, v_t = b v_xx + u − 2v in space–time; nothing leaves the walls. For initial values (p, q) cos(kπx)
the solution is a matrix exponential.
"""

import jax.numpy as jnp
import numpy as np
from scipy.linalg import expm

import kernop as ko
from kernop.plotting import true_predicted_error

a, b = 0.1, 0.02
tube = ko.SpaceTime(ko.Interval(0, 1), (0, 1))
problem = ko.Problem(
    ko.Equation(lambda u, v: ko.dt(u) - a * ko.laplacian(u) + u - 2 * v, on=tube, name="f"),
    ko.Equation(lambda u, v: ko.dt(v) - b * ko.laplacian(v) - u + 2 * v, on=tube, name="g"),
    ko.Neumann(on=tube.walls, name="flux_u", of="u", data=0.0),
    ko.Neumann(on=tube.walls, name="flux_v", of="v", data=0.0),
    ko.Initial(on=tube.initial, name="u0", of="u"),
    ko.Initial(on=tube.initial, name="v0", of="v"),
    unknowns={"u": 1, "v": 1},
)
T = ko.learn(problem, tol=1e-4)
print(T.report)

# At first there is only u, 1 + cos(2πx).
s = T(f=0.0, g=0.0, u0=lambda x: 1 + jnp.cos(2 * jnp.pi * x[..., 0]), v0=0.0)
x = tube.sample(3721, "grid").x
exact = np.zeros((len(x), 2))
for k in (0, 2):
    rates = np.array([[-1, 2], [1, -2]]) - (k * np.pi) ** 2 * np.diag([a, b])
    exact += expm(x[:, 1, None, None] * rates)[:, :, 0] * np.cos(k * np.pi * x[:, :1])
error = np.abs(np.stack([s.u(x), s.v(x)], axis=1) - exact).max()
print(f"largest error: {error:.1e}")
assert error < 1e-6
true_predicted_error(x, exact[:, 1], s.v(x), "out/examples/reaction_diffusion.png", labels=("x", "t"))
