"""Data that are combined: those of u + v, of 2 u, and of one input of a batch."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, NumberArray, fail
from kernop.collocation.data import Input, InputValue, concrete, known_everywhere, values_at
from kernop.collocation.functionals import Layout
from kernop.language.conditions import Condition
from kernop.language.functions import Function
from kernop.trust.estimates import Learned

#: Factors, and the data by name that they multiply.
Terms = Sequence[tuple[complex, Input]]


@dataclass(frozen=True, eq=False)
class SumOfFunctions:
    """The function x ↦ Σ a_i h_i(x) for data h_i that are functions, or numbers.

    Arguments:
        terms: the factors and the data.
        ndim: the number of axes of the values of one input; with one more they are of a batch.
    """

    terms: Sequence[tuple[complex, InputValue]]
    ndim: int

    def __call__(self, x: FloatArray) -> NumberArray:
        """Its values at x (n, d), as those of data."""
        return _added([(a, h(x) if callable(h) else h) for a, h in self.terms], self.ndim)


@dataclass(frozen=True, eq=False)
class Picked:
    """One of B functions that are data: x ↦ h(x)[…, b]; h itself if it is the same for all.

    Arguments:
        whole: the function, with values (n, …, B).
        number: b.
        ndim: the number of axes of the values of one input.
    """

    whole: Function
    number: int
    ndim: int

    def __call__(self, x: FloatArray) -> InputValue:
        """Its values at x (n, d), as those of data."""
        return _picked(self.whole(x), self.number, self.ndim)


def combined(learned: Learned, terms: Terms) -> dict[str, InputValue]:
    """Σ a_i h_i of the data of every condition, by name: functions where all are known everywhere, else arrays."""
    return {
        condition.name: _combined(learned, condition, layout, [(a, own[condition.name]) for a, own in terms])
        for condition, layout in zip(learned.problem.conditions, learned.layouts, strict=True)
    }


def _combined(
    learned: Learned, condition: Condition, layout: Layout, terms: list[tuple[complex, InputValue]]
) -> InputValue:
    everywhere = all(known_everywhere(condition, h, layout) for _, h in terms)
    if everywhere and any(callable(h) for _, h in terms):
        return SumOfFunctions(terms, layout.ndim)
    if not everywhere:
        points = learned.points[condition.name]
        terms = [(a, concrete(condition.name, values_at(condition, h, points, layout))) for a, h in terms]
    return _added(terms, layout.ndim)


def combined_slabs(learned: Learned, terms: Terms) -> dict[str, InputValue]:
    """The same for data of slabs of time, whose arrays have an axis for the slabs first."""
    found = dict[str, InputValue]()
    for name, layout in learned.named_layouts.items():
        own = [(a, data[name]) for a, data in terms]
        if not any(callable(h) for _, h in own):
            found[name] = _added(own, layout.ndim + 1)
            continue
        if any(np.ndim(h) > layout.ndim for _, h in own if not callable(h)):
            got = f"{name!r} as a function, and as an array"
            raise fail(ArgumentError, "u + v", got, "march with the combined data: T.march(steps, …)")
        found[name] = SumOfFunctions(own, layout.ndim)
    return found


def _added(terms: Sequence[tuple[complex, InputValue]], ndim: int) -> NumberArray:
    """Σ a_i v_i of values of one input or of batches; numbers stand for constants."""
    parts = [(a, np.asarray(v)) for a, v in terms]
    batch = any(v.ndim > ndim for _, v in parts)
    return np.asarray(sum(a * (v[..., None] if batch and v.ndim == ndim else v) for a, v in parts))


def picked(learned: Learned, data: Input, number: int, sliced: Collection[str] = ()) -> dict[str, InputValue]:
    """The data of one input of a batch, by name; arrays of some names have an axis for slabs of time first."""
    axes = {name: layout.ndim for name, layout in learned.named_layouts.items()}
    return {
        name: Picked(h, number, axes[name]) if callable(h) else _picked(h, number, axes[name] + (name in sliced))
        for name, h in data.items()
    }


def _picked(values: InputValue, number: int, ndim: int) -> InputValue:
    return np.asarray(values)[..., number] if np.ndim(values) > ndim else values  # pyright: ignore[reportArgumentType]
