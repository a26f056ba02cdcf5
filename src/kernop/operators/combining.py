"""Data that are combined: those of u + v, of 2 u, and of one input of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.errors import ArgumentError, fail
from kernop.collocation.data import concrete, known_everywhere, values_at
from kernop.collocation.functionals import Layout
from kernop.language.conditions import Condition
from kernop.trust.estimates import Learned

#: Factors, and the data by name that they multiply.
Terms = Sequence[tuple[complex, Mapping[str, Any]]]


@dataclass(frozen=True, eq=False)
class SumOfFunctions:
    """The function x ↦ Σ a_i h_i(x) for data h_i that are functions, or numbers.

    Arguments:
        terms: the factors and the data.
        ndim: the number of axes of the values of one input; with one more they are of a batch.
    """

    terms: tuple[tuple[complex, Any], ...]
    ndim: int

    def __call__(self, x: Any) -> Any:
        """Its values at x (n, d), as those of data."""
        parts = [(a, np.asarray(h(x)) if callable(h) else np.asarray(h)) for a, h in self.terms]
        return _added(parts, self.ndim)


@dataclass(frozen=True, eq=False)
class Picked:
    """One of B functions that are data: x ↦ h(x)[…, b]; h itself if it is the same for all.

    Arguments:
        whole: the function, with values (n, …, B).
        number: b.
        ndim: the number of axes of the values of one input.
    """

    whole: Any
    number: int
    ndim: int

    def __call__(self, x: Any) -> Any:
        """Its values at x (n, d), as those of data."""
        return _picked(self.whole(x), self.number, self.ndim)


def combined(learned: Learned, terms: Terms) -> dict[str, Any]:
    """Σ a_i h_i of the data of every condition, by name: functions where all are known everywhere, else arrays."""
    return {
        condition.name: _combined(learned, condition, layout, [(a, own[condition.name]) for a, own in terms])
        for condition, layout in zip(learned.problem.conditions, learned.layouts, strict=True)
    }


def combined_slabs(learned: Learned, terms: Terms) -> dict[str, Any]:
    """The same for data of slabs of time, whose arrays have an axis for the slabs first."""
    found = dict[str, Any]()
    for name, layout in learned.named_layouts.items():
        own = [(a, data[name]) for a, data in terms]
        if any(callable(h) for _, h in own):
            if any(np.ndim(h) > layout.ndim for _, h in own if not callable(h)):
                got = f"{name!r} as a function, and as an array"
                raise fail(ArgumentError, "u + v", got, "march with the combined data: T.march(steps, …)")
            found[name] = SumOfFunctions(tuple(own), layout.ndim)
        else:
            found[name] = _added([(a, np.asarray(h)) for a, h in own], layout.ndim + 1)
    return found


def _combined(learned: Learned, condition: Condition, layout: Layout, terms: list[tuple[complex, Any]]) -> Any:
    everywhere = all(known_everywhere(condition, h, layout) for _, h in terms)
    if everywhere and any(callable(h) for _, h in terms):
        return SumOfFunctions(tuple(terms), layout.ndim)
    if not everywhere:
        points = learned.points[condition.name]
        terms = [(a, concrete(condition.name, values_at(condition, h, points, layout))) for a, h in terms]
    return _added([(a, np.asarray(h)) for a, h in terms], layout.ndim)


def _added(parts: Sequence[tuple[complex, Any]], ndim: int) -> Any:
    """Σ a_i v_i of values of one input or of batches; numbers stand for constants."""
    batch = any(v.ndim > ndim for _, v in parts)
    spread = [(a, v[..., None] if batch and v.ndim == ndim else v) for a, v in parts]
    return sum(a * v for a, v in spread)


def picked(learned: Learned, data: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The data of one input of a batch, by name."""
    layouts = learned.named_layouts
    return {
        name: Picked(h, number, layouts[name].ndim) if callable(h) else _picked(h, number, layouts[name].ndim)
        for name, h in data.items()
    }


def _picked(values: Any, number: int, ndim: int) -> Any:
    return values[..., number] if np.ndim(values) > ndim else values
