"""Finite elements of fourth order (scikit-fem) for −div(a ∇u) = 1 with a polygon of another material in a square.

Triangles are fitted to the polygon, halved everywhere, and then again and again at its corners.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
import skfem
from numpy.typing import NDArray
from scipy.sparse.linalg import splu
from skfem.helpers import dot, grad

#: How often triangles are halved at corners.
GRADED = 36


def fitted_triangles(corners: NDArray[np.float64], refined: int) -> skfem.MeshTri:
    """Triangles of the unit square, some of which make up the polygon with these corners, (n, 2)."""
    around = shapely.Polygon([(0, 0), (1, 0), (1, 1), (0, 1)], [corners])
    pieces = [shapely.constrained_delaunay_triangles(own).geoms for own in (shapely.Polygon(corners), around)]
    x = np.array([own.exterior.coords[:3] for some in pieces for own in some]).reshape(-1, 2)
    places, numbers = np.unique(np.round(x, 14), axis=0, return_inverse=True)
    mesh = skfem.MeshTri(np.ascontiguousarray(places.T), np.ascontiguousarray(numbers.reshape(-1, 3).T))
    mesh = mesh.refined(refined)
    for _ in range(GRADED):
        apart = np.linalg.norm(mesh.p.T[mesh.t.T][:, :, None] - corners, axis=3)
        mesh = mesh.refined(np.flatnonzero(np.min(apart, axis=(1, 2)) < 1e-12))
    return mesh


def polygon_elements(corners: NDArray[np.float64], inside: float, places: NDArray[np.float64], refined: int) -> Any:
    """u at places (n, 2), with a = 1 around the polygon."""
    mesh = fitted_triangles(corners, refined)
    basis = skfem.Basis(mesh, skfem.ElementTriP4())
    within = shapely.contains_xy(shapely.Polygon(corners), *mesh.p[:, mesh.t].mean(axis=1))
    a = np.where(within, inside, 1.0)[:, None]
    stiffness = skfem.BilinearForm(lambda u, v, w: w.a * dot(grad(u), grad(v))).assemble(basis, a=a)
    load = skfem.LinearForm(lambda v, _: 1.0 * v).assemble(basis)
    matrix, right, u, free = skfem.condense(stiffness, load, D=basis.get_dofs())
    symmetric = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    u[free] = splu(matrix.tocsc(), **symmetric).solve(right)
    return basis.probes(places.T) @ u
