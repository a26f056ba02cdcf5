"""A cantilever under a load at its end
====================================

Plane stress, −∇·σ = 0 in a beam of length 4 and depth 1; the displacement is given at x = 0 and the traction σn
elsewhere. Exact: Timoshenko & Goodier, Theory of Elasticity, §21.
"""

import numpy as np

import kernop as ko
from kernop.plotting import pyplot, save

E, nu, length = 1000.0, 0.3, 4.0  # the load is 1, the moment of inertia 1/12
strain = lambda u: ko.sym(ko.grad(u))
stress = lambda u: E / (1 - nu**2) * ((1 - nu) * strain(u) + nu * ko.div(u) * ko.identity(2))
beam = ko.Box([0, -0.5], [length, 0.5])
problem = ko.Problem(
    ko.Equation(lambda u: -ko.div(stress(u)), on=beam, name="force", data=0.0),
    ko.Dirichlet(on=beam.face("left"), name="clamped"),
    ko.Condition(lambda u: ko.normal_component(stress(u)), on=beam.face("right", "bottom", "top"), name="load"),
    unknowns={"u": 2},
)
across = lambda x, y: -y * ((6 * length - 3 * x) * x + (2 + nu) * (y**2 - 0.25))
along = lambda x, y: 3 * nu * y**2 * (length - x) + (4 + 5 * nu) * x / 4 + (3 * length - x) * x**2
exact = lambda p: 2 / E * np.stack([across(*p.T), along(*p.T)], axis=-1)
shear = lambda p: np.stack([0 * p[..., 1], 6 * (0.25 - p[..., 1] ** 2)], axis=-1)  # 0 above and below
u = ko.learn(problem)(clamped=exact, load=shear)
x = beam.sample(4000, "uniform", seed=1).x
bending = -12 * (length - x[:, 0]) * x[:, 1]
error = np.abs(u(x) - exact(x)).max() / np.abs(exact(x)).max()
off = np.abs(u.apply(lambda u: ko.dot([1.0, 0.0], stress(u)), x)[:, 0] - bending).max() / np.abs(bending).max()
print(f"relative error: displacement {error:.1e}, bending stress {off:.1e}")
assert max(error, off / 10) < 1e-7
figure, axis = pyplot().subplots(figsize=(8, 3), layout="constrained", subplot_kw={"aspect": "equal"})
figure.colorbar(axis.scatter(*(x + u(x)).T, c=bending, cmap="coolwarm", s=9), label="bending stress σ_xx", shrink=0.7)
axis.set(xlabel="x", ylabel="y", title="the bent beam")
save(figure, "out/examples/elasticity.png")
