"""A learned map that is applied again and again, a part of its data being made from the solution before.

The state s_k are the rows of data that a slab of time takes over, s_{k+1} = S h_k what its end hands on: M s_k, and
what the other data add. Errors follow s ↦ M s, so what M makes of functions that the space does not resolve decides:
with few points for each function it may double them in each step, though the equation does not. The map of many parts
is never written down as a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray, IntArray
from kernop.basics.linalg import norms
from kernop.collocation.functionals import Functionals
from kernop.collocation.probes import applied, random_probes
from kernop.collocation.units import Frame
from kernop.methods.base import Factorisation
from kernop.methods.weights import repeated

#: States that are followed at once, and how often, to see how fast the map lets them grow.
FOLLOWED, ROUNDS = 8, 12
#: A mode that grows more than this in all steps together is looked at, and taken out if …
HARMFUL = 10.0
#: … its solution leaves more than this of its data: the solutions of an equation that lets them grow leave far less.
UNRESOLVED = 1e-4
#: Smooth fields that tell such modes from solutions have so many length scales, three fields each.
SCALES = 20
#: No field is better resolved than this.
ROUNDING = 1e-13
#: Norms of matrices up to this size are computed, of larger ones by so many steps of power iteration.
SMALL, ITERATIONS = 128, 30

Modes = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class StepMap:
    """One step: h ↦ S h, the next state, of which h has the present one in some rows.

    Arguments:
        factorisation: what was learned.
        functionals: its N rows.
        rows: the numbers of those of the state, (n,).
        carry: S, (n, N).
        frame: where they live.
    """

    factorisation: Factorisation
    functionals: Functionals
    rows: IntArray
    carry: FloatArray
    frame: Frame

    @cached_property
    def roots(self) -> FloatArray:
        """√w of the rows of the state, (n,): states are measured by ‖√w s‖."""
        return np.sqrt(repeated(self.factorisation.weights, self.functionals))[self.rows]

    @cached_property
    def map(self) -> FloatArray:
        """√w M √w⁻¹, (n, n): what a step makes of a state when all other data are 0."""
        return self.roots[:, None] * self.carry[:, self.rows] / self.roots

    @cached_property
    def _growing(self) -> tuple[NDArray[np.complex128], Modes, FloatArray]:
        """Eigenvalues of modulus above 1, their vectors (n, m), and what T leaves of them as data, (m,)."""
        values, vectors = np.linalg.eig(self.map)
        chosen = np.abs(values) > 1.0
        values, vectors = values[chosen].astype(np.complex128), vectors[:, chosen].astype(np.complex128)
        if not chosen.any():
            return values, vectors, np.empty(0)
        data = np.zeros((len(self.functionals), 2 * len(values)))
        data[self.rows] = np.hstack([vectors.real, vectors.imag]) / self.roots[:, None]
        return values, vectors, self.factorisation.answer(data).paired().misfit

    def unresolved(self, steps: int) -> FloatArray:
        """An orthonormal basis of the modes that grow and are no solutions, (n, m)."""
        values, vectors, left = self._growing
        chosen = (np.abs(values) ** steps > HARMFUL) & (left > UNRESOLVED)
        both = np.hstack([vectors[:, chosen].real, vectors[:, chosen].imag])
        if both.size == 0:
            return np.empty((len(self.rows), 0))
        found, sizes, _ = np.linalg.svd(both, full_matrices=False)
        return found[:, sizes > 1e-10 * sizes[0]]

    @cached_property
    def _smooth(self) -> tuple[FloatArray, FloatArray]:
        """C = I + Σ_p s_p s_pᵀ / m_p² by orthonormal vectors and eigenvalues: the covariance of what states may be.

        s_p are states of smooth fields, m_p what T leaves of the data of these: a state that T resolves is likely.
        """
        expansion = self.factorisation.expansion
        sides = (self.frame.high - self.frame.low) / self.frame.units
        spacing = float(np.prod(sides) * expansion.ansatz.width / len(expansion)) ** (1.0 / len(sides))
        lengths = tuple(map(float, np.geomspace(2.0, 2.0 * min(0.5, spacing), SCALES)))
        probes = random_probes(self.frame, 0, lengths)
        data = applied(probes, self.functionals)
        left = np.maximum(self.factorisation.answer(data).misfit, ROUNDING)
        states = self.roots[:, None] * data[self.rows]
        size = norms(states)
        kept = size > 0.0
        vectors, sizes, _ = np.linalg.svd(states[:, kept] / (size * left)[kept], full_matrices=False)
        return vectors, 1.0 + np.square(sizes)

    def unlikely(self, v: FloatArray) -> FloatArray:
        """C⁻¹ v for states v (n, m), C the covariance of states: large where no smooth field has such a state."""
        vectors, sizes = self._smooth
        part = vectors.T @ v
        return v - vectors @ ((1.0 - 1.0 / sizes)[:, None] * part)

    def over(self, steps: int) -> Repetition:
        """The same step, to be taken so many times."""
        modes = self.unresolved(steps)
        if modes.shape[1] == 0:
            return Repetition(self, steps, modes, modes)
        dual = self.unlikely(modes)
        return Repetition(self, steps, modes, np.asarray(np.linalg.solve(modes.T @ dual, dual.T).T, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class Repetition:
    """Steps of a learned map; the modes V that grow and are no solutions are taken out of the states between them.

    Π s = s − V Zᵀ s with Zᵀ V = I, and Zᵀ s next to nothing for states of smooth fields, whatever their values at the
    walls: the least unlikely amplitudes for the covariance of states. So the eigenvalues of Π M are those of M without
    these modes.

    Arguments:
        step: one of them.
        steps: how many.
        modes, dual: V and Z, (n, m), in the scale of the state.
    """

    step: StepMap
    steps: int
    modes: FloatArray
    dual: FloatArray

    @property
    def removed(self) -> int:
        """The number of modes that are taken out."""
        return self.modes.shape[1]

    def filtered(self, states: FloatArray) -> FloatArray:
        """Π s for states (n, …), in the units of the data."""
        if self.removed == 0:
            return states
        roots = self.step.roots[:, None]
        return states - self.modes @ (self.dual.T @ (roots * states)) / roots

    @cached_property
    def map(self) -> FloatArray:
        """Π M in the scale of the state, (n, n)."""
        own = self.step.map
        return own - self.modes @ (self.dual.T @ own)

    @cached_property
    def radius(self) -> float:
        """The spectral radius of Π M."""
        return float(np.max(np.abs(np.linalg.eigvals(self.map))))

    @cached_property
    def powers(self) -> FloatArray:
        """‖(Π M)^k‖ for k = 0 … steps, (steps + 1,), in the norm ‖√w s‖."""
        found, power = [1.0], self.map
        for _ in range(self.steps):
            found.append(norm(power))
            power = power @ self.map
        return np.array(found)

    def march(self, data: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Data of all steps with the states in their rows, (N, steps, B), and the states before Π, (n, steps, B).

        What ``data`` (N, steps, B) have in these rows is added to the states; those of the first step are 0.
        """
        carry, rows = self.step.carry, self.step.rows
        count, steps, width = data.shape
        added = (carry @ data.reshape(count, -1)).reshape(len(rows), steps, width)
        states, clean, own = np.zeros_like(added), np.zeros_like(added), carry[:, rows]
        for k in range(1, steps):
            states[:, k] = added[:, k - 1] + own @ clean[:, k - 1]
            clean[:, k] = self.filtered(states[:, k])
        whole = np.array(data)
        whole[rows] += clean
        return whole, states


def step_map(
    factorisation: Factorisation, functionals: Functionals, rows: IntArray, final: Functionals, frame: Frame
) -> StepMap:
    """One step of a learned map, of whose data ``rows`` are what ``final`` says of the solution before."""
    carry = reduce(np.matmul, factorisation.factors(factorisation.expansion.matrix(final)))
    return StepMap(factorisation, functionals, rows, np.ascontiguousarray(carry), frame)


def norm(a: FloatArray) -> float:
    """The spectral norm of a matrix, its largest singular value."""
    if min(a.shape) <= SMALL:
        return float(np.linalg.norm(a, 2))
    v = np.random.default_rng(0).standard_normal(a.shape[1])
    for _ in range(ITERATIONS):
        v = a.T @ (a @ v)
        size = float(np.linalg.norm(v))
        if size == 0.0:
            return 0.0
        v /= size
    return float(np.linalg.norm(a @ v))


@dataclass(frozen=True, eq=False)
class Walk:
    """Steps s_{k+1} = S h_k, where h_k has the state s_k in some rows; each is one answer of what was learned.

    Arguments:
        factorisation: what was learned.
        rows: the numbers of the rows of the state, (n,).
        final: what the end of a step hands on, n functionals of the solution.
        steps: how many.
    """

    factorisation: Factorisation
    rows: IntArray
    final: Functionals
    steps: int

    @property
    def removed(self) -> int:
        """No modes are taken out: to find them all the map would have to be written down."""
        return 0

    def step(self, data: FloatArray) -> FloatArray:
        """S h for data h (N, B), the next states: (n, B)."""
        return self.factorisation.answer(data).u.apply(self.final)

    def march(self, data: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Data of all steps with the states in their rows, (N, steps, B), and the states, (n, steps, B)."""
        whole, states = np.array(data), np.zeros((len(self.rows), *data.shape[1:]))
        for k in range(1, self.steps):
            states[:, k] = self.step(whole[:, k - 1])
            whole[self.rows, k] += states[:, k]
        return whole, states

    @cached_property
    def _followed(self) -> tuple[float, FloatArray]:
        """The largest Ritz value of M on random states V after some steps, and ‖M^k V‖ for k = 0, 1, …."""
        states, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((len(self.rows), FOLLOWED)))
        radius, whole, growth = 0.0, np.eye(states.shape[1]), [1.0]
        for _ in range(ROUNDS):
            data = np.zeros((self.factorisation.size, states.shape[1]))
            data[self.rows] = states
            then = self.step(data)
            radius = float(np.max(np.abs(np.linalg.eigvals(states.T @ then))))
            states, upper = np.linalg.qr(then)
            whole = upper @ whole
            growth.append(float(np.linalg.norm(whole, 2)))
        return radius, np.array(growth)

    @property
    def radius(self) -> float:
        """The spectral radius of M, about: the largest Ritz value, or the rate at which states grew in the end."""
        ritz, growth = self._followed
        half = len(growth) // 2
        return max(ritz, float((growth[-1] / max(growth[half], 1e-300)) ** (1.0 / (len(growth) - 1 - half))))

    @property
    def powers(self) -> FloatArray:
        """What k = 0 … steps make of a state at most, as far as some random ones tell, (steps + 1,)."""
        _, growth = self._followed
        more = growth[-1] * self.radius ** np.arange(1, max(0, self.steps - ROUNDS) + 1)
        return np.concatenate([growth, more])[: self.steps + 1]
