"""Probing fields: smooth random functions with exact derivatives, to measure an operator by.

A probe is u(x) = Σ_j a_j cos(k_j·x + b_j), a sample of a Gaussian random field of a given length scale by random
Fourier features. Since ∂^α cos(k·x + b) = k^α cos(k·x + b + |α| π/2), every operator acts on it in closed form. The
components of several unknowns have the same waves with other phases, and bumps at other places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial.hermite_e import hermeval

from kernop.basics.errors import FloatArray
from kernop.collocation.functionals import Block, Functionals
from kernop.collocation.units import Frame, evolving_fineness, waves_fineness

#: Length scales of the probes, in units of the frame: from one swing across the domain to a few.
LENGTHS = (1.0, 0.5, 0.25)
#: Probes of each length scale, and waves in each probe.
FIELDS, WAVES = 3, 24
#: Free waves are sought among so many random directions, up to this wave number; their symbol is below this part of
#: the sum of its terms.
DIRECTIONS, LONGEST_SEARCH, NEARLY = 256, 1e5, 0.03
#: Probes resolve all axes alike: free waves that are finer along an axis by this factor are not among them.
FINER = 1.5
#: Waves whose symbol is below this part of the sum of its terms are carried, though damped.
DAMPED = 0.3
#: How far the phases of one component are from those of the next.
GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))
#: Rows at a time: every wave has a number for each of them.
ROWS = 8192


@dataclass(frozen=True, eq=False)
class Probes:
    """B random smooth fields whose derivatives are known, with which operators are probed.

    Arguments:
        k: wave vectors, (B, J, d).
        b: phases, (B, J).
    """

    k: FloatArray
    b: FloatArray

    def __len__(self) -> int:
        return len(self.k)

    def apply(self, block: Block) -> FloatArray:
        """(P_i u) for each probe, exactly: (n, B)."""
        total = np.zeros((len(block.x), len(self)))
        for start in range(0, len(block.x), ROWS):
            rows = slice(start, start + ROWS)
            for k, columns in block.components.items():
                turns = self._quarter_turns(block.x[rows], [block.terms[column][1] for column in columns], k)
                for column in columns:
                    derivative = self._derivative(block.terms[column][1], turns)
                    total[rows] += block.coefficients[rows, column, None] * derivative
        return block.collected(total)

    def derivative(self, alpha: tuple[int, ...], x: FloatArray) -> FloatArray:
        """∂^α u at x (n, d) for each probe: (n, B)."""
        return self._derivative(alpha, self._quarter_turns(x, [alpha]))

    def _quarter_turns(
        self, x: FloatArray, alphas: Sequence[tuple[int, ...]], component: int = 0
    ) -> dict[int, FloatArray]:
        """cos (0) and sin (1) of the phases k·x + b, (n, B, J), as far as derivatives ∂^α of the waves need them."""
        angle = np.einsum("nd,bjd->nbj", x, self.k) + (self.b + GOLDEN_ANGLE * component)
        return {odd: (np.cos, np.sin)[odd](angle) for odd in {sum(alpha) % 2 for alpha in alphas}}

    def _derivative(self, alpha: tuple[int, ...], turns: Mapping[int, FloatArray]) -> FloatArray:
        weights = np.prod(self.k ** np.asarray(alpha), axis=-1) / np.sqrt(self.k.shape[1])
        quarter = sum(alpha) % 4  # cos, −sin, −cos, sin
        sign = 1.0 if quarter in (0, 3) else -1.0
        return np.einsum("nbj,bj->nb", turns[quarter % 2], sign * weights)


def random_probes(frame: Frame, seed: int = 0, lengths: tuple[float, ...] = LENGTHS) -> Probes:
    """Three fields of each length scale: wave vectors are normal, with mean square 2 / length² in any dimension."""
    rng = np.random.default_rng(seed)
    each = np.repeat(lengths, FIELDS)
    d = len(frame.units)
    k = rng.normal(size=(len(each), WAVES, d)) * (np.sqrt(2.0 / d) / each)[:, None, None] / frame.units
    return Probes(k, rng.uniform(0.0, 2.0 * np.pi, size=(len(each), WAVES)))


def free_waves(block: Block, frame: Frame, seed: int = 0) -> Probes | None:
    """Waves that the equation carries by itself: the longest ones whose symbol Σ φ_α (ik)^α nearly vanishes.

    Of an equation with several unknowns, the symbol of the first component for which there are such waves.

    A smooth field does not excite them, but boundary data and sources do: an operator that does not resolve them
    answers nonsense. The Laplacian has none, Helmholtz those with |k| = ω. None if there are none, or if they are so
    long that every probe has them.
    """
    for columns in block.components.values():
        alphas = tuple(block.terms[column][1] for column in columns)
        own = Block(block.x, tuple((0, alpha) for alpha in alphas), block.coefficients[:, columns])
        found = _free_waves(own, frame.units, waves_fineness(frame, own), seed)
        if found is not None:
            return found
    return None


def _free_waves(block: Block, units: FloatArray, fineness: FloatArray, seed: int) -> Probes | None:
    """Among random directions in units / fineness (d,), in which the terms of the highest order balance.

    Where waves are damped, the longest that are nearly free are far too short to matter: of them, and of longer ones
    in the same direction, the longest that the equation still carries are taken. Where waves of all lengths are free,
    those are taken that are as short as the shortest of `random_probes` along the coarsest axis.
    """
    scale = units / fineness
    rng = np.random.default_rng(seed)
    rows = rng.integers(len(block.coefficients), size=DIRECTIONS)
    direction = rng.normal(size=(DIRECTIONS, len(scale)))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    radii = np.geomspace(1.0, LONGEST_SEARCH, 600)
    direction /= scale
    alphas = np.asarray(block.alphas)
    orders = alphas.sum(axis=1)
    terms = block.coefficients[rows] * np.prod(direction[:, None, :] ** alphas, axis=-1) * 1j**orders  # (S, A)
    powers = radii[:, None] ** orders  # (R, A)
    size = powers @ np.abs(terms).T
    ratio = np.abs(powers @ terms.T) / np.where(size > 0.0, size, 1.0)  # (R, S)
    free = (ratio < NEARLY) & (orders.max() > 0)
    if not free.any():
        return None
    longest = int(np.argmax(free.any(axis=1)))
    carried = np.flatnonzero(free[longest])
    longer = longest
    while longer > 0 and np.all(ratio[longer - 1, carried] < DAMPED):
        longer -= 1
    longest = longer if radii[longer] < 0.5 * radii[longest] else longest
    shortest = int(np.searchsorted(radii, np.sqrt(2.0) / min(LENGTHS)))
    if longest < shortest:
        carried, longest = np.flatnonzero(free[shortest]), shortest
        if np.max(fineness) < FINER or len(carried) == 0:
            return None
    chosen = rng.choice(carried, size=(1, WAVES))
    return Probes(radii[longest] * direction[chosen], rng.uniform(0.0, 2.0 * np.pi, size=(1, WAVES)))


def resolving(frame: Frame, blocks: Iterable[Block], seed: int = 0) -> Frame:
    """The frame with axes as fine as the free waves of equations ask for; halfway, since data ask for other things.

    Where there are none, as fine in space as slow evolution asks for.
    """
    if len(frame.units) == 1:
        return frame
    rows = _of_highest_order(blocks)
    waves = [waves_fineness(frame, block) for block in rows if free_waves(block, frame, seed) is not None]
    finest = np.sqrt(np.max([np.ones(len(frame.units)), *waves], axis=0))
    if not waves:
        finest = np.max([evolving_fineness(frame, block) for block in rows], axis=0)
    return replace(frame, fineness=finest) if np.max(finest) > np.sqrt(FINER) else frame


@dataclass(frozen=True, eq=False)
class Bumps:
    """B local fields u(x) = exp(−Σ (x − c)² / (2 s²)), with a width s for each axis.

    Arguments:
        c: where they stand, (B, d).
        width: s, (d,).
    """

    c: FloatArray
    width: FloatArray

    def __len__(self) -> int:
        return len(self.c)

    def apply(self, block: Block) -> FloatArray:
        """(P_i u) for each of them, exactly: (n, B); ∂^m exp(−t²/2) = (−1)^m He_m(t) exp(−t²/2)."""
        total = np.zeros((len(block.x), len(self)))
        for k, columns in block.components.items():
            t = (block.x[:, None, :] - np.roll(self.c, k, axis=0)) / self.width
            shape = np.exp(-0.5 * np.sum(np.square(t), axis=-1))
            for column in columns:
                alpha = block.terms[column][1]
                factors = [
                    hermeval(t[..., j], [0.0] * m + [(-1.0 / self.width[j]) ** m]) for j, m in enumerate(alpha) if m
                ]
                total += block.coefficients[:, column, None] * np.prod(np.stack([shape, *factors]), axis=0)
        return block.collected(total)


def applied(fields: Probes | Bumps, functionals: Functionals) -> FloatArray:
    """P_i u for each field, (N, B)."""
    return np.concatenate([fields.apply(block) for block in functionals.blocks])


def oscillations(frame: Frame, periods: float, seed: int = 0) -> Probes:
    """Waves with so many periods over the shortest side: one along each axis of space or time, and their product.

    The product of d cosines is the mean of 2^(d−1) plane waves, k = (k_1, ±k_2, …).
    """
    d = len(frame.units)
    k = 2.0 * np.pi * periods / frame.shortest
    signs = np.stack(np.meshgrid([1.0], *[[1.0, -1.0]] * (d - 1), indexing="ij"), axis=-1).reshape(-1, d)
    count = len(signs)
    single = [np.tile(k * row, (count, 1)) for row in np.eye(d)]
    phases = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, size=(d + 1, d))
    b = np.stack([*(np.full(count, phases[j, j]) for j in range(d)), signs @ phases[d]])
    return Probes(np.stack([*single, signs * k]), b)


def probes_of(blocks: Iterable[Block], frame: Frame, seed: int = 0, lengths: tuple[float, ...] = LENGTHS) -> Probes:
    """Random fields of several length scales, and the free waves of the rows of an equation."""
    free = (free_waves(block, frame, seed) for block in _of_highest_order(blocks))
    parts = [random_probes(frame, seed, lengths), *(own for own in free if own is not None)]
    return Probes(np.concatenate([part.k for part in parts]), np.concatenate([part.b for part in parts]))


def _of_highest_order(blocks: Iterable[Block]) -> list[Block]:
    """Equations among conditions. Of ∂u/∂n + αu on a curved boundary any wave is nearly free that is short beside 1/α
    and runs along it, and no solution of the equation need be like it.
    """
    rows = list(blocks)
    top = max((block.order for block in rows), default=0)
    return [block for block in rows if block.order == top]
