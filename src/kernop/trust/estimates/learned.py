"""An operator as estimates see it: where errors are compared, and the fields whose errors are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.spatial import KDTree

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.collocation.ansatz import Ansatz, collocate, condition_layouts
from kernop.collocation.functionals import Functionals, Layout
from kernop.collocation.probes import Probes, applied, probes_of
from kernop.collocation.sampling import can_be_fresh, sample, top_dimension
from kernop.collocation.units import frame_of
from kernop.geometry import Points, Region
from kernop.geometry.cloud import CloudRegion
from kernop.geometry.sequences import shares
from kernop.language.problem import Problem
from kernop.methods import Combination, Factorisation
from kernop.methods.parts.space import PartsSpace
from kernop.trust.diagnosis import Diagnosis
from kernop.trust.estimates.finer import finer_parts

#: The richer operator has so many centres for each function of the expansion, at least and at most so many …
RICHER, FEWEST_CENTRES, MOST_CENTRES = 2, 20, 1500
#: … or as many as the expansion, if that is one space, up to this: one with fewer does not resolve its errors.
AS_MANY = 3000
#: It has this many points for each centre.
POINTS_PER_CENTRE = 3
#: Fields are probed at so many length scales, from twice the domain to half of the spacing of the centres.
SCALES = 10
#: Points inside at which errors are compared.
PLACES = 2000
#: Of the fresh points: no seed that a user is likely to give to `learn`.
SEED = 604_189


@dataclass(frozen=True, eq=False)
class Places:
    """Where functions are compared: ``within`` points inside, uniform by measure, then points of the boundaries.

    The functionals are all components of all unknowns there; ``owners`` tells the unknown of each block. The first
    ``free`` points are those where u is not prescribed.
    """

    functionals: Functionals
    within: int
    owners: tuple[int, ...]
    free: int

    def sizes(self, values: FloatArray, free: bool = False) -> FloatArray:
        """The sizes of B functions with these values (rows, B) at the places, for each of U unknowns: (2, U, B).

        First the root mean square over the domain, then the largest modulus there and on boundaries, or on those
        boundaries alone where u is not prescribed; the modulus of a vector or a complex number is that of all its
        parts.
        """
        moduli, last = self._moduli(values), self.free if free else None
        return np.stack([[rms(m[: self.within]) for m in moduli], [np.max(m[:last], axis=0) for m in moduli]])

    def at_most(self, values: FloatArray) -> FloatArray:
        """Root mean squares over the domain as in `sizes`, (U, B), of which the places are a sample: that of the mean
        square and twice its standard error. What is large in a corner alone is hit by few of them.
        """
        return np.array([rms_at_most(m[: self.within]) for m in self._moduli(values)])

    def largest(self, values: FloatArray) -> FloatArray:
        """The largest moduli at all places, (U, B); 0 if there are none."""
        return np.array([np.max(m, axis=0, initial=0.0) for m in self._moduli(values)])

    def _moduli(self, values: FloatArray) -> list[FloatArray]:
        """Of each unknown, (places, B)."""
        parts = values.reshape(len(self.owners), -1, values.shape[1])
        own = [parts[[k for k, owner in enumerate(self.owners) if owner == u]] for u in range(1 + max(self.owners))]
        return [np.abs(part[0]) if len(part) == 1 else np.linalg.norm(part, axis=0) for part in own]


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

    @cached_property
    def named_layouts(self) -> dict[str, Layout]:
        """How the values of each condition stand in rows, by its name."""
        return dict(zip(self.problem.names, self.layouts, strict=True))

    @property
    def ansatz(self) -> Ansatz:
        """How the unknowns are written in the functions of the space."""
        return self.factorisation.expansion.ansatz

    @property
    def test_points(self) -> dict[str, Points]:
        """Points of each condition, by name, that the operator did not learn from."""
        if not can_be_fresh(self.problem):
            remedy = "leave them out: u.error_estimate() then uses the points of T, one left out at a time"
            raise fail(ArgumentError, "test_points", "a domain known only by its points, which has no others", remedy)
        finer = finer_parts(self.problem, self.factorisation, lambda: self.collocated, self.ansatz, SEED)
        if finer is not None:
            return dict(finer.mosaic.points)
        most = max(layout.parts for layout in self.layouts)  # rows at a point
        number = POINTS_PER_CENTRE * richer(self.factorisation) * self.ansatz.width // most
        return sample(self.problem, max(number, len(self.problem.conditions)), "halton", SEED)


def rms(values: FloatArray) -> FloatArray:
    """Root mean squares of columns: (n, B) ↦ (B,). Each is first brought near 1, lest squares leave the range."""
    _, power = np.frexp(np.max(np.abs(values), axis=0, initial=0.0))
    return np.ldexp(np.sqrt(np.mean(np.square(np.ldexp(values, -power)), axis=0)), power)


def rms_at_most(moduli: FloatArray) -> FloatArray:
    """√(mean of squares + twice its standard error), (n, B) ↦ (B,)."""
    size = rms(moduli)
    parts = np.square(np.divide(moduli, size, out=np.zeros_like(moduli), where=size > 0.0))
    return size * np.sqrt(1.0 + 2.0 * np.std(parts, axis=0) / np.sqrt(len(parts)))


def richer(factorisation: Factorisation) -> int:
    """The number of centres of the richer operator, for each component."""
    components = factorisation.expansion.ansatz.width
    each, smooth = len(factorisation.expansion) // components, not isinstance(factorisation.expansion, PartsSpace)
    most = max(MOST_CENTRES // components, min(each, AS_MANY // components) if smooth else 0)
    return min(most, max(FEWEST_CENTRES, RICHER * each))


def probing_fields(operator: Learned, functionals: Functionals) -> Probes:
    """Random fields from well resolved to not resolved, and the free waves of the equations."""
    frame = frame_of(operator.problem)
    count = len(operator.factorisation.expansion) / operator.ansatz.width
    spacing = float(np.prod((frame.high - frame.low) / frame.units) / count) ** (1.0 / operator.problem.dim)
    lengths = tuple(map(float, np.geomspace(2.0, 0.5 * min(1.0, spacing), SCALES)))
    return probes_of(functionals.blocks, frame, SEED, lengths)


def probed(operator: Learned, functionals: Functionals) -> tuple[Probes, Combination]:
    """The probing fields, and the operator's answers to them."""
    probes = probing_fields(operator, functionals)
    return probes, operator.factorisation.answer(applied(probes, operator.collocated)).u


def comparison_places(operator: Learned, prescribed: Sequence[Region]) -> Places:
    """Points inside and on the boundaries, first of those where u is not prescribed; those of a cloud, and between
    them, if there are no others.
    """
    top = top_dimension(operator.problem)
    regions = list({id(c.on): c.on for c in operator.problem.conditions if not c.integral}.values())
    inner = [region for region in regions if region.intrinsic_dim == top]
    known = {id(region) for region in prescribed}
    rims = sorted((region for region in regions if region.intrinsic_dim < top), key=lambda own: id(own) in known)
    counts = [*shares(PLACES, [region.measure for region in inner]), *[PLACES // 4] * len(rims)]
    clouds = [region.points.x for region in inner if isinstance(region, CloudRegion)]
    among = np.concatenate([*clouds, np.empty((0, operator.problem.dim))])
    drawn = [_sampled(region, count, among) for region, count in zip(inner + rims, counts, strict=True)]
    found = operator.ansatz.evaluations(np.concatenate(drawn))
    owners = [index for index, (_, size) in enumerate(operator.ansatz.unknowns.sizes) for _ in range(size)]
    within = sum(map(len, drawn[: len(inner)]))
    free = within + sum(len(x) for x, rim in zip(drawn[len(inner) :], rims, strict=True) if id(rim) not in known)
    return Places(found, within, tuple(owners * (len(found.blocks) // len(owners))), free)


def _sampled(region: Region, count: int, among: FloatArray) -> FloatArray:
    """Points of a region, (n, d); of a cloud, whose points were fitted, also those halfway to their neighbours.

    Arguments:
        among: where neighbours are sought, (m, d). The nearest are where the cloud is dense; the 2d-th are as far as
            the gaps of a random cloud.
    """
    if not isinstance(region, CloudRegion):
        return region.sample(count, seed=SEED).x
    x = region.points.x[np.random.default_rng(SEED).permutation(len(region.points))[:count]]
    near = np.asarray(KDTree(among).query(x, k=min(len(among), 1 + 2 * x.shape[1]))[1]).reshape(len(x), -1)[:, -1]
    return np.concatenate([x, 0.5 * (x + among[near])])
