"""The peers of `systems.py`: scikit-fem on structured triangles of the unit square, with a cached sparse LU.

Stokes by P2/P1 (Taylor–Hood), plane elasticity and complex Helmholtz by P2. Run as a script it prints the velocity on
the centreline of the lid-driven cavity, the references of `examples/stokes.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import SuperLU, splu
from skfem import Basis, BilinearForm, ElementTriP1, ElementTriP2, ElementVector, FacetBasis, MeshTri
from skfem.helpers import ddot, div, dot, eye, grad, sym_grad, trace

#: The sides of the square: name, coordinate, value, outward normal.
SIDES = (("left", 0, 0.0), ("right", 0, 1.0), ("bottom", 1, 0.0), ("top", 1, 1.0))


@BilinearForm
def scalar_mass(u, v, w):
    return u * v


@BilinearForm
def vector_mass(u, v, w):
    return dot(u, v)


@BilinearForm
def scalar_stiffness(u, v, w):
    return dot(grad(u), grad(v))


@BilinearForm
def vector_stiffness(u, v, w):
    return ddot(grad(u), grad(v))


@BilinearForm
def divergence(u, q, w):
    return -div(u) * q


@BilinearForm
def strain_energy(u, v, w):
    stress = 2.0 * w["mu"] * sym_grad(u) + w["lame"] * eye(trace(sym_grad(u)), 2)
    return ddot(stress, sym_grad(v))


@dataclass(frozen=True, eq=False)
class FiniteElements:
    """Everything that does not depend on the data, computed once.

    Arguments:
        loads: from data at nodes to the right-hand side, one for each kind of data.
        fixed: the unknowns that are given, and ``free`` the others; ``lift`` is the part of the matrix between them.
        observe: from the unknowns to values at the evaluation points.
    """

    lu: SuperLU
    loads: tuple[sp.csr_matrix, ...]
    fixed: np.ndarray
    free: np.ndarray
    lift: sp.csr_matrix
    observe: sp.csr_matrix

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return len(self.fixed) + len(self.free)

    def solve(self, data: Sequence[np.ndarray], given: np.ndarray) -> np.ndarray:
        """Values at the evaluation points, (M, B), for nodal data (n_i, B) and given unknowns (n_fixed, B)."""
        right = sum(load @ own for load, own in zip(self.loads, data, strict=True)) - self.lift @ given
        y = np.empty((self.size, right.shape[1]), dtype=right.dtype)
        y[self.fixed], y[self.free] = given, self.lu.solve(right)
        return self.observe @ y


def factorised(matrix, loads, fixed, observe, **options) -> FiniteElements:
    """Without the unknowns that are given."""
    free = np.setdiff1d(np.arange(matrix.shape[0]), fixed)
    matrix = matrix.tocsr()
    lu = splu(matrix[free][:, free].tocsc(), **options)
    return FiniteElements(lu, tuple(load.tocsr()[free] for load in loads), fixed, free, matrix[free][:, fixed], observe)


#: Symmetric ordering without pivoting: several times less fill than the default; not for saddle points.
SYMMETRIC = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


def square(line: np.ndarray) -> MeshTri:
    """Triangles between tensor nodes, with the four sides named."""
    mesh = MeshTri.init_tensor(line, line)
    return mesh.with_boundaries({name: lambda x, k=k, v=v: x[k] == v for name, k, v in SIDES})


class Stokes:
    """−Δu + ∇p = f, ∇·u = 0, u = g on the boundary; p has mean 0. Velocity and pressure at x, stacked: (3M, B)."""

    def __init__(self, line: np.ndarray, x: np.ndarray) -> None:
        mesh = square(line)
        velocity = Basis(mesh, ElementVector(ElementTriP2()), intorder=4)
        pressure = Basis(mesh, ElementTriP1(), intorder=4)
        b = divergence.assemble(velocity, pressure)
        n, m = velocity.N, pressure.N
        matrix = sp.bmat([[vector_stiffness.assemble(velocity), b.T], [b, None]])
        load = sp.vstack([vector_mass.assemble(velocity), sp.csr_matrix((m, n))])
        mean = np.asarray(scalar_mass.assemble(pressure).sum(axis=0))
        centred = pressure.probes(x.T).tocsr()
        observe = sp.block_diag([velocity.probes(x.T), centred]).tocsr()
        self._mean = np.concatenate([np.zeros(n), mean[0]])
        self.nodes, self.boundary = velocity.doflocs.T, velocity.get_dofs().flatten()
        fixed = np.append(self.boundary, n)  # one pressure is 0 until the mean is known
        with_mean = sp.vstack([observe, sp.csr_matrix(self._mean)]).tocsr()
        self.peer = factorised(matrix, (load,), fixed, with_mean)

    def solve(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """For f (n, B) at `nodes`, component by component as their order is, and g at those of the `boundary`."""
        found = self.peer.solve([f], np.vstack([g, np.zeros_like(g[:1])]))
        values, third = found[:-1], (len(found) - 1) // 3
        values[2 * third :] -= found[-1]
        return values


class Elasticity:
    """−∇·σ = f in plane strain, u given on three sides and σn on the right one; u at x, (2M, B)."""

    def __init__(self, line: np.ndarray, x: np.ndarray, mu: float, lame: float) -> None:
        basis = Basis(square(line), ElementVector(ElementTriP2()), intorder=4)
        side = FacetBasis(basis.mesh, basis.elem, facets="right", intorder=4)
        self.nodes = basis.doflocs.T
        self.right = basis.get_dofs("right").flatten()
        self.fixed = np.unique(basis.get_dofs(("left", "bottom", "top")).flatten())
        loads = vector_mass.assemble(basis), vector_mass.assemble(side).tocsr()[:, self.right]
        matrix = strain_energy.assemble(basis, mu=mu, lame=lame)
        self.peer = factorised(matrix, loads, self.fixed, basis.probes(x.T).tocsr(), **SYMMETRIC)


class Helmholtz:
    """−Δu − ω²u = f, ∂u/∂n − iωu = r on the boundary, with r on each of the sides; u at x, (M, B)."""

    def __init__(self, line: np.ndarray, x: np.ndarray, omega: float) -> None:
        basis = Basis(square(line), ElementTriP2(), intorder=4)
        edges = [scalar_mass.assemble(FacetBasis(basis.mesh, basis.elem, facets=s[0], intorder=4)) for s in SIDES]
        mass = scalar_mass.assemble(basis)
        matrix = scalar_stiffness.assemble(basis) - omega**2 * mass - 1j * omega * sum(edges)
        self.nodes = basis.doflocs.T
        self.sides = [basis.get_dofs(s[0]).flatten() for s in SIDES]
        loads = [mass, *(edge.tocsr()[:, own] for edge, own in zip(edges, self.sides, strict=True))]
        none = np.array([], dtype=int)
        self.peer = factorised(matrix, [m.astype(complex) for m in loads], none, basis.probes(x.T).tocsr(), **SYMMETRIC)


def cavity(cells: int, x: np.ndarray) -> np.ndarray:
    """Velocity (M, 2) at x of the cavity whose lid moves with velocity 1; the mesh is graded towards its corners."""
    line = 0.5 - 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, cells + 1))
    line[-1] = 1.0
    peer = Stokes(line, x)
    nodes = peer.nodes[peer.boundary]
    along = np.arange(len(peer.nodes))[peer.boundary] % 2 == 0
    moving = (nodes[:, 1] == 1.0) & (nodes[:, 0] > 0.0) & (nodes[:, 0] < 1.0) & along
    found = peer.solve(np.zeros((len(peer.nodes), 1)), moving.astype(float)[:, None])
    return found[: 2 * len(x), 0].reshape(2, -1).T


if __name__ == "__main__":
    centreline = np.stack([np.full(4, 0.5), [0.2, 0.4, 0.6, 0.8]], axis=1)
    for number in (16, 32, 64, 96):
        print(number, cavity(number, centreline)[:, 0])
