"""Stokes flow −Δu + ∇p = f, ∇·u = 0 in a square, u = g on its boundary: velocity and pressure by one operator.

First a flow that is known, then the lid-driven cavity. Where the moving lid meets a wall g jumps and the pressure is
infinite. No smooth space resolves that: with g as it stands the velocity in the middle of the cavity is wrong by 6 %.
Taylor's flow in a corner between a fixed and a moving wall is known, so T is given only what it leaves over. The
references are of `benchmarks/systems_fem.py`, by scikit-fem (P2/P1).
"""

from contextlib import suppress

import jax
import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.plotting import pyplot, save

jax.config.update("jax_enable_x64", True)  # for our own use of JAX below; kernop computes in float64 either way

D = ko.Box([0, 0], [1, 1])
problem = ko.Problem(
    ko.Equation(lambda u, p: -ko.laplacian(u) + ko.grad(p), on=D, name="f"),
    ko.Equation(lambda u: ko.div(u), on=D, name="mass", data=0.0),
    ko.Dirichlet(on=D.boundary, name="g", of="u"),
    ko.Mean(on=D, name="mean", of="p", data=0.0),
    unknowns={"u": 2, "p": 1},
)
T = ko.learn(problem, tol=1e-3)
print(T.report)

# u = (∂ψ/∂y, −∂ψ/∂x) with ψ = sin x sin 2y, and a pressure of mean 0.
velocity = lambda x: jnp.stack(
    [2 * jnp.sin(x[..., 0]) * jnp.cos(2 * x[..., 1]), -jnp.cos(x[..., 0]) * jnp.sin(2 * x[..., 1])], axis=-1
)
pressure = lambda x: jnp.sin(jnp.pi * (x[..., 0] - x[..., 1]))
s = T(**problem.manufacture({"u": velocity, "p": pressure}, T.points))
x = D.sample(3721, "grid").x
error_u, error_p = np.abs(s.u(x) - velocity(x)).max(), np.abs(s.p(x) - pressure(x)).max()
print(f"largest error: velocity {error_u:.1e}, pressure {error_p:.1e}")
assert error_u < 1e-6
assert error_p < 1e-4


def corner(x, y):
    """Taylor's flow: y = 0 moves with velocity (1, 0), x = 0 stands still; ψ = r(a sin θ + θ(c sin θ + d cos θ))."""
    angle = jnp.arctan2(y, x)
    d = 1 / (1 - np.pi**2 / 4)
    a, c, sin, cos = -d * np.pi**2 / 4, d * np.pi / 2, jnp.sin(angle), jnp.cos(angle)
    f = a * sin + angle * (c * sin + d * cos)
    slope = a * cos + c * (sin + angle * cos) + d * (cos - angle * sin)
    return slope * cos + f * sin, slope * sin - f * cos


def corners(x):
    """The flows of both corners of the lid y = 1, which moves to the right, (n, 2)."""
    left, right = corner(x[..., 0], 1 - x[..., 1]), corner(1 - x[..., 0], 1 - x[..., 1])
    return jnp.stack([left[0] + right[0], right[1] - left[1]], axis=-1)


lid = lambda x: jnp.stack([jnp.where(x[..., 1] == 1, 1.0, 0.0), 0 * x[..., 0]], axis=-1)
rest = T(f=0.0, g=lambda x: lid(x) - corners(x))
cavity = lambda x: rest.u(x) + np.asarray(corners(x))
line = np.stack([np.full(4, 0.5), [0.2, 0.4, 0.6, 0.8]], axis=1)
reference = [-0.102132, -0.179791, -0.197028, 0.089841]
error = np.abs(cavity(line)[:, 0] - reference).max()
print(f"cavity, velocity on the centreline: {cavity(line)[:, 0]}, error {error:.1e}")
assert error < 1e-5

with suppress(ko.errors.MissingExtraError):
    figure, axis = pyplot().subplots(figsize=(4.6, 3.8), layout="constrained")
    (u, v), n = cavity(x).T, 61
    speed = axis.imshow(np.hypot(u, v).reshape(n, n).T, origin="lower", extent=(0, 1, 0, 1), cmap="viridis")
    axis.streamplot(x[:n, 1], x[:n, 1], u.reshape(n, n).T, v.reshape(n, n).T, color="white", linewidth=0.6)
    figure.colorbar(speed, label="speed")
    axis.set(title="lid-driven cavity", xlabel="x", ylabel="y")
    save(figure, "out/examples/stokes.png")
