"""The lid-driven cavity: Stokes flow −Δu + ∇p = 0, ∇·u = 0 in a square whose upper wall moves with velocity 1.

Where the lid meets a wall the velocity jumps and the pressure is infinite. No smooth space resolves that: with the jump
as data the velocity on the centreline is wrong by 0.04, and by 0.016 with 1050 centres. Taylor's flow in a corner
between a fixed and a moving wall is known, so T is given only what it leaves over; then the velocity has five digits.
The references are of `benchmarks/systems_fem.py`, by scikit-fem (P2/P1, 96 × 96 cells graded to the corners).
"""

from contextlib import suppress

import jax
import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.plotting import field

jax.config.update("jax_enable_x64", True)  # for our own use of JAX below; kernop computes in float64 either way

D = ko.Box([0, 0], [1, 1])
problem = ko.Problem(
    ko.Equation(lambda u, p: -ko.laplacian(u) + ko.grad(p), on=D, name="f", data=0.0),
    ko.Equation(lambda u: ko.div(u), on=D, name="mass", data=0.0),
    ko.Dirichlet(on=D.boundary, name="g", of="u"),
    ko.Mean(on=D, name="mean", of="p", data=0.0),
    unknowns={"u": 2, "p": 1},
)
T = ko.learn(problem)


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
rest = T(g=lambda x: lid(x) - corners(x))
cavity = lambda x: rest.u(x) + np.asarray(corners(x))
line = np.stack([np.full(4, 0.5), [0.2, 0.4, 0.6, 0.8]], axis=1)
reference = [-0.102132, -0.179791, -0.197028, 0.089841]
error = np.abs(cavity(line)[:, 0] - reference).max()
print(f"cavity, velocity on the centreline: {cavity(line)[:, 0]}, error {error:.1e}")
assert error < 1e-5

with suppress(ko.errors.MissingExtraError):
    x = D.sample(3721, "grid").x
    field(x, np.linalg.norm(cavity(x), axis=1), "out/examples/cavity.png", title="speed in the lid-driven cavity")
