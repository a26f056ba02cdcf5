"""How residuals become errors: learned once by each operator, from a richer one and from probing fields.

The error e = u − û solves the same problem with the residuals as data, P_k e = h_k − P_k û = r_k. A richer operator T'
(twice the centres, its own points) therefore answers ê = T' r, and what it leaves over, r − P ê, is turned into an
error by a constant C: ‖e‖ ≤ ‖ê‖ + ‖e − ê‖ and ‖e − ê‖ ≈ C ‖r − P ê‖, where C is a ratio that few of the fields
exceed whose error is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.frozen import Kept, frozen
from kernop.collocation.ansatz import Ansatz, collocate, condition_layouts
from kernop.collocation.functionals import Functionals, Layout
from kernop.collocation.probes import Probes, probes_of
from kernop.collocation.sampling import can_be_fresh, sample, top_dimension
from kernop.collocation.units import frame_of
from kernop.geometry import Points
from kernop.geometry.cloud import CloudRegion
from kernop.geometry.points import concatenate
from kernop.geometry.sequences import shares
from kernop.language.problem import Problem
from kernop.methods import Combination, Factorisation, Setting, Subspace
from kernop.methods.weights import repeated
from kernop.trust.diagnosis import Diagnosis
from kernop.trust.estimates.residuals import LeaveOneOut

#: Where the residuals were computed.
Source = Literal["fresh points", "leave-one-out"]

#: The richer operator has so many centres for each function of the expansion, at least and at most so many …
RICHER, FEWEST_CENTRES, MOST_CENTRES = 2, 20, 1500
#: … with this many points for each.
POINTS_PER_CENTRE = 3
#: Fields are probed at so many length scales, from twice the domain to half of the spacing of the centres.
SCALES = 10
#: Points inside at which errors are compared.
PLACES = 2000
#: Of the fresh points: no seed that a user is likely to give to `learn`.
SEED = 604_189
#: The part of the probes whose ratio of error and residual is at most the constant.
QUANTILE = 0.9
#: Without a richer operator: the part of the probes, those with the most similar residuals, that rules.
SIMILAR = 0.3


@dataclass(frozen=True)
class Sizes:
    """Root mean square over the domain, and the largest modulus there and on boundaries, of B functions.

    Both are (U, B), a row for each of U unknowns: those of a vector or a complex number are of its modulus.
    """

    l2: FloatArray
    linf: FloatArray

    def paired(self) -> Sizes:
        """The sizes of complex functions whose real and imaginary parts are the halves of the columns."""
        return Sizes(*(np.hypot(*np.split(values, 2, axis=1)) for values in (self.l2, self.linf)))


@dataclass(frozen=True)
class Errors:
    """‖ê‖, what a stability constant says of ‖e − ê‖, and ‖û + ê‖, which is as near to ‖u‖ as we can tell.

    Without ê, the first is what a stability constant says of ‖e‖, the second is 0, and the last is ‖û‖.
    """

    guess: Sizes
    rest: Sizes
    solution: Sizes


@dataclass(frozen=True, eq=False)
class Places:
    """Where functions are compared: ``within`` points inside, uniform by measure, then points of the boundaries.

    The functionals are all components of all unknowns there; ``owners`` tells the unknown of each block.
    """

    functionals: Functionals
    within: int
    owners: tuple[int, ...]

    def sizes(self, values: FloatArray) -> Sizes:
        """Of functions with these values (rows, B) at the places."""
        parts = values.reshape(len(self.owners), -1, values.shape[1])
        own = [parts[[k for k, owner in enumerate(self.owners) if owner == u]] for u in range(1 + max(self.owners))]
        moduli = [np.abs(part[0]) if len(part) == 1 else np.linalg.norm(part, axis=0) for part in own]
        return Sizes(
            np.stack([rms(modulus[: self.within]) for modulus in moduli]),
            np.stack([np.max(modulus, axis=0) for modulus in moduli]),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Learned:
    """An operator as its solutions and the estimates see it.

    Attributes:
        noise: the standard deviation of errors in the data that was stated, by name; None if none was.
        diagnosis: what is doubtful whatever the data.
        functionals: the conditions at the points; None if they are not kept.
    """

    problem: Problem
    points: Mapping[str, Points]
    factorisation: Factorisation
    noise: Mapping[str, float] | None = None
    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    functionals: Functionals | None = None

    @property
    def collocated(self) -> Functionals:
        """The conditions at the points, as functionals."""
        if self.functionals is not None:
            return self.functionals
        return collocate(self.problem, self.points, self.ansatz)

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """How the values of each condition stand in rows."""
        return condition_layouts(self.problem, self.ansatz) if self.functionals is None else self.functionals.layouts

    @property
    def ansatz(self) -> Ansatz:
        """How the unknowns are written."""
        return self.factorisation.expansion.ansatz

    @property
    def test_points(self) -> dict[str, Points]:
        """Points of each condition, by name, that the operator did not learn from."""
        if not can_be_fresh(self.problem):
            remedy = "leave them out: u.error_estimate() then uses the points of T, one left out at a time"
            raise fail(ArgumentError, "test_points", "a domain known only by its points, which has no others", remedy)
        number = POINTS_PER_CENTRE * _richer(self.factorisation) * self.ansatz.count // _rows_per_point(self)
        return sample(self.problem, max(number, len(self.problem.conditions)), "halton", SEED)


def rms(values: FloatArray) -> FloatArray:
    """Root mean squares of columns: (n, B) ↦ (B,). Each is first brought near 1, lest squares leave the range."""
    _, power = np.frexp(np.max(np.abs(values), axis=0, initial=0.0))
    return np.ldexp(np.sqrt(np.mean(np.square(np.ldexp(values, -power)), axis=0)), power)


def _richer(factorisation: Factorisation) -> int:
    """The number of centres of the richer operator, for each component."""
    components = factorisation.expansion.ansatz.count
    each = RICHER * len(factorisation.expansion.functionals) // components
    return min(MOST_CENTRES // components, max(FEWEST_CENTRES, each))


class Fresh:
    """Errors from residuals at fresh points, by a richer operator.

    Attributes:
        points: the fresh points, by name.
        functionals: the conditions there.
        places: where errors are compared.
        centres: of the richer operator.
        answers: the richer operator, which answers data at the fresh points.
        constants: C in both norms, for the residuals that it leaves over, in its own weights.
    """

    kind: Source = "fresh points"

    def __init__(self, operator: Learned) -> None:
        problem, ansatz = operator.problem, operator.ansatz
        self.points = operator.test_points
        self.functionals = collocate(problem, self.points, ansatz)
        self.places = places(operator)
        self.centres = _richer(operator.factorisation)
        setting = Setting(rows=self.functionals, frame=frame_of(problem), ansatz=ansatz)
        self._richer = self.answers = Subspace(self.centres).factorise(setting)
        self._roots = np.sqrt(repeated(self._richer.weights, self.functionals))
        probes = calibration(operator, self.functionals)
        u = solved(probes, operator)
        truth = applied(probes, self.places.functionals) - u.apply(self.places.functionals)
        guess, left = self._split(applied(probes, self.functionals) - u.apply(self.functionals))
        missed = self.places.sizes(truth - guess)
        self.constants = (_upper(missed.l2, left), _upper(missed.linf, left))
        frozen(vars(self))

    def errors(self, residuals: FloatArray, found: FloatArray) -> Errors:
        """Of solutions û with values ``found`` at the places, (m, B), and residuals at the fresh points, (n, B)."""
        guess, left = self._split(residuals)
        rest = Sizes(np.outer(self.constants[0], left), np.outer(self.constants[1], left))
        return Errors(self.places.sizes(guess), rest, self.places.sizes(found + guess))

    def _split(self, residuals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """ê at the places, (n, B), and the size of the residuals that it leaves over, (B,)."""
        correction = self._richer.answer(residuals).u
        left = residuals - correction.apply(self.functionals)
        return correction.apply(self.places.functionals), rms(self._roots[:, None] * left)


class LeftOut:
    """Errors from leave-one-out residuals at the points of the operator, by a constant alone.

    The ratio of error and residual is taken from the probes whose residuals, relative to û, are most similar: what is
    resolved and what is not have different ones.
    """

    kind: Source = "leave-one-out"
    centres = 0

    def __init__(self, operator: Learned) -> None:
        factorisation = operator.factorisation
        self.points, self.answers = operator.points, factorisation
        self.functionals = operator.collocated
        self.places = places(operator)
        self.residuals = LeaveOneOut(factorisation, self.functionals)
        self._roots = np.sqrt(repeated(factorisation.weights, self.functionals))
        probes = calibration(operator, self.functionals)
        h = applied(probes, self.functionals)
        u = factorisation.answer(h).u
        found = u.apply(self.places.functionals)
        truth = self.places.sizes(applied(probes, self.places.functionals) - found)
        size = rms(self._roots[:, None] * self.residuals(u, h))
        self._relative = size / self.places.sizes(found).l2
        self._ratios = (truth.l2 / size, truth.linf / size)  # (U, probes)
        self.constants = (_upper(truth.l2, size), _upper(truth.linf, size))
        frozen(vars(self))

    def errors(self, residuals: FloatArray, found: FloatArray) -> Errors:
        """Of solutions û with values ``found`` at the places, (m, B), and leave-one-out residuals (N, B)."""
        size, solution = rms(self._roots[:, None] * residuals), self.places.sizes(found)
        c2, cinf = (self._constant(ratios, size, solution.l2) for ratios in self._ratios)
        return Errors(Sizes(c2 * size, cinf * size), Sizes(0.0 * size, 0.0 * size), solution)

    def _constant(self, ratios: FloatArray, size: FloatArray, found: FloatArray) -> FloatArray:
        """The largest ratio among similar probes for each unknown, (U, B)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = np.abs(np.log(self._relative[:, :, None]) - np.nan_to_num(np.log(size / found))[:, None, :])
        nearest = np.argsort(apart, axis=1)[:, : max(1, round(SIMILAR * ratios.shape[1]))]
        return np.max(np.take_along_axis(ratios[:, :, None], nearest, axis=1), axis=1)


_fresh: Kept[Factorisation, Fresh] = Kept()
_left_out: Kept[Factorisation, LeftOut] = Kept()


def fresh(operator: Learned) -> Fresh:
    """What an operator knows about errors from fresh residuals; learned when it is first asked for."""
    return _fresh.of(operator.factorisation, lambda: Fresh(operator))


def left_out(operator: Learned) -> LeftOut:
    """The same from leave-one-out residuals."""
    return _left_out.of(operator.factorisation, lambda: LeftOut(operator))


def calibration(operator: Learned, functionals: Functionals) -> Probes:
    """Random fields from well resolved to not resolved, and the free waves of the equations."""
    frame = frame_of(operator.problem)
    count = len(operator.factorisation.expansion.functionals) / operator.ansatz.count
    spacing = float(np.prod((frame.high - frame.low) / frame.units) / count) ** (1.0 / operator.problem.dim)
    lengths = tuple(map(float, np.geomspace(2.0, 0.5 * min(1.0, spacing), SCALES)))
    return probes_of(functionals.blocks, frame, SEED, lengths)


def solved(probes: Probes, operator: Learned) -> Combination:
    """The operator's answers to the probes."""
    return operator.factorisation.answer(applied(probes, operator.collocated)).u


def applied(probes: Probes, functionals: Functionals) -> FloatArray:
    """P_i u for each probe, (n, B)."""
    return np.concatenate([probes.apply(block) for block in functionals.blocks])


def places(operator: Learned) -> Places:
    """Points inside and on the boundaries; those of a cloud if there are no others."""
    top = top_dimension(operator.problem)
    regions = list({id(c.on): c.on for c in operator.problem.conditions if not c.integral}.values())
    inner = [region for region in regions if region.intrinsic_dim == top]
    rims = [region for region in regions if region.intrinsic_dim < top]
    counts = shares(PLACES, [region.measure for region in inner])
    limits = [round(region.measure) if isinstance(region, CloudRegion) else PLACES for region in inner + rims]
    within = [r.sample(min(n, most), seed=SEED) for r, n, most in zip(inner, counts, limits, strict=False)]
    around = [r.sample(min(PLACES // 4, m), seed=SEED) for r, m in zip(rims, limits[len(inner) :], strict=True)]
    coordinates = concatenate([Points(part.x) for part in within + around])
    unknowns = operator.ansatz.unknowns
    owners = [index for index, (_, size) in enumerate(unknowns.sizes) for _ in range(size)]
    found = operator.ansatz.evaluations(coordinates.x)
    return Places(found, sum(map(len, within)), tuple(owners * (len(found.blocks) // len(owners))))


def _upper(missed: FloatArray, left: FloatArray) -> FloatArray:
    """The ratio that few probes exceed, for each unknown, (U,)."""
    return np.quantile(np.divide(missed, left, out=np.zeros_like(missed), where=left > 0.0), QUANTILE, axis=1)


def _rows_per_point(operator: Learned) -> int:
    """The number of rows of the condition that has most of them at each point."""
    return max(layout.parts for layout in operator.layouts)
