"""A room whose walls absorb
=========================

The Helmholtz equation −Δu − k²u = f in a square with ∂u/∂n − iku = r on its boundary: complex values, k = 30. Plane
waves exp(ik d·x) in a hundred directions d are solved at once, and compared with themselves.
"""

import numpy as np

import kernop as ko
from kernop.plotting import true_predicted_error

k = 30.0
room = ko.Box([0, 0], [1, 1])
problem = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u) - k**2 * u, on=room, name="f", data=0.0),
    ko.Robin(-1j * k, 1.0, on=room.boundary, name="r"),
)
T = ko.learn(problem, method=ko.Subspace(800))  # without it, kernop tries several numbers of functions

angles = np.linspace(0, 2 * np.pi, 100, endpoint=False)
d = np.stack([np.cos(angles), np.sin(angles)])  # (2, 100)
waves = lambda x: np.exp(1j * k * x @ d)  # (n, 100)
walls = T.points["r"]
data = 1j * k * (walls.normal @ d - 1) * waves(walls.x)  # (n, 100), complex

x = room.sample(3721, "grid").x
found = T.on(x)(r=data)  # (3721, 100)
error = np.abs(found - waves(x)).max()
print(f"largest error of {found.shape[1]} waves of size 1: {error:.1e}")
assert error < 1e-5
true_predicted_error(x, waves(x)[:, 7].real, found[:, 7].real, "out/examples/impedance.png", title="real part")
