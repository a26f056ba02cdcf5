"""The method of parts: every cell of a domain has its own space and its own operator, and faces glue them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import ceil, comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kernop.basics.checks import check_choice, check_integer
from kernop.basics.errors import ArgumentError, fail
from kernop.basics.stored import stored
from kernop.collocation.cells.mosaic import TIP, Counts
from kernop.methods.base import Factorisation, Method, Setting

#: Degrees of the polynomials on a part, and of the traces on its faces, for d = 1, 2, 3.
DEGREES, TRACES = (24, 19, 10), (1, 16, 8)
#: Points for each function, on parts that are cut, and Gauss points on those that are not.
SCATTERED, GAUSS = 2, 1.3
#: The traces on the four sides of a cell in the plane, as a part of its functions, at most.
SIDES, MOST_TRACES = 4, 0.76
#: The degree of polynomials on parts in which u is singular: more of them only follow what they cannot resolve.
BESIDE_SINGULARITIES = 7
#: What may be exchanged between parts.
GLUINGS = ("values", "robin", "impedance")


@stored("Partition")
@dataclass(frozen=True)
class Partition(Method):
    """Cells of a 2^d-tree, each with polynomials of its own; values and fluxes are continuous across faces.

    Arguments:
        cells: about so many along the longest side before corners are graded; None chooses.
        degree: total degree of the polynomials on a cell; None chooses.
        levels: how often cells are halved at the corner, or the crossing of jumps, at which u is most singular, and at
            others less often, by their angles; None chooses. In space: how often those at the sides of a box are,
            towards the sides, so that its edges are resolved; None for never, unless a tolerance asks for it.
        gluing: what is exchanged between parts: "values" of u for fluxes, or both mixed, "robin" with real factors and
            "impedance" with imaginary ones, for which parts have no resonances; None chooses.
    """

    cells: int | None = None
    degree: int | None = None
    levels: int | None = None
    gluing: Literal["values", "robin", "impedance"] | None = None

    def __post_init__(self) -> None:
        if self.gluing is not None:
            check_choice("gluing", self.gluing, GLUINGS)
        for name in ("cells", "degree", "levels"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, check_integer(name, value, least=0 if name == "levels" else 1))

    def derivatives_needed(self, order: int) -> int:
        return order

    def degree_for(self, dim: int) -> int:
        """The degree of polynomials on a part that fills as large a cell as any."""
        return self.degree or DEGREES[dim - 1]

    def factorise(self, setting: Setting) -> Factorisation:
        raise fail(ArgumentError, "method", "a Partition without cells", "use ko.learn(problem, method=ko.Partition())")


def held_low(degrees: NDArray[np.int64], singular: NDArray[np.int64], dim: int) -> NDArray[np.int64]:
    """Degrees in cells, (C,), low where u is singular. At the edges of a box in space, where u is like r² log r, all
    polynomials are of use.
    """
    return degrees if dim == 3 else np.where(singular == TIP, np.minimum(degrees, BESIDE_SINGULARITIES), degrees)


@cache
def counts_for(dim: int, degree: int) -> Counts:
    """Points and traces of a part with polynomials up to a degree.

    A cell has more functions than its sides have traces, as long as its neighbours are no smaller. Beside smaller ones
    it need not: these tell the traces apart, and the flux of the large cell is balanced in all of them.
    """
    functions = comb(degree + dim, dim)
    traces = 1 if dim == 1 else max(2, round(degree * TRACES[dim - 1] / DEGREES[dim - 1]))
    seams = min(traces, max(2, int(MOST_TRACES * functions) // SIDES)) if dim == 2 else traces
    return Counts(
        scattered=SCATTERED * functions,
        along=ceil((GAUSS * functions) ** (1.0 / dim)),
        told=max(1, degree - 1),
        traces=traces,
        seams=seams,
        whole=max(2, degree - 2, seams),
    )
