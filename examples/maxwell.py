"""Maxwell's equations in a cavity
===============================

E across a plane and H in it: E_t = ∂H_y/∂x − ∂H_x/∂y + J and H_t = (−∂E/∂y, ∂E/∂x) + M, with E = 0 at conducting walls.
The exact solution is the standing wave E = sin πx sin πy cos ωt with ω = √2 π.
"""

import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.plotting import true_predicted_error

cavity = ko.SpaceTime(ko.Box([0, 0], [1, 1]), (0, 0.5))
curl = lambda H: ko.partial(H[1], 0) - ko.partial(H[0], 1)
turned = lambda E: ko.matvec([[0.0, 1.0], [-1.0, 0.0]], ko.grad(E))  # (∂E/∂y, −∂E/∂x)
problem = ko.Problem(
    ko.Equation(lambda E, H: ko.dt(E) - curl(H), on=cavity, name="J"),
    ko.Equation(lambda E, H: ko.dt(H) + turned(E), on=cavity, name="M"),
    ko.Dirichlet(on=cavity.walls, name="wall", of="E"),
    ko.Initial(on=cavity.initial, name="E0", of="E"),
    ko.Initial(on=cavity.initial, name="H0", of="H"),
    unknowns={"E": 1, "H": 2},
)
T = ko.learn(problem, method=ko.Subspace(600))  # for each component; without it, kernop tries several numbers
mode = lambda x: jnp.sin(jnp.pi * x[..., 0]) * jnp.sin(jnp.pi * x[..., 1])
s = T(J=0.0, M=0.0, wall=0.0, E0=mode, H0=0.0)

omega, t = np.sqrt(2) * np.pi, 0.5
grid = ko.Box([0, 0], [1, 1]).sample(1681, "grid").x
x = np.column_stack([grid, np.full(len(grid), t)])
sines, cosines = np.sin(np.pi * grid), np.cos(np.pi * grid)
E = sines[:, 0] * sines[:, 1] * np.cos(omega * t)
H = np.pi / omega * np.sin(omega * t) * np.stack([-sines[:, 0] * cosines[:, 1], cosines[:, 0] * sines[:, 1]], axis=1)
error = max(np.abs(s.E(x) - E).max(), np.abs(s.H(x) - H).max())
print(f"largest error at t = {t}: {error:.1e}")
assert error < 1e-3
true_predicted_error(grid, H[:, 0], s.H(x)[:, 0], "out/examples/maxwell.png", title=f"magnetic field at t = {t}")
