"""Discontinuous data: the reference against finite elements, and kernop against the reference."""

import numpy as np
import skfem
from skfem.helpers import dot, grad

from kernop.paper.darcy import darcy
from kernop.paper.experiment import square_grid
from kernop.paper.rough import boundary, reference, right_side


def by_finite_elements(cells):
    """P2 on a mesh with an edge on the jump, at its vertices."""
    line = np.linspace(0.0, 1.0, cells + 1)
    mesh = skfem.MeshTri.init_tensor(line, line)
    basis = skfem.Basis(mesh, skfem.ElementTriP2())
    stiffness = skfem.BilinearForm(lambda u, v, w: dot(grad(u), grad(v))).assemble(basis)
    load = skfem.LinearForm(lambda v, w: np.where(w.x[0] > 0.5, 6.0, 4.0) * v).assemble(basis)
    u, outer = basis.zeros(), basis.get_dofs().all()
    u[outer] = np.asarray(boundary(basis.doflocs.T))[outer]
    u = skfem.solve(*skfem.condense(stiffness, load, x=u, D=outer))
    order = np.lexsort((mesh.p[1], mesh.p[0]))
    return u[basis.nodal_dofs[0]][order]


def test_reference_against_finite_elements():
    """Corners are singular (f does not fit g there), so finite elements converge slowly near them."""
    fem, found = by_finite_elements(60), reference(61, 4)
    np.testing.assert_allclose(found, fem, rtol=0, atol=2e-4)
    assert np.sqrt(np.mean((found - fem) ** 2)) < 2e-5


def test_reference_has_converged():
    np.testing.assert_allclose(reference(21, 16), reference(21, 32), rtol=0, atol=1e-7)


def test_reference_has_the_boundary_values():
    x = square_grid(21)
    edge = np.any((x == 0.0) | (x == 1.0), axis=1)
    np.testing.assert_allclose(reference(21, 2)[edge], np.asarray(boundary(x))[edge], rtol=1e-6)


def test_source_jumps_from_four_to_six():
    assert np.asarray(right_side(np.array([[0.49, 0.1], [0.5, 0.1], [0.51, 0.1]]))).tolist() == [4.0, 6.0, 6.0]


def test_kernop_gets_near_it():
    experiment = darcy("a1", nets=1)
    found = experiment.learn_by_default()(right_side, boundary)(experiment.grid)
    exact = reference()
    assert np.linalg.norm(found - exact) < 5e-3 * np.linalg.norm(exact)
