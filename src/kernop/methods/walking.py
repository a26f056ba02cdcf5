"""A map of many parts that is applied again and again, and never written down as a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernop.basics.errors import FloatArray, IntArray
from kernop.collocation.functionals import Functionals
from kernop.methods.base import Factorisation

#: States that are followed at once, and how often, to see how fast the map lets them grow.
FOLLOWED, ROUNDS = 8, 12


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
