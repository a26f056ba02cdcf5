"""The peer: scikit-fem with a cached sparse LU, for −∇·(a∇u) = f, u = g on the unit square, a = exp(x + y)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import SuperLU, splu
from skfem import Basis, BilinearForm, ElementTriP1, ElementTriP2, MeshTri
from skfem.helpers import dot, grad

ELEMENTS = {1: ElementTriP1, 2: ElementTriP2}


@BilinearForm
def stiffness(u, v, w):
    return np.exp(w.x[0] + w.x[1]) * dot(grad(u), grad(v))


@BilinearForm
def mass(u, v, w):
    return u * v


@dataclass(frozen=True, eq=False)
class FiniteElements:
    """Everything that does not depend on the data, computed once.

    Arguments:
        nodes: where f and g are needed, (n, 2).
        lu: the factors of the stiffness matrix without the boundary.
    """

    nodes: np.ndarray
    inner: np.ndarray
    outer: np.ndarray
    lu: SuperLU
    load: sp.csr_matrix  # nodal f ↦ load on inner nodes
    lift: sp.csr_matrix  # nodal g ↦ load on inner nodes
    observe: sp.csr_matrix  # nodal u ↦ values at the evaluation points

    def solve(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Values at the evaluation points, (M, B), for nodal f (n, B) and g on the outer nodes (n_out, B)."""
        u = np.empty_like(f)
        u[self.outer] = g
        u[self.inner] = self.lu.solve(self.load @ f - self.lift @ g)
        return self.observe @ u


def finite_elements(cells: int, order: int, x: np.ndarray) -> FiniteElements:
    """Assemble and factorise on a structured mesh of 2 cells² triangles."""
    line = np.linspace(0.0, 1.0, cells + 1)
    basis = Basis(MeshTri.init_tensor(line, line), ELEMENTS[order]())
    a, m = stiffness.assemble(basis).tocsr(), mass.assemble(basis).tocsr()
    outer = basis.get_dofs().flatten()
    inner = basis.complement_dofs(outer)
    # Symmetric ordering without pivoting: several times less fill than the default.
    lu = splu(
        a[inner][:, inner].tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    observe = basis.probes(x.T).tocsr()
    return FiniteElements(basis.doflocs.T, inner, outer, lu, m[inner], a[inner][:, outer], observe)
