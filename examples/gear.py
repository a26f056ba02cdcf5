"""A gear from a file
==================

The outline is a polygon of 48 vertices in a CSV file, the bore a circle. First a solution that we know, of which every
digit can be checked; then the gear heated at its bore. There u is singular at the 24 re-entrant corners between the
teeth, and `error_estimate` says what that costs.
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.plotting import save

jax.config.update("jax_enable_x64", True)  # for our own use of JAX below; kernop computes in float64 either way
outline = np.loadtxt(Path(sys.argv[0]).parent / "data" / "gear.csv", delimiter=",", skiprows=1)
wheel, bore = ko.Polygon(outline), ko.Ball([0, 0], 0.3)
gear = wheel - bore
problem = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=gear, name="f"),
    ko.Dirichlet(on=gear.boundary.of(wheel), name="g"),
    ko.Neumann(on=gear.boundary.of(bore), name="q"),
)
T = ko.learn(problem)
print(f"{gear}: area {gear.measure:.6f}, {len(gear.corners)} corners")

exact = lambda x: jnp.exp(x[..., 0]) * jnp.cos(3 * x[..., 1])
u = T(**problem.manufacture(exact, T.points))
x = gear.sample(2000, "uniform", seed=1).x
error = np.abs(u(x) - exact(x)).max() / np.abs(exact(x)).max()
print(f"a smooth solution: relative error {error:.1e}")
assert error < 1e-9

heated = T(f=0.0, g=0.0, q=1.0)
print(f"heated at its bore, the teeth at 0: estimated error {heated.error_estimate().relative_l2:.1e}")
save(heated.plot().figure, "out/examples/gear.png")
