"""The peer: jaxhps, a Hierarchical Poincaré–Steklov solver in JAX, for −∇·(a∇u) = f, u = g on the unit square.

It wants ``pip install jaxhps``. Importing it turns ``jax_enable_x64`` on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jaxhps
import numpy as np

#: Values of a and of its two derivatives at points (…, 2).
Coefficient = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Hps:
    """A discretisation into 4^levels leaves of p × p Chebyshev points.

    Arguments:
        domain: its points, which do not depend on the coefficient.
        coefficient: a and its derivatives, which jaxhps takes from its user.
        inside: the points of the leaves, (4^levels, p², 2).
        around: Gauss points on the boundary, (n, 2).
        problem: with the matrices of the last `build`.
    """

    domain: jaxhps.Domain
    coefficient: Coefficient
    inside: np.ndarray
    around: np.ndarray
    problem: jaxhps.PDEProblem

    def build(self) -> None:
        """Factorise, for any right-hand side. (A solve leaves its source in the problem.)"""
        self.problem.source = None
        jaxhps.build_solver(self.problem)
        jax.block_until_ready((self.problem.Y, self.problem.S_lst))

    def build_anew(self) -> None:
        """Evaluate the coefficient at all points, and factorise: what another coefficient costs on the same points."""
        problem = stated(self.domain, self.coefficient)
        jaxhps.build_solver(problem)
        jax.block_until_ready((problem.Y, problem.S_lst))

    def solve(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """u at ``inside``, (4^levels, p², B), for f there and g at ``around``, (n, B)."""
        return np.asarray(jaxhps.solve(self.problem, g, source=f))


def hps(levels: int, p: int, coefficient: Coefficient) -> Hps:
    """The discretisation, with all that jaxhps computes before it builds."""
    root = jaxhps.DiscretizationNode2D(xmin=0.0, xmax=1.0, ymin=0.0, ymax=1.0)
    domain = jaxhps.Domain(p=p, q=p - 2, root=root, L=levels)
    inside = np.asarray(domain.interior_points)
    return Hps(domain, coefficient, inside, np.asarray(domain.boundary_points), stated(domain, coefficient))


def stated(domain: jaxhps.Domain, coefficient: Coefficient) -> jaxhps.PDEProblem:
    """The problem with its coefficients at the points of a domain."""
    a, along_x, along_y = coefficient(np.asarray(domain.interior_points))
    return jaxhps.PDEProblem(
        domain, D_xx_coefficients=-a, D_yy_coefficients=-a, D_x_coefficients=-along_x, D_y_coefficients=-along_y
    )
