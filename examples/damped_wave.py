"""A damped string
===============

The wave equation with damping in space–time, u_tt + γ u_t = c² u_xx, held at both ends, with initial position and
velocity as inputs. Released at rest from sin(2πx), it swings with ω² = (2πc)² − γ²/4 and decays as exp(−γt/2).
"""

import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.plotting import true_predicted_error

c, gamma = 1.0, 1.5
string = ko.SpaceTime(ko.Interval(0, 1), (0, 1))
problem = ko.Problem(
    ko.Equation(lambda u: ko.dt(u, 2) + gamma * ko.dt(u) - c**2 * ko.laplacian(u), on=string, name="f"),
    ko.Dirichlet(on=string.walls, name="g"),
    ko.Initial(on=string.initial, name="position"),
    ko.Initial(on=string.initial, name="velocity", order=1),
)
T = ko.learn(problem)

u = T(f=0.0, g=0.0, position=lambda x: jnp.sin(2 * jnp.pi * x[..., 0]), velocity=0.0)
x = string.sample(3721, "grid").x
omega = np.sqrt((2 * np.pi * c) ** 2 - gamma**2 / 4)
swing = np.cos(omega * x[:, 1]) + gamma / (2 * omega) * np.sin(omega * x[:, 1])
exact = np.exp(-gamma * x[:, 1] / 2) * swing * np.sin(2 * np.pi * x[:, 0])
error = np.abs(u(x) - exact).max()
print(f"largest error: {error:.1e}")
assert error < 1e-6
true_predicted_error(x, exact, u(x), "out/examples/damped_wave.png", labels=("x", "t"))
