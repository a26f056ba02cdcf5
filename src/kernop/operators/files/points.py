"""Points and functionals in a file."""

from __future__ import annotations

import numpy as np

from kernop.basics.parts import Reader, Writer
from kernop.collocation.functionals import Block as NormalForm
from kernop.collocation.functionals import Functionals
from kernop.geometry import Points
from kernop.language.fields import MultiIndex

#: The highest derivative of an operator that a file may hold, and of a block of functionals how many there may be.
HIGHEST, MOST_TERMS = 32, 10_000


def write_points(file: Writer, points: Points) -> None:
    """Coordinates and, on boundaries, normals."""
    file.array("x", points.x)
    file["normals"] = points.normal is not None
    if points.normal is not None:
        file.array("normal", points.normal)


def read_points(file: Reader, dim: int) -> Points:
    """At least one point; whether it has a time, its region knows."""
    x = file.floats("x", (None, dim))
    normal = file.floats("normal", x.shape) if file.flag("normals") else None
    return Points(x, normal)


def write_alphas(file: Writer, alphas: tuple[MultiIndex, ...]) -> None:
    """Multi-indices, for a person to read too."""
    file["alphas"] = [list(alpha) for alpha in alphas]


def read_alphas(file: Reader, dim: int) -> tuple[MultiIndex, ...]:
    """Multi-indices, sorted and each once."""
    rows = file.list("alphas")
    whole = all(
        isinstance(row, list)
        and len(row) == dim
        and all(isinstance(a, int) and not isinstance(a, bool) and 0 <= a <= HIGHEST for a in row)
        and sum(row) <= HIGHEST
        for row in rows
    )
    alphas = tuple(map(tuple, rows)) if whole and len(rows) <= MOST_TERMS else ()
    if not alphas or list(alphas) != sorted(set(alphas)):
        raise file.wrong("alphas", "no list of multi-indices")
    return alphas


def write_functionals(file: Writer, functionals: Functionals) -> None:
    """All blocks, in order."""
    file["blocks"] = len(functionals.blocks)
    for k, block in enumerate(functionals.blocks):
        part = file.below(f"block {k}")
        write_alphas(part, block.alphas)
        part.array("x", block.x)
        part.array("coefficients", block.coefficients)


def read_functionals(file: Reader, dim: int) -> Functionals:
    """At least one block of at least one functional."""
    blocks: list[NormalForm] = []
    for k in range(file.integer("blocks", least=1, most=10**6)):
        part = file.below(f"block {k}")
        alphas = read_alphas(part, dim)
        x = part.floats("x", (None, dim))
        if len(x) == 0:
            raise part.wrong("x", "empty")
        blocks.append(NormalForm(x, alphas, part.floats("coefficients", (len(x), len(alphas)))))
    return Functionals(tuple(blocks))


def read_table(file: Reader, x: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> NormalForm:
    """α ↦ φ_α at given points."""
    alphas = read_alphas(file, x.shape[1])
    return NormalForm(x, alphas, file.floats("coefficients", (len(x), len(alphas))))


def write_table(file: Writer, form: NormalForm) -> None:
    """α ↦ φ_α, without the points."""
    write_alphas(file, form.alphas)
    file.array("coefficients", form.coefficients)
