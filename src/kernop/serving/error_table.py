"""What T says of its errors for the inputs of a page, in advance: tables that the page looks up.

The error of a sum is at most the sum of the errors: what the page shows for several sources and boundary data is
Σ |strength| · (estimate for strength 1), which is never less than the estimates allow.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.errors import FloatArray, KernopError
from kernop.operators.operator import SolutionOperator
from kernop.serving.family import Channel, Functions, gaussians
from kernop.serving.stage import Stage

#: Centres along each axis of space, by the number of axes; and widths, for which T is asked.
CENTRES, WIDTHS = {1: 17, 2: 7, 3: 4}, 3


@dataclass(frozen=True)
class Asked:
    """B inputs whose errors are asked for: functions of x in one channel, all other data 0.

    Arguments:
        shape: of the table, the product is B; of sources the number of widths, then of centres along each axis.
    """

    channel: Channel
    columns: Functions
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number B of inputs."""
        return int(np.prod(self.shape))


def sources_asked(channel: Channel, widths: tuple[float, float], stage: Stage) -> Asked:
    """Sources of strength 1 at a grid of centres, of several widths; the last axis of space is fastest."""
    axes = [np.linspace(a, b, CENTRES[stage.space]) for a, b in zip(stage.low, stage.high, strict=True)][: stage.space]
    grid = np.stack(np.meshgrid(np.geomspace(*widths, WIDTHS), *axes, indexing="ij"), axis=-1)
    flat = grid.reshape(-1, 1 + stage.space)
    return Asked(channel, gaussians(flat[:, 1:], flat[:, 0]), grid.shape[:-1])


def estimated(operator: SolutionOperator, asked: Sequence[Asked]) -> tuple[list[FloatArray], str]:
    """The estimated root mean square errors of u for all that is asked, an array (B,) for each; and from what.

    From fresh points if T can be asked there; from leave-one-out residuals if its file holds no more than its points;
    NaN if neither is known.
    """
    why, total = "", sum(own.count for own in asked)
    for fresh in (True, False):
        try:
            with warnings.catch_warnings(action="ignore"):
                u = operator.answer({name: _data(operator, name, asked, fresh) for name in operator.problem.inputs})
                found = u.error_estimate(covering=None, search=None)
        except KernopError as error:
            why = str(error)
            continue
        errors = np.max([np.broadcast_to(own.l2, total) for own in found.of.values()], axis=0)
        ends = np.cumsum([own.count for own in asked])[:-1]
        return np.split(errors, ends), f"{found.source} ({found.points})"
    return [np.full(own.count, np.nan) for own in asked], f"not known: {why}"


def _data(operator: SolutionOperator, name: str, asked: Sequence[Asked], fresh: bool) -> Any:
    """The data of one condition for all inputs: a function of x, or values at the points of T."""
    condition, points = operator.problem[name], operator.points[name].x
    components = operator.named_layouts[name].components

    def values(x: FloatArray) -> FloatArray:
        return np.concatenate([_own(name, own, np.asarray(x), components) for own in asked], axis=-1)

    if condition.integral:
        return values(points[:1])
    return values if fresh else values(points)


def _own(name: str, own: Asked, x: FloatArray, components: int | None) -> FloatArray:
    if own.channel.condition == name:
        return own.channel.data(own.columns(x))
    return np.zeros((len(x), own.count) if components is None else (len(x), components, own.count))
