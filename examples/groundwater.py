"""Groundwater: 500 scenarios from one operator
============================================

−∇·(k ∇h) = q with a log-normal permeability k from a 64 × 64 array and two wells, against quadratic finite elements.
"""

import numpy as np
import skfem
from scipy.ndimage import gaussian_filter

import kernop as ko
from kernop.plotting import pyplot, save

rng, D = np.random.default_rng(1), ko.Box([0, 0], [1, 1])
k = ko.GridFunction(np.exp(20 * gaussian_filter(rng.normal(size=(64, 64)), 8)), D)  # about 0.1 to 10
wells, w = np.array([[0.3, 0.6], [0.7, 0.35]]), 0.1
pump = lambda x: np.exp(-np.sum((x[..., None, :] - wells) ** 2, axis=-1) / w**2) / (np.pi * w**2)  # (…, 2)
problem = ko.Problem(
    ko.Equation(lambda h: -ko.div(k * ko.grad(h)), on=D, name="q"),
    ko.Dirichlet(on=D.face("left"), name="head"),
    ko.Dirichlet(on=D.face("right"), name="sea", data=0.0),
    ko.Neumann(on=D.face("bottom", "top"), name="sides", data=0.0),
)
T = ko.learn(problem, method=ko.Subspace(1000), points=3000)  # by tol=1e-6 alone: benchmarks/parts_examples.py
rates, heads = -rng.lognormal(0.0, 0.5, size=(2, 500)), rng.normal(2.0, 0.3, size=500)
x, q = D.sample(2500, "grid").x, pump(T.points["q"].x)
h = T.on(x)(q=q @ rates, head=np.tile(heads, (len(T.points["head"]), 1)))  # (2500, 500)
basis = skfem.Basis(skfem.MeshTri().refined(6), skfem.ElementTriP2())  # truth: answers to each well and to the head
stiff = skfem.BilinearForm(lambda u, v, at: k(at.x.transpose(1, 2, 0)) * sum(u.grad * v.grad)).assemble(basis)
loads = [skfem.LinearForm(lambda v, at, i=i: pump(at.x.transpose(1, 2, 0))[..., i] * v).assemble(basis) for i in (0, 1)]
level, ends = 1.0 * (basis.doflocs[0] == 0), np.flatnonzero(basis.doflocs[0] % 1 == 0)
parts = [skfem.solve(*skfem.condense(stiff, b, x=(i > 1) * level, D=ends)) for i, b in enumerate([*loads, 0 * level])]
truth = basis.probes(x.T) @ np.stack(parts, axis=1) @ np.vstack([rates, heads])
error = np.max(np.linalg.norm(h - truth, axis=0) / np.linalg.norm(truth, axis=0))
print(f"relative error of 500 scenarios against finite elements: {error:.1e} at most")
assert error < 1e-4
_, axes = pyplot().subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[1].hist(h[np.argmin(np.linalg.norm(x - wells[1], axis=1))], bins=40)
axes[1].set(xlabel="head at the right well", ylabel="scenarios", title="500 scenarios")
save(T(q=q @ rates[:, 0], head=heads[0]).plot(ax=axes[0]).figure, "out/examples/groundwater.png")
