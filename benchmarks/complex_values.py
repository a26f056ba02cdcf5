"""Complex unknowns: native complex arithmetic, or two real components? Times of QR, and accuracy on a real problem.

A complex N × L least-squares problem is a real one of 2N × 2L. The matrix is that of the Helmholtz equation with an
impedance boundary, assembled from the functionals of an operator; both forms are solved for the same plane waves.
"""

from __future__ import annotations

import numpy as np
from common import interleaved, save, table
from scipy.linalg import lapack
from systems import GRID, Case, errors, impedance

import kernop as ko
from kernop.collocation.functionals import Functionals
from kernop.methods.leastsquares import design_matrix

#: Centres of the operators, with three points for each, as `learn` with tol has them.
CENTRES = (256, 656, 1050)
#: Columns in a block of QR, for which LAPACK is given room.
BLOCK = 64


def designs(operator: ko.SolutionOperator, case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The weighted real matrix (2N, 2L), the same as a complex one (N, L), and the right-hand sides, complex."""
    factorisation = operator.factorisation
    real = factorisation.roots[:, None] * design_matrix(factorisation.expansion, operator.collocated)
    half = real.shape[1] // 2
    data = case.problem.manufacture(case.exact, operator.points)
    parts, values = list[np.ndarray](), list[np.ndarray]()
    for rows, name in zip(operator.collocated.slices, case.problem.names, strict=True):
        middle = (rows.start + rows.stop) // 2
        parts.append(real[rows.start : middle, :half] + 1j * real[middle : rows.stop, :half])
        values.append(factorisation.roots[rows.start : middle, None] * data[name])
    return real, np.concatenate(parts), np.concatenate(values)


def solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Least squares by QR, real or complex."""
    q, r = np.linalg.qr(matrix)
    return np.linalg.solve(r, q.conj().T @ right)


def measured(centres: int) -> dict[str, float]:
    case = impedance(50.0)
    operator = ko.learn(case.problem, points=3 * centres, method=ko.Subspace(centers=centres))
    real, native, right = designs(operator, case)
    a, b = np.asfortranarray(real), np.asfortranarray(native)
    seconds = interleaved(
        {
            "real": lambda: lapack.dgeqrf(a, lwork=BLOCK * a.shape[1]),
            "complex": lambda: lapack.zgeqrf(b, lwork=BLOCK * b.shape[1]),
        },
        rounds=5,
    )
    at = Functionals(operator.ansatz.evaluations(GRID).blocks[:1])
    values = design_matrix(operator.factorisation.expansion, at)[:, :centres]
    data = case.problem.manufacture(case.exact, operator.points)
    ours = errors({"u": operator.on(GRID)(**data)}, case.truth())["u"]
    theirs = errors({"u": values @ solved(native, right)}, case.truth())["u"]
    return {
        "N": len(native),
        "L": centres,
        "complex, s": seconds["complex"],
        "real, s": seconds["real"],
        "real / complex": seconds["real"] / seconds["complex"],
        "error, complex": theirs,
        "error, real": ours,
    }


def main() -> None:
    rows = [measured(centres) for centres in CENTRES]
    shown = [[f"{v:.2e}" if "error" in k else f"{v:.3g}" for k, v in row.items()] for row in rows]
    table("QR of N × L complex numbers, and of 2N × 2L real ones", list(rows[0]), shown)
    save("complex_values", {"rows": rows})


if __name__ == "__main__":
    main()
