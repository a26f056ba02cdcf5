"""What one looks at: one unknown, as a function on a scene, and cuts of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, NumberArray, fail
from kernop.geometry import Points
from kernop.views.scene import Scene, embedded

#: Takes an operator (None for u itself), points, and the word that says what to do with those outside.
Evaluate = Callable[[Any, Points, str], NumberArray]


@dataclass(frozen=True, eq=False)
class Sight:
    """One unknown as a function on a scene.

    Arguments:
        name: of the unknown.
        scene: where it is defined.
        evaluate: (P u)(x): (n,), or (n, k) of a vector; with a last axis B for B inputs.
        single: is it one input, or a batch?
        picks: each input of a batch, as such a function.
    """

    name: str
    scene: Scene
    evaluate: Evaluate
    single: bool = True
    picks: Callable[[], list[Sight]] = list

    def __call__(self, x: FloatArray) -> NumberArray:
        """u at points of the scene (n, d), which are not looked at again."""
        return self.evaluate(None, self.points(x), "extrapolate")

    def points(self, x: FloatArray) -> Points:
        """Coordinates (n, d) as points of the scene."""
        return Points(x, timed=self.scene.timed if x.shape[1] > 1 else None)

    def fixed(self, at: Mapping[int, float]) -> Sight:
        """The same function where some coordinates are fixed."""
        if not at:
            return self
        free = [k for k in range(self.scene.dim) if k not in at]
        if not free:
            raise fail(ArgumentError, "at", "values of all coordinates", "leave at least one free, or call u(x)")
        whole = self.scene

        def evaluate(op: object, points: Points, outside: str) -> NumberArray:
            x, normal = embedded(points.x, free, at), points.normal
            if normal is not None:
                normal = embedded(normal, free, dict.fromkeys(at, 0.0))
            return self.evaluate(op, Points(x, normal, whole.timed if whole.dim > 1 else None), outside)

        picks = self.picks
        return replace(self, scene=whole.fixed(at), evaluate=evaluate, picks=lambda: [own.fixed(at) for own in picks()])

    def alone(self, what: str) -> Sight:
        """Itself, if it is one input; else an error that says how to pick one."""
        if not self.single:
            raise fail(ArgumentError, what, "a batch of solutions", f"pick one of them, such as u[0].{what}(…)")
        return self

    def centre(self) -> FloatArray:
        """The middle of the box around it, (d,)."""
        return 0.5 * (self.scene.low + self.scene.high)

    @property
    def moments(self) -> FloatArray:
        """The first and the last time of the scene."""
        return np.array([self.scene.low[-1], self.scene.high[-1]])
