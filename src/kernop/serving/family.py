"""The inputs that a page offers: Gaussian sources that can be dragged, and a few shapes of boundary data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.language.conditions import Condition
from kernop.operators.operator import SolutionOperator
from kernop.serving.stage import Stage

#: B functions of x (n, d) at once: (n, B).
Functions = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Channel:
    """One real number at each point of one condition: a component of its data.

    Arguments:
        condition: its name.
        component: which of k components; None if the data are scalars.
        components: their number k; None if the data are scalars.
    """

    condition: str
    component: int | None = None
    components: int | None = None

    @property
    def label(self) -> str:
        """For people: f, or f₂ of a vector."""
        return self.condition + ("" if self.component is None else "₀₁₂₃₄₅₆₇₈₉"[self.component + 1])

    def data(self, columns: FloatArray) -> FloatArray:
        """Values (n, B) as data of the condition: (n, B), or (n, k, B) of a vector."""
        if self.components is None:
            return columns
        found = np.zeros((len(columns), self.components, columns.shape[1]))
        found[:, self.component] = columns
        return found


@dataclass(frozen=True)
class Mode:
    """A shape of data in normalised coordinates −1 … 1: Π ξ_a^p_a."""

    name: str
    powers: tuple[int, ...]

    def columns(self, stage: Stage) -> Functions:
        """The function of x (n, d) with values (n, 1)."""
        half, count = 0.5 * (stage.high - stage.low), len(self.powers)

        def values(x: FloatArray) -> FloatArray:
            xi = (np.asarray(x) - stage.middle)[:, :count] / half[:count]
            return np.prod(xi ** np.array(self.powers), axis=1, keepdims=True)

        return values


def gaussians(centres: FloatArray, widths: FloatArray) -> Functions:
    """exp(−|x − c|² / 2σ²) for B centres (B, s) and widths (B,); s coordinates count, time does not."""

    def columns(x: FloatArray) -> FloatArray:
        x = np.asarray(x)[:, : centres.shape[1]]
        squares = np.sum(x * x, axis=1)[:, None] - 2.0 * x @ centres.T + np.sum(centres * centres, axis=1)
        return np.exp(np.maximum(squares, 0.0) / (-2.0 * widths * widths))

    return columns


def channels(operator: SolutionOperator) -> tuple[list[Channel], list[Channel]]:
    """The channels that take sources, and the others; sources go to a boundary only if there is nowhere else."""
    problem = operator.problem

    def parts(condition: Condition) -> list[Channel]:
        k = operator.named_layouts[condition.name].components
        return [Channel(condition.name)] if k is None else [Channel(condition.name, j, k) for j in range(k)]

    free = [problem[name] for name in problem.inputs]
    pointwise = [c for c in free if not (c.integral or c.paired or c.across)]
    volume = [c for c in pointwise if fills(c, operator)]
    taken = volume or [c for c in pointwise if len(operator.points[c.name]) > operator.problem.dim]
    rest = [c for c in free if c not in taken]
    return [own for c in taken for own in parts(c)], [own for c in rest for own in parts(c)]


def fills(condition: Condition, operator: SolutionOperator) -> bool:
    """Is it stated in all of space: in the domain, or at its initial time?"""
    if condition.on.intrinsic_dim == operator.problem.dim:
        return True
    times = operator.points[condition.name].x[:, -1]
    return operator.problem.timed and len(times) > 2 and float(np.ptp(times)) == 0.0


def modes(operator: SolutionOperator, channel: Channel, stage: Stage, source: bool) -> list[Mode]:
    """The shapes of data that sliders control: constant alone for sources, integrals and single points."""
    flat = Mode("constant", (0,))
    condition = operator.problem[channel.condition]
    if source or condition.integral or len(operator.points[channel.condition]) == 1:
        return [flat]
    if stage.space == 1:
        return [flat, Mode("slope", (1,))]
    return [flat, Mode("slope in x", (1, 0)), Mode("slope in y", (0, 1)), Mode("saddle x y", (1, 1))]


def zeros(operator: SolutionOperator) -> dict[str, float | FloatArray]:
    """Data 0 for every input, by name."""
    components = {name: operator.named_layouts[name].components for name in operator.problem.inputs}
    return {name: 0.0 if k is None else np.zeros(k) for name, k in components.items()}
