"""A kernel of your own
====================

Any positive definite K(x, y) written with jax.numpy can be used; its derivatives are automatic. A periodic kernel makes
every solution periodic, without a boundary condition. Sums, products and multiples of kernels are kernels too.
"""

import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.plotting import save


def periodic(x, y):
    """A kernel on the circle of length 1: exp(−2 sin²(π(x−y)) / 0.8²)."""
    return jnp.exp(-2.0 * jnp.sum(jnp.sin(jnp.pi * (x - y)) ** 2) / 0.8**2)


circle = ko.Interval(0, 1)
problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u) + u, on=circle, name="f"))
T = ko.learn(problem, kernel=periodic, points=60, regularization=1e-9, method=ko.Full())

u = T(f=lambda x: (1 + 4 * jnp.pi**2) * jnp.sin(2 * jnp.pi * x[..., 0]))
x = np.linspace(0, 1, 101)
error = np.abs(u(x[:, None]) - np.sin(2 * np.pi * x)).max()
jump = np.abs(u.grad([[0.0]]) - u.grad([[1.0]])).max()
print(f"error {error:.1e}; slope at 0 minus slope at 1: {jump:.1e}")
assert error < 1e-5
assert jump < 1e-5
save(u.plot().figure, "out/examples/own_kernel.png")

line = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=circle), ko.Dirichlet(on=circle.boundary))
mixed = ko.Gaussian(1.0) + 0.1 * ko.Matern(4.5, 0.2) * ko.Gaussian(2.0)
S = ko.learn(line, kernel=mixed, points=80, regularization=1e-12, method=ko.Full())
v = S(lambda x: 2.0 + 0 * x[..., 0], 0.0)
error = np.abs(v(x[:, None]) - x * (1 - x)).max()
print(f"x(1 − x) with {mixed}: error {error:.1e}")
assert error < 1e-5
