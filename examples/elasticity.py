"""Plane elasticity: a cantilever of length 4 and depth 1 under a parabolic shear load at its end.

−∇·σ = 0 in plane stress, σ = E/(1 − ν²) ((1 − ν) ε + ν tr(ε) I), ε = sym(∇u); the displacement is given at x = 0 and
the traction σn elsewhere. Exact solution: Timoshenko & Goodier, Theory of Elasticity, §21.
"""

from contextlib import suppress

import numpy as np

import kernop as ko
from kernop.plotting import pyplot, save

E, nu, load, length, inertia = 1000.0, 0.3, 1.0, 4.0, 1.0 / 12.0


def stress(u):
    """σ of a displacement u, a matrix field."""
    strain = ko.sym(ko.grad(u))
    return E / (1 - nu**2) * ((1 - nu) * strain + nu * ko.trace(strain) * ko.identity(strain))


traction = lambda u: ko.normal_component(stress(u))
beam = ko.Box([0, -0.5], [length, 0.5])
problem = ko.Problem(
    ko.Equation(lambda u: -ko.div(stress(u)), on=beam, name="force"),
    ko.Dirichlet(on=beam.boundary.where(lambda x: x[..., 0] == 0), name="clamped"),
    ko.Condition(traction, on=beam.boundary.where(lambda x: x[..., 0] == length), name="load"),
    ko.Condition(traction, on=beam.boundary.where(lambda x: (x[..., 0] > 0) & (x[..., 0] < length)), name="free"),
    unknowns={"u": 2},
)
T = ko.learn(problem)


def exact(p):
    """Timoshenko's displacement at points p (n, 2)."""
    x, y = p[:, 0], p[:, 1]
    across = -y * ((6 * length - 3 * x) * x + (2 + nu) * (y**2 - 0.25))
    along = 3 * nu * y**2 * (length - x) + (4 + 5 * nu) * x / 4 + (3 * length - x) * x**2
    return load / (6 * E * inertia) * np.stack([across, along], axis=1)


clamped, end = T.points["clamped"].x, T.points["load"].x
shear = load / (2 * inertia) * (0.25 - end[:, 1] ** 2)
u = T(force=0.0, clamped=exact(clamped), load=np.stack([0 * shear, shear], axis=1), free=0.0)
x = beam.sample(2000, "uniform", seed=1).x
error = np.abs(u(x) - exact(x)).max() / np.abs(exact(x)).max()
section = lambda u: ko.dot([1.0, 0.0], stress(u))  # (σ_xx, σ_xy)
bending = -load * (length - x[:, 0]) * x[:, 1] / inertia
error_stress = np.abs(u.apply(section, x)[:, 0] - bending).max() / np.abs(bending).max()
print(f"relative error: displacement {error:.1e}, bending stress {error_stress:.1e}")
assert error < 1e-7
assert error_stress < 1e-6

with suppress(ko.errors.MissingExtraError):
    figure, axis = pyplot().subplots(figsize=(8, 3), layout="constrained")
    axis.scatter(*(x + u(x)).T, c=bending, cmap="coolwarm", s=9)
    axis.set(aspect="equal", title="the cantilever, bent, and its bending stress")
    save(figure, "out/examples/elasticity.png")
