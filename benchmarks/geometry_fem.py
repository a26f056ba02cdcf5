"""The peers of `geometry.py`: scikit-fem (P2, cached sparse LU) on triangles of the same domains.

Run as a script it prints the temperatures in an L-shaped plate that `examples/l_shape.py` is compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import SuperLU, splu
from scipy.spatial import Delaunay
from skfem import Basis, BilinearForm, ElementTriP2, FacetBasis, MeshTri, MeshTri2, condense, solve
from skfem.helpers import dot, grad

import kernop as ko


@BilinearForm
def stiffness(u, v, w):
    return w["a"] * dot(grad(u), grad(v))


@BilinearForm
def mass(u, v, w):
    return u * v


def triangles(domain: ko.Domain, lines: list[np.ndarray], h: float) -> MeshTri:
    """Triangles of size h of a plane domain: Delaunay's of closed lines (n, 2) that they keep to, and of a lattice.

    What the lines enclose is kept as far as it lies in the domain.
    """
    low, high = domain.bounds
    rows = np.arange(low[1], high[1], h * np.sqrt(0.75))
    shift = 0.5 * h * (np.arange(len(rows)) % 2)
    lattice = np.concatenate(
        [
            np.stack([x := np.arange(low[0] + s, high[0], h), np.full(len(x), y)], axis=1)
            for y, s in zip(rows, shift, strict=True)
        ]
    )
    rims = [_divided(line, h) for line in lines]
    far = np.min([ko.Polygon(line).distance(lattice) ** 2 for line in lines], axis=0) > (0.6 * h) ** 2
    points = np.concatenate([*rims, lattice[far & domain.contains(lattice)]])
    cells = Delaunay(points).simplices
    corners = points[cells]
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    thick = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) > 1e-6 * h**2
    inside = thick & (domain.distance(corners.mean(axis=1)) < 0.0)
    return MeshTri(np.ascontiguousarray(points.T), np.ascontiguousarray(cells[inside].T))


def _divided(line: np.ndarray, h: float) -> np.ndarray:
    """Points of a closed line at distances of at most h, its vertices among them."""
    ends = zip(line, np.roll(line, -1, axis=0), strict=True)
    return np.concatenate(
        [
            a + np.linspace(0, 1, max(1, round(np.linalg.norm(b - a) / h)), endpoint=False)[:, None] * (b - a)
            for a, b in ends
        ]
    )


def circle(centre: Any, radius: float, h: float) -> np.ndarray:
    """A circle as a closed line with edges of length h."""
    angle = np.linspace(0, 2 * np.pi, max(12, round(2 * np.pi * radius / h)), endpoint=False)
    return np.asarray(centre) + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def curved(mesh: MeshTri, radius: float, h: float) -> MeshTri2:
    """Quadratic triangles whose edges follow a circle around 0 where their ends lie on it."""
    found = MeshTri2.from_mesh(mesh)
    places = found.doflocs.copy()
    r = np.hypot(*places)
    near = np.abs(r - radius) < 0.2 * h
    places[:, near] *= radius / r[near]
    return MeshTri2(places, found.t)


@dataclass(frozen=True, eq=False)
class FiniteElements:
    """−∇·(a∇u) = f, u = g on the whole boundary; everything that does not depend on the data, computed once."""

    nodes: np.ndarray
    inner: np.ndarray
    outer: np.ndarray
    lu: SuperLU
    load: sp.csr_matrix
    lift: sp.csr_matrix
    observe: sp.csr_matrix

    def solve(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Values at the evaluation points, (M, B), for nodal f (n, B) and g on the outer nodes (n_out, B)."""
        u = np.empty_like(f)
        u[self.outer] = g
        u[self.inner] = self.lu.solve(self.load @ f - self.lift @ g)
        return self.observe @ u


def finite_elements(mesh: MeshTri, x: np.ndarray, a: Any = None) -> FiniteElements:
    """Assemble and factorise; ``a`` gives the conductivity of triangles by their middles (2, n)."""
    basis = Basis(mesh, ElementTriP2(), intorder=4)
    middles = mesh.p[:, mesh.t].mean(axis=1)
    field = np.ones((mesh.nelements, 1)) if a is None else a(middles)[:, None]
    k = stiffness.assemble(basis, a=field * np.ones(basis.dx.shape)).tocsr()
    m = mass.assemble(basis).tocsr()
    outer = basis.get_dofs().flatten()
    inner = basis.complement_dofs(outer)
    lu = splu(
        k[inner][:, inner].tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    return FiniteElements(basis.doflocs.T, inner, outer, lu, m[inner], k[inner][:, outer], _observed(basis, x))


def _observed(basis: Basis, x: np.ndarray) -> sp.csr_matrix:
    """From nodal values to values at x (M, 2); cells of curved triangles are found by their corners.

    No point may lie between a curved edge and its chord.
    """
    straight = MeshTri(np.ascontiguousarray(basis.mesh.doflocs[:, : basis.mesh.t.max() + 1]), basis.mesh.t)
    cells = straight.element_finder()(*x.T)
    local = basis.mapping.invF(x.T[:, :, None], tind=cells)
    values = [basis.elem.gbasis(basis.mapping, local, k, tind=cells)[0].value.ravel() for k in range(basis.Nbfun)]
    rows, columns = np.tile(np.arange(len(x)), basis.Nbfun), basis.element_dofs[:, cells].ravel()
    return sp.csr_matrix((np.concatenate(values), (rows, columns)), shape=(len(x), basis.N))


def l_shaped_plate(levels: int, x: np.ndarray) -> np.ndarray:
    """Δu = 0 in [−1, 1]² without [0, 1]²: u = 1 at y = 1, ∂u/∂n + 5u = 0 at x = 1, insulated elsewhere.

    The triangles are halved again and again towards the corner at 0.
    """
    mesh = MeshTri.init_lshaped().refined(4)
    for _ in range(levels):
        mesh = mesh.refined(np.flatnonzero(np.min(np.hypot(*mesh.p[:, mesh.t]), axis=0) < 1e-12))
    basis = Basis(mesh, ElementTriP2(), intorder=4)
    air = FacetBasis(mesh, ElementTriP2(), facets=mesh.facets_satisfying(lambda p: p[0] > 1 - 1e-9), intorder=4)
    matrix = stiffness.assemble(basis, a=np.ones(basis.dx.shape)) + 5.0 * mass.assemble(air)
    hot = basis.get_dofs(lambda p: p[1] > 1 - 1e-9).flatten()
    u = basis.zeros()
    u[hot] = 1.0
    u = solve(*condense(matrix, basis.zeros(), x=u, D=hot))
    return basis.probes(x.T) @ u


if __name__ == "__main__":
    places = np.array([[-0.5, 0.5], [-0.5, -0.5], [-0.1, -0.1], [0.5, -0.5], [0.9, -0.2]])
    for number in (0, 10, 20, 30):
        print(number, l_shaped_plate(number, places).round(8).tolist())
