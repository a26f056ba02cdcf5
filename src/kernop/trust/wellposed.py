"""Is the problem well-posed? The largest solution per unit of data, and which function that is.

In natural units a condition of smooth data has size 1: ‖h‖² = Σ_k mean(h_k²) / s_k², where s_k is the typical size of
P_k u for a smooth u of size 1. With rows weighted so, A = Q R, the functions Φ R⁻¹ are orthonormal in the data, and

    σ = ‖Φ_D R⁻¹‖₂ / √M,     values at M points of the domain D,

is the largest ‖u‖ over D of any u in the space whose data have norm 1. For well-posed problems σ is small and hardly
grows with the space. Where the conditions leave a function undetermined it grows without limit, and the leading
singular vector is that function. It is measured in a space of its own, of a size that is always the same, so that it
belongs to the problem, not to the method, its weights or its penalty; and, where flow dominates, with as much diffusion
as that space resolves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.basics.linalg import norms
from kernop.basics.stored import Extended, stored
from kernop.collocation.ansatz import PLAIN, Ansatz
from kernop.collocation.functionals import Functionals
from kernop.collocation.probes import Probes, random_probes
from kernop.collocation.units import Frame
from kernop.methods import Setting, Subspace
from kernop.trust.flows import diffused, extrapolated

#: Functions of the space for d = 1, 2, 3, …; rows for each: at the first look at most, at the second, and at least.
FUNCTIONS, ROWS, FEWEST_ROWS = (60, 250, 400, 800), (8, 6), 2
#: A wave that the space resolves only just can look like a resonance, few points inside a thin domain like a missing
#: condition; and what is hardly seen shows more in a larger space. So numbers beyond the first are measured again with
#: this many times more functions, at points of their own, and that decides.
LOOK_AGAIN, SECOND_LOOK = 100.0, 1.5
#: Beyond this number a problem is called ill-posed (measured: docs/decisions.md) …
LIMIT = 500.0
#: … and beyond this one if the number does not grow with the space by more than a factor, as where a small parameter
#: makes it large: nearly incompressible materials, frequencies near a resonance. Four axes are too many to see growth.
STEADY_LIMIT, STEADY, MOST_AXES = 5000.0, 2.0, 3
#: Steps of the power iteration: σ is then known to a few per cent, which is enough for a number that spans decades.
STEPS = 30
#: The fields that tell the natural units: their length scales, and waves in each.
LENGTHS, WAVES = (1.0, 0.5), 6
#: Points of a condition at which they are looked at.
SOME = 128
#: The unseen function is constant, or linear, if its deviation from that is below this part of its size …
NEARLY = 0.1
#: … and concentrated if its spread along an axis is below this part of the side (evenly spread: 0.29).
NARROW = 0.16
#: With as much diffusion as a space resolves, a number up to the first tells that u is determined; others are measured
#: again with so many times more functions.
DETERMINED, DENSER = 4.0, 2.0
#: What the conditions do not see then.
FLOWS = "what is inside: flow leaves the domain on all sides, and nothing but diffusion against it reaches the boundary"


@stored("stability")
@dataclass(frozen=True)
class Stability:
    """How well the conditions determine u.

    Attributes:
        number: the largest ‖u‖ per unit of data, in natural units.
        unseen: the function for which it is attained, in words.
        limit: the number beyond which the problem is called ill-posed.
    """

    number: Extended
    unseen: str
    limit: float = LIMIT

    @property
    def ill_posed(self) -> bool:
        """Is the number too large to trust any solution?"""
        return not self.number <= self.limit

    def __str__(self) -> str:
        if not self.ill_posed:
            return f"stability {self.number:.1e}: the conditions determine u"
        return (
            f"the problem is ill-posed, or nearly so: data of size 1 allow a u of size {self.number:.1e}. "
            f"What the conditions hardly see is {self.unseen}"
        )


def stability(
    rows: Functionals,
    x: FloatArray,
    frame: Frame,
    ansatz: Ansatz = PLAIN,
    fresh: Callable[[int], Functionals] | None = None,
) -> Stability:
    """How well the conditions of a problem determine its unknowns.

    Arguments:
        rows: its conditions at points, collocated with the ansatz.
        x: points of the domain, (M, d).
        frame: the box around it.
        ansatz: how the unknowns are made of the functions of the space; sizes are those of u_k / s_k.
        fresh: gives about so many rows at other points, half of them inside; None if there are no others.
    """
    # In a thin box functions must be thin too: every side counts as one.
    frame = replace(frame, units=np.where(frame.high > frame.low, frame.high - frame.low, frame.units))
    look = _Look(replace(ansatz, scales=()).evaluations(x), frame, ansatz)
    count = FUNCTIONS[min(rows.dim, len(FUNCTIONS)) - 1]
    found = _looked_at(look, rows, count, fresh)
    if found.ill_posed or ansatz.envelope is not None:  # P ∘ ρ has terms of first order that are no flow
        return found
    flowing = look.flowing(rows, count, fresh or (lambda number: rows))
    return flowing if flowing is not None and flowing.ill_posed else found


def _looked_at(look: _Look, rows: Functionals, count: int, fresh: Callable[[int], Functionals] | None) -> Stability:
    """What is seen in a space of so many functions, or in a larger one where that is doubtful."""
    ansatz = look.ansatz
    first = look.at(rows.thinned(ROWS[0] * ansatz.width * count), count)
    more = round(SECOND_LOOK * count)
    if first.number <= LOOK_AGAIN or (fresh is None and len(rows) < FEWEST_ROWS * ansatz.width * more):
        return first
    again = look.at(rows if fresh is None else fresh(ROWS[1] * ansatz.width * more), more)
    steady = again.number < STEADY * first.number and rows.dim <= MOST_AXES
    return replace(again, limit=STEADY_LIMIT) if steady else again


@dataclass(frozen=True, eq=False)
class _Look:
    """Where functions are compared, the box around, and how the unknowns are written."""

    inside: Functionals
    frame: Frame
    ansatz: Ansatz

    def at(self, rows: Functionals, count: int) -> Stability:
        """In a space of at most ``count`` functions for each component, from these rows."""
        components = self.ansatz.width
        count = max(1, min(count, len(rows) // (FEWEST_ROWS * components)))
        weights = natural_weights(rows, self.inside, self.frame)
        setting = Setting(rows=rows, frame=self.frame, weights=weights, ansatz=self.ansatz)
        space = Subspace(count, basis="translates").factorise(setting)
        points = len(self.inside.blocks[0])
        values = space.half_solve(space.expansion.matrix(self.inside).T).T / np.sqrt(points)
        number, function = _leading(values)
        return Stability(number, self._words(function) if number > LIMIT else "nothing of note")

    def flowing(self, rows: Functionals, count: int, fresh: Callable[[int], Functionals]) -> Stability | None:
        """With as much diffusion as a space resolves; None where flow does not dominate, or u is determined then."""
        spacing = (self.frame.high - self.frame.low) / count ** (1.0 / rows.dim)
        some, factor = diffused(rows.thinned(ROWS[0] * count), spacing)
        first = self.at(some, count) if factor > 1.0 else None
        if first is None or first.number <= DETERMINED:
            return None
        finer, more = DENSER ** (1.0 / rows.dim), round(DENSER * count)
        second = self.at(diffused(fresh(ROWS[1] * more), spacing / finer)[0], more)
        return Stability(extrapolated(first.number, second.number, finer, factor), FLOWS)

    def _words(self, function: FloatArray) -> str:
        """The component in which the function is largest, in words."""
        parts = function.reshape(len(self.inside.blocks), -1)
        worst = int(np.argmax(np.sum(np.square(parts), axis=1)))
        words = _in_words(self.inside.blocks[0].x, parts[worst], self.frame)
        unknowns = self.ansatz.unknowns
        if unknowns.single is not None:
            return words
        owner = next(name for name, own in unknowns.slices.items() if worst % unknowns.total in range(own.stop))
        return f"in {owner!r} {words}"


def natural_weights(rows: Functionals, inside: Functionals, frame: Frame) -> tuple[float, ...]:
    """1 / (n_k s_k²) for each condition, with s_k the median of rms P_k u / rms u over smooth fields."""
    waves = random_probes(frame, 0, LENGTHS)
    fields = Probes(waves.k[:, :WAVES], waves.b[:, :WAVES])
    size = _rms(fields, inside)
    sizes = [np.median(_rms(fields, own) / size) for own in rows.conditions]
    return tuple(float(1.0 / (len(own) * max(s, 1e-100) ** 2)) for own, s in zip(rows.conditions, sizes, strict=True))


def _rms(fields: Probes, rows: Functionals) -> FloatArray:
    """The root mean square of P u over some of the points, for each field."""
    some = [block[:: -(-len(block) // SOME)] for block in rows.blocks]
    values = np.concatenate([fields.apply(block) for block in some])
    return norms(values) / np.sqrt(len(values))


def _leading(a: FloatArray) -> tuple[float, FloatArray]:
    """The largest singular value of a (m, n), and its left vector (m,), by power iteration."""
    v = np.random.default_rng(0).standard_normal(a.shape[1])
    for _ in range(STEPS):
        v = a.T @ (a @ v)
        v /= np.linalg.norm(v)
    left = a @ v
    size = float(np.linalg.norm(left))
    return size, left / size


def _in_words(x: FloatArray, values: FloatArray, frame: Frame) -> str:
    """What a function with these values (M,) at x (M, d) looks like, and what is likely to be missing."""
    if np.std(values) < NEARLY * np.abs(np.mean(values)):
        return "nearly constant: add ko.Mean or a Dirichlet part"
    affine = np.column_stack([np.ones(len(x)), (x - frame.low) / frame.units])
    fitted = affine @ np.linalg.lstsq(affine, values, rcond=None)[0]
    if np.linalg.norm(values - fitted) < NEARLY * np.linalg.norm(values):
        return "nearly linear in x: a value or a slope is missing somewhere on the boundary"
    mass = np.square(values) / np.sum(np.square(values))
    middle = mass @ x
    spread = np.sqrt(mass @ np.square(x - middle)) / np.where(frame.high > frame.low, frame.high - frame.low, 1.0)
    if np.min(spread) < NARROW:
        axis = int(np.argmin(spread))
        place = np.array2string(x[np.argmax(np.abs(values))], precision=2)
        return (
            f"concentrated near x[{axis}] = {middle[axis]:.3g} (largest at {place}): "
            "is a condition missing there, or does time run backward?"
        )
    sign = "changes sign across the domain" if np.min(values) * np.max(values) < 0.0 else "is spread over the domain"
    return (
        f"a function that {sign}, as at a resonance or where a condition is missing: "
        "change the frequency, or add what determines u"
    )
