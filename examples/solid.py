"""A solid from an STL file
========================

A ball with a hole bored through it, made of triangles. Triangles do not lie on a sphere; a solution that is known
without the shape is any function u, with f = −Δu inside and g = u on the triangles. The second one is the potential of
a charge in the hole. (A bored ball of height 2h has the volume 4/3 π h³, whatever its radius; triangles have less.)
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from trimesh.creation import revolve

import kernop as ko
from kernop.plotting import save

hole, sections = 0.5, 48
angle = np.linspace(-1, 1, sections // 2) * np.arccos(hole)
profile = np.stack([np.cos(angle), np.sin(angle)], axis=1)  # radius and height; the first point closes it
with TemporaryDirectory() as folder:
    path = Path(folder) / "bored.stl"
    revolve(np.concatenate([profile, profile[:1]]), sections=sections).export(path)
    ring = ko.Solid(path)
print(f"{ring}: volume {ring.measure:.4f}, of a round one {4 / 3 * np.pi * (1 - hole**2) ** 1.5:.4f}")

problem = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=ring, name="f"), ko.Dirichlet(on=ring.boundary, name="g")
)
T = ko.learn(problem)
x = ring.sample(1000, "uniform", seed=1).x
smooth = lambda x: x[..., 0] ** 3 - 3 * x[..., 0] * x[..., 1] ** 2 + np.exp(x[..., 2]) * np.sin(x[..., 0])
charge = lambda x: 1 / np.sqrt(np.sum(x**2, axis=-1))
for name, exact, most in (("smooth", smooth, 1e-8), ("charge", charge, 1e-4)):
    u = T(f=0.0, g=exact)
    error = np.abs(u(x) - exact(x)).max() / np.abs(exact(x)).max()
    print(f"{name}: relative error {error:.1e}")
    assert error < most
save(u.plot(axis=2, at=0.0).figure, "out/examples/solid.png")
