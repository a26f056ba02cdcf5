"""Groundwater: 500 scenarios from one operator
============================================

−∇·(k ∇h) = q with a log-normal permeability k from a 64 × 64 array and two wells, against quadratic finite elements.
"""

import numpy as np
import skfem
from scipy.ndimage import gaussian_filter

import kernop as ko
from kernop.plotting import save

rng, D = np.random.default_rng(1), ko.Box([0, 0], [1, 1])
rough = gaussian_filter(rng.normal(size=(64, 64)), 8)
k = ko.GridFunction(np.exp(0.7 * rough / rough.std()), D)  # about 0.1 to 10
wells, w = np.array([[0.3, 0.6], [0.7, 0.35]]), 0.1
pump = lambda x: np.exp(-np.sum((x[..., None, :] - wells) ** 2, axis=-1) / w**2) / (np.pi * w**2)  # (…, 2)
problem = ko.Problem(
    ko.Equation(lambda h: -ko.div(k * ko.grad(h)), on=D, name="q"),
    ko.Dirichlet(on=D.face("left"), name="head"),
    ko.Dirichlet(on=D.face("right"), name="sea", data=0.0),
    ko.Neumann(on=D.face("bottom", "top"), name="sides", data=0.0),
)
T = ko.learn(problem, method=ko.Subspace(1000), points=3000)
rates, heads = -rng.lognormal(0.0, 0.5, size=(2, 500)), rng.normal(2.0, 0.3, size=500)
x, q = D.sample(2500, "grid").x, pump(T.points["q"].x)
h = T.on(x)(q=q @ rates, head=np.tile(heads, (len(T.points["head"]), 1)))  # (2500, 500)
basis = skfem.Basis(skfem.MeshTri().refined(6), skfem.ElementTriP2())  # truth: answers to each well and to the head
stiff = skfem.BilinearForm(lambda u, v, at: k(at.x.transpose(1, 2, 0)) * sum(u.grad * v.grad)).assemble(basis)
loads = [skfem.LinearForm(lambda v, at, i=i: pump(at.x.transpose(1, 2, 0))[..., i] * v).assemble(basis) for i in (0, 1)]
left, right = (basis.get_dofs(lambda x, end=end: x[0] == end).flatten() for end in (0.0, 1.0))
level, ends = np.isin(np.arange(basis.N), left).astype(float), np.concatenate([left, right])
given = zip([*loads, 0 * level], [0 * level, 0 * level, level], strict=True)
parts = [skfem.solve(*skfem.condense(stiff, load, x=at, D=ends)) for load, at in given]
truth = basis.probes(x.T) @ np.stack(parts, axis=1) @ np.vstack([rates, heads])
error = np.max(np.linalg.norm(h - truth, axis=0) / np.linalg.norm(truth, axis=0))
print(f"relative error of 500 scenarios against finite elements: {error:.1e} at most")
assert error < 1e-4
save(T(q=q @ rates[:, 0], head=heads[0]).plot().figure, "out/examples/groundwater.png")
