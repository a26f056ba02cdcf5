"""The map from data to an operator made of parts: up the tree, down again, and what is left of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernop.basics.checks import check_memory
from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, KernopError, fail
from kernop.basics.linalg import norms, weighted_norms
from kernop.collocation.functionals import Functionals
from kernop.methods.base import Answer, Factorisation
from kernop.methods.expansion import Combination
from kernop.methods.parts.balancing import balanced, balanced_transposed
from kernop.methods.parts.batches import Stack, batched
from kernop.methods.parts.gluing import Glue, Group
from kernop.methods.parts.local import Local
from kernop.methods.parts.placing import PartRows
from kernop.methods.parts.space import PartsSpace
from kernop.methods.posterior import Posterior

#: What many columns leave is seen in so many combinations of them, if these leave less than this part of what matters.
COMBINED, SURELY = 8, 0.1


@dataclass(kw_only=True, frozen=True, eq=False)
class PartsFactorisation(Factorisation):
    """The map from data to coordinates y of all parts.

    Arguments:
        locals: what each part does; equal parts share one.
        part_rows: of each part.
        roots: √w of the rows of each part, (n,).
        strengths: the unit of what goes out of each part.
        root: the tree of groups.
        glue: the unknowns on faces.
        number: of rows, N.
        integrals: the rows that are integrals over several parts, (k,).
        integrands: what they make of the functions of each part, (s, m), s = k; or s = 2k, if the unknowns have
            imaginary parts of which no data tell.
        condition: the worst reciprocal condition number in the tree.
    """

    locals: tuple[Local, ...]
    part_rows: tuple[PartRows, ...]
    roots: tuple[FloatArray, ...]
    strengths: FloatArray
    root: Group
    glue: Glue
    number: int
    integrals: NDArray[np.intp]
    integrands: tuple[FloatArray, ...]
    condition: float = 1.0

    @property
    def size(self) -> int:
        return self.number

    @property
    def penalised(self) -> bool:
        return False

    @cached_property
    def _told(self) -> NDArray[np.bool_]:
        """Parts whose residuals tell of the solution, (P,): at singularities they are large, and no harm is done."""
        smooth = self._space.mosaic.singular == 0
        return smooth if np.any(smooth) else np.ones(len(self.locals), dtype=bool)

    @cached_property
    def _squares(self) -> FloatArray:
        """w of all rows, (N,); 0 for integrals over several parts."""
        found = np.zeros(self.number)
        for rows, roots in zip(self.part_rows, self.roots, strict=True):
            found[rows.numbers] = roots**2
        return found

    @cached_property
    def _batches(self) -> list[Stack]:
        """All parts."""
        rows = [own.numbers for own in self.part_rows]
        return batched(self.locals, self._space.starts, rows, self.roots, self.glue.owned)

    @property
    def _space(self) -> PartsSpace:
        assert isinstance(self.expansion, PartsSpace)
        return self.expansion

    def answer(self, h: FloatArray) -> Answer:
        y, incoming = self._solved(h)
        return Answer(Combination(self.expansion, y), self._left(h, y, incoming), self._told_size(h))

    def answer_again(self, h: FloatArray, enough: float) -> Answer:
        """What many columns of data leave is seen in a few random combinations of them, each in units of its size.

        The norms of Gaussian combinations have the mean square ‖E‖², with E all that is left: all of them are below
        δ‖E‖ with a probability of δ to the power of their number at most. Unless all are so small, all is measured.
        """
        if h.shape[1] <= COMBINED:
            return self.answer(h)
        y, incoming = self._solved(h)
        size = self._told_size(h)
        mixed = np.random.default_rng(0).standard_normal((h.shape[1], COMBINED))
        mixed *= np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)[:, None]
        left = self._left(h @ mixed, y @ mixed, incoming @ mixed)
        u = Combination(self.expansion, y)
        if np.max(left) <= SURELY * enough:
            return Answer(u, np.max(left) * size, size, exact=False)
        return Answer(u, self._left(h, y, incoming), size)

    def _left(self, h: FloatArray, y: FloatArray, incoming: FloatArray) -> FloatArray:
        """The norm of what is not satisfied of weighted rows of parts that tell, of seams and of sums, (B,)."""
        left = np.sqrt(self._told_squares)[:, None] * h
        for batch in self._batches:
            told = self._told[batch.parts]
            if np.any(told):
                left[batch.rows[told]] -= batch.local.seen(batch.coordinates(y))[told]
        return norms(np.stack([norms(left), norms(self._unbalanced(y, incoming, h))]))

    def _told_size(self, h: FloatArray) -> FloatArray:
        """The size of the weighted data of parts that tell, (B,)."""
        return self._size(self._told_squares, h)

    @cached_property
    def _told_squares(self) -> FloatArray:
        """w of the rows of parts that tell, (N,), else 0."""
        found = self._squares.copy()
        for rows, told in zip(self.part_rows, self._told.tolist(), strict=True):
            found[rows.numbers] *= told
        return found

    def _size(self, squares: FloatArray, h: FloatArray) -> FloatArray:
        """The size of data weighted by w (N,), (B,). Integrals count where nothing else is given: a mean, however
        large, is satisfied by a constant, and must not hide what is not.
        """
        size = weighted_norms(squares, h)
        return np.where(size > 0.0, size, norms(self._sum_weights[:, None] * self._sum_data(h)))

    def imbalance(self, h: FloatArray) -> FloatArray:
        """What is left of data h (N, B) on seams and by integrals, as a part of their size, (B,).

        That is next to nothing unless the data contradict each other, as where only slopes are given that do not fit
        the source: ∫f ≠ −∮g.
        """
        y, incoming = self._solved(h)
        size = self._size(self._squares, h)
        return norms(self._unbalanced(y, incoming, h)) / np.where(size > 0.0, size, 1.0)

    def _sum_data(self, h: FloatArray) -> FloatArray:
        """The data of all sums, (s, B): imaginary parts of which no data tell have integrals of 0."""
        return np.concatenate([h[self.integrals], np.zeros((self.glue.sums - len(self.integrals), h.shape[1]))])

    def _solved(self, h: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coordinates y of all parts (L, B), and what comes in on seams."""
        y = np.zeros((len(self._space), h.shape[1]))
        outgoing = self._with_sums([batch.pull(h, y) for batch in self._batches], y)
        outgoing[0][len(self.locals[0].out) :] -= self._sum_data(h)
        incoming = balanced(self.root, outgoing, self.glue)
        for batch in self._batches:
            batch.push(incoming, y)
        return y, incoming

    def _outgoing(self, y: FloatArray) -> list[FloatArray]:
        """What goes out of each part, (b, B), with its shares of the sums behind."""
        return self._with_sums([batch.local.out @ batch.coordinates(y) for batch in self._batches], y)

    def _with_sums(self, sent: Sequence[FloatArray], y: FloatArray) -> list[FloatArray]:
        """The same for what goes out of the parts of each batch in their units, (P, b, B), which is lost."""
        found = [np.empty((0, y.shape[1]))] * len(self.locals)
        for batch, all_ in zip(self._batches, sent, strict=True):
            all_ *= self.strengths[batch.parts, None, None]
            for k, out in zip(batch.parts.tolist(), all_, strict=True):
                shares = self.integrands[k] @ y[self._space.span(k)] if self.glue.sums else None
                found[k] = out if shares is None else np.concatenate([out, shares])
        return found

    @cached_property
    def _seam_weights(self) -> FloatArray:
        """√w of the rows that say that what goes out of a part is taken in, as those of a condition there, (count,).

        Of what both sides of a seam share both parts tell.
        """
        sizes = {id(own): float(np.linalg.norm(own.out @ own.upper)) for own in self.locals}
        weights = self._told_once / (self.strengths * np.array([sizes[id(own)] or 1.0 for own in self.locals]))
        found = np.zeros(self.glue.count)
        for weight, own in zip(weights, self.glue.owned, strict=True):
            found[own] += weight**2
        return np.sqrt(found)

    @cached_property
    def _sum_weights(self) -> FloatArray:
        """√w of the sums, which are integrals over several parts, (s,)."""
        shares = [row @ own.upper for row, own in zip(self.integrands, self.locals, strict=True)]
        return 1.0 / np.linalg.norm(np.hstack(shares), axis=1)

    def _across(self, y: FloatArray, incoming: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What goes out on one side of a seam and does not come in on the other, (count, B), and the sums, (s, B)."""
        total = np.zeros((self.glue.count + self.glue.sums, incoming.shape[1]))
        for own, out in zip(self.glue.numbers, self._outgoing(y), strict=True):
            total[own] += out
        across, sums = np.split(total, [self.glue.count])
        return across if self.glue.partner is None else incoming + across[self.glue.partner], sums

    def _unbalanced(self, y: FloatArray, incoming: FloatArray, h: FloatArray) -> FloatArray:
        """What is not satisfied of the rows of all seams, and of the integrals, weighted, (n, B)."""
        across, sums = self._across(y, incoming)
        seams = self._seam_weights[:, None] * across
        return np.concatenate([seams, self._sum_weights[:, None] * (sums - self._sum_data(h))])

    @property
    def _told_once(self) -> float:
        """Of what both sides of a seam share both parts tell."""
        return float(np.sqrt(0.5)) if self.glue.partner is None else 1.0

    def leaks(self, h: FloatArray) -> FloatArray:
        """The rms of what is not balanced on the seams of each part, in units of u: in units of its flux, (P, B)."""
        y, incoming = self._solved(h)
        across, _ = self._across(y, incoming)
        found = [norms(across[k]) / s for k, s in zip(self.glue.owned, self.strengths, strict=True)]
        return self._told_once * np.stack(found)

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        what = f"{len(e)} points with a matrix of {len(e)} × {self.number}"
        check_memory("x", len(e) * (self.number + 2 * self.glue.count), what, "ask for fewer points at once")
        pulls = [e[:, self._space.span(k)].T for k in range(len(self.locals))]
        incoming = np.zeros((self.glue.count, len(e)))
        for own, mine, k in zip(self.locals, pulls, self.glue.owned, strict=True):
            incoming[k] += own.from_trace.T @ mine[own.split[1] :]
        outgoing = balanced_transposed(self.root, incoming, self.glue)
        found = np.zeros((len(e), self.number))
        parts = zip(
            self.locals, self.part_rows, self.roots, pulls, outgoing, self.strengths, self.integrands, strict=True
        )
        for own, rows, roots, mine, out, s, integrand in parts:
            flux, share = out[: len(own.out)], out[len(own.out) :]
            y = mine + own.out.T @ (s * flux) + integrand.T @ share
            found[:, rows.numbers] = (roots[:, None] * own.spread(y)).T
        first = len(self.locals[0].out)
        found[:, self.integrals] -= outgoing[0][first : first + len(self.integrals)].T
        return (found,)

    @property
    def graded(self) -> bool:
        """Are there parts at places where u is singular, in one material?"""
        return self._space.mosaic.pieces.parts is None and bool(np.any(self._space.mosaic.singular))

    def told_at(self, x: FloatArray) -> BoolArray:
        return self._told[self._space.mosaic.locate(x)]

    def leverages(self, rows: Functionals) -> FloatArray:
        """The diagonal of S in P û = S h, (N,), with what comes in on seams held fixed: S itself is far too large."""
        found = np.zeros(self.number)
        for own, places in zip(self.locals, self.part_rows, strict=True):
            found[places.numbers] = own.leverages
        return found

    def _refusal(self, done: str) -> KernopError:
        got = f"an operator made of parts, which cannot be {done}: its points are those that its cells need"
        return fail(ArgumentError, "T", got, "learn again, or use method=ko.Subspace()")

    def _unknown(self) -> KernopError:
        remedy = "use method=ko.Full(), or ko.Subspace() with noise="
        return fail(ArgumentError, "T", "an operator made of parts, which has no likelihood", remedy)

    def posterior(self, left: Functionals) -> Posterior:
        remedy = "use method=ko.Full(), or ko.Subspace() with noise="
        raise fail(ArgumentError, "T", "an operator made of parts, which has no prior", remedy)
