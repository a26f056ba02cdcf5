"""Solutions by Galerkin's method in a space of smooth functions, which corners do not spoil.

At a corner the residual of a smooth function is not square integrable, so that least squares bend û everywhere for the
sake of a few points. A solution of the weak form has no such pollution: where the form is coercive, its error is that
of the best approximation, times a constant. It is not as accurate where u is smooth: integrals are sums over points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve

from kernop.basics.errors import FloatArray, NonFiniteError, fail
from kernop.basics.linalg import orthogonal, right_solve_upper
from kernop.collocation.cells.elliptic import Table
from kernop.collocation.functionals import Functionals
from kernop.language.fields import Term
from kernop.methods import Combination
from kernop.methods.expansion import Expansion
from kernop.methods.leastsquares import design_matrix
from kernop.trust.estimates.weakform import WeakForm

#: Values that are prescribed are held by a penalty of so many times the flux across the domain.
PENALTY = 1e4
#: Rows of this size, in units of all others, settle what neither values nor slopes see.
TINY = 1e-14


@dataclass(frozen=True, eq=False)
class Galerkin:
    """The map from data to the solution v in a space.

    With [√w v; √w ∂v; √γ v on the boundary] = Q R at points, functions Φ R⁻¹ are orthonormal there, and what the weak
    form makes of them is a matrix M that is well-conditioned: y = M⁻¹ load, v = Φ R⁻¹ y.

    Arguments:
        load: what data (N,) at the points of the conditions make of the right-hand side, (L, N).
        factors: M = P L U, and the rows that P exchanges.
    """

    expansion: Expansion
    upper: FloatArray
    load: FloatArray
    factors: tuple[FloatArray, NDArray[np.int32]]

    def answer(self, h: FloatArray) -> Combination:
        """Solutions for data (N, B)."""
        return Combination(self.expansion, lu_solve(self.factors, self.load @ h), self.upper)


def galerkin(form: WeakForm, expansion: Expansion, rows: Mapping[str, Functionals], extent: float) -> Galerkin:
    """Galerkin's method in a space.

    Arguments:
        rows: the functionals of each condition at the points where its data are known.
        extent: of the domain: values count as slopes over it.
    """
    held = {name: _held(form, expansion, rows[name], name, extent) for name in form.prescribed}
    upper, own, penalised = _orthonormal_functions(form, expansion, [values for values, _ in held.values()], extent)
    axes, matrix, load = _axes(form.x.shape[1]), penalised.T @ penalised, dict[str, FloatArray]()
    ends = np.cumsum([0, *(len(values) for values, _ in held.values())])
    for (name, (_, scale)), first, last in zip(held.items(), ends[:-1], ends[1:], strict=True):
        load[name] = scale * penalised[first:last].T
    for (i, j), table in form.fluxes.items():
        _add(matrix, own[i, axes[j]], table, own)
    for i, table in enumerate(form.rest):
        _add(matrix, own[i, _none(axes)], table, own)
    for name, (numbers, x, measure) in form.equations.items():
        load[name] = np.hstack([measure * _tested(expansion, upper, x, i).T for i in numbers])
    for side in form.told:
        v = [_tested(expansion, upper, side.x, k) for k in range(expansion.ansatz.unknowns.total)]
        load[side.name] = np.hstack([(share[:, None] * v[i]).T for i, share in enumerate(side.shares)])
        for (i, k), beta in side.values.items():
            matrix += v[i].T @ ((side.shares[i] * beta)[:, None] * v[k])
    if not np.all(np.isfinite(matrix)):
        raise fail(NonFiniteError, "u", "a weak form that is not finite", "choose units in which data is near 1")
    return Galerkin(expansion, upper, np.hstack([load[name] for name in rows]), lu_factor(matrix))


def _orthonormal_functions(
    form: WeakForm, expansion: Expansion, held: Sequence[FloatArray], extent: float
) -> tuple[FloatArray, dict[Term, FloatArray], FloatArray]:
    """R; √w ∂^α v_k by (k, α), |α| ≤ 1, of the functions Φ R⁻¹ inside, (n, L); and their rows of prescribed values."""
    axes, n, roots = _axes(form.x.shape[1]), len(form.x), np.sqrt(form.measure)
    terms = [(k, alpha) for k in range(expansion.ansatz.unknowns.total) for alpha in (_none(axes), *axes)]
    units = {term: np.sqrt(form.unit * form.measure) / (1.0 if sum(term[1]) else extent) for term in terms}
    inside = [units[term] * _at(expansion, form.x, term) for term in terms]
    upper, q = _orthonormal(np.concatenate([*inside, *held]))
    own = {term: (roots / units[term]) * q[k * n : (k + 1) * n] for k, term in enumerate(terms)}
    return upper, own, q[len(terms) * n :]


def _axes(d: int) -> list[tuple[int, ...]]:
    return [tuple(int(i == j) for i in range(d)) for j in range(d)]


def _none(axes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The α of a value."""
    return (0,) * len(axes)


def _at(expansion: Expansion, x: FloatArray, term: Term) -> FloatArray:
    """∂^α of component k of all functions at points, (n, L)."""
    found = expansion.ansatz.split(x, [{term: np.ones(len(x))}], False)
    return expansion.matrix(found, order="F")


def _tested(expansion: Expansion, upper: FloatArray, x: FloatArray, k: int) -> FloatArray:
    """Component k of the functions Φ R⁻¹ at points, (n, L)."""
    return right_solve_upper(upper, _at(expansion, x, (k, (0,) * x.shape[1])))


def _held(
    form: WeakForm, expansion: Expansion, rows: Functionals, name: str, extent: float
) -> tuple[FloatArray, float]:
    """Rows of prescribed values with their weight, and what data are multiplied with."""
    size = np.sqrt(np.mean(np.concatenate([np.sum(block.coefficients**2, axis=1) for block in rows.blocks])))
    scale = float(np.sqrt(PENALTY * form.unit / extent * form.prescribed[name]) / size)
    return scale * design_matrix(expansion, rows), scale


def _orthonormal(design: FloatArray) -> tuple[FloatArray, FloatArray]:
    """R, and the rows of Q that belong to the design."""
    count = design.shape[1]
    below = TINY * np.linalg.norm(design) * np.eye(count)
    factor = orthogonal(np.asfortranarray(np.concatenate([design, below])), overwrite=True)
    return np.asfortranarray(factor.upper), factor.columns(len(design))


def _add(matrix: FloatArray, tested: FloatArray, table: Table, own: Mapping[Term, FloatArray]) -> None:
    """matrix += ∫ v Σ φ_{k,α} ∂^α u_k, in place."""
    terms = [(term, np.real(values)) for term, values in table.items() if np.any(np.abs(values) > 1e-9)]
    if terms:
        matrix += tested.T @ sum(values[:, None] * own[term] for term, values in terms)
