"""Walls of two and of three layers
================================

−∇·(a ∇u) = 0 in the plane, with a temperature that waves along the wall. In each layer
u = cos kx (A cosh k(y − y₀) + B/a sinh k(y − y₀)): A is u/cos kx and k B the flux a u_y/cos kx at its lower side, and
both go on into the next layer. `Piecewise` tells where a jumps; the interfaces come by themselves.
"""

import numpy as np

import kernop as ko
from kernop.plotting import save

wall, k = ko.Box([0, 0], [1, 1]), 3.0


def wave(x, layers):
    """The exact solution at x (n, 2) with u = cos kx and no flux at y = 0."""
    y, u, A, B = x[..., 1], 0.0, 1.0, 0.0
    for (low, high), a in layers.items():
        ch, sh = (f(k * (np.clip(y, low, high) - low)) for f in (np.cosh, np.sinh))
        u = np.where(y >= low, A * ch + B / a * sh, u)
        ch, sh = np.cosh(k * (high - low)), np.sinh(k * (high - low))
        A, B = A * ch + B / a * sh, a * A * sh + B * ch
    return np.cos(k * x[..., 0]) * u


for layers in ({(0, 0.4): 1.0, (0.4, 1): 30.0}, {(0, 0.3): 1.0, (0.3, 0.6): 20.0, (0.6, 1): 0.1}):
    a = ko.Piecewise({ko.Box([0, low], [1, high]): value for (low, high), value in layers.items()})
    equation = ko.Equation(lambda u, a=a: -ko.div(a * ko.grad(u)), on=wall, data=0.0)
    u = ko.learn(ko.Problem(equation, ko.Dirichlet(on=wall.boundary, name="g")))(g=lambda x, m=layers: wave(x, m))
    x = wall.sample(2000, "uniform", seed=1).x
    error = np.abs(u(x) - wave(x, layers)).max() / np.abs(wave(x, layers)).max()
    print(f"{len(layers)} layers: relative error {error:.1e}")
    assert error < 1e-9
save(u.plot().figure, "out/examples/wall.png")
