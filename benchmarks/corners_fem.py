"""Adaptive quadratic finite elements (scikit-fem) for −Δu = 1 on the L-shape, beside which parts are measured."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import skfem
from numpy.typing import NDArray
from skfem.helpers import dot, grad

#: Refinements, and the part of the largest indicator above which an element is refined.
STEPS, MARK = 16, 0.5


def l_shape() -> skfem.MeshTri:
    """[−1, 1]² without its upper right quarter."""
    mesh = skfem.MeshTri.init_tensor(np.linspace(-1, 1, 5), np.linspace(-1, 1, 5))
    middle = mesh.p[:, mesh.t].mean(axis=1)
    return mesh.remove_elements(np.flatnonzero((middle[0] > 0) & (middle[1] > 0)))


def indicators(mesh: skfem.MeshTri, basis: skfem.Basis, u: NDArray[np.float64]) -> NDArray[np.float64]:
    """h² ‖Δu + 1‖² of each element, and h ‖[∂u/∂n]‖² of its sides."""
    linear, slopes = basis.with_element(skfem.ElementDG(skfem.ElementTriP1())), basis.interpolate(u).grad
    second = sum(linear.interpolate(linear.project(slopes[k])).grad[k] for k in (0, 1))
    own = skfem.Functional(lambda w: w.h**2 * (1.0 + w["second"]) ** 2).elemental(basis, second=second)
    sides = [skfem.InteriorFacetBasis(mesh, basis.elem, side=k) for k in (0, 1)]
    jump = skfem.Functional(lambda w: w.h * dot(grad(w["one"]) - grad(w["other"]), w.n) ** 2)
    across = jump.elemental(sides[0], one=sides[0].interpolate(u), other=sides[1].interpolate(u))
    spread = np.zeros(mesh.facets.shape[1])
    spread[sides[0].find] = across
    return own + 0.5 * np.sum(spread[mesh.t2f], axis=0)


def adaptive(places: NDArray[np.float64]) -> Iterator[tuple[int, float, NDArray[np.float64]]]:
    """Unknowns, seconds of processor time so far, and u at the places, mesh after mesh."""
    started, mesh = time.process_time(), l_shape()
    for _ in range(STEPS):
        basis = skfem.Basis(mesh, skfem.ElementTriP2())
        stiffness = skfem.BilinearForm(lambda u, v, _: dot(grad(u), grad(v))).assemble(basis)
        load = skfem.LinearForm(lambda v, _: 1.0 * v).assemble(basis)
        u = skfem.solve(*skfem.condense(stiffness, load, D=basis.get_dofs()))
        yield basis.N, time.process_time() - started, basis.probes(places.T) @ u
        eta = indicators(mesh, basis, u)
        mesh = mesh.refined(np.flatnonzero(eta > MARK**2 * np.max(eta)))
