"""Spaces of one component: what functions of a single v_k share, whatever they are."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import REMEDY
from kernop.collocation.functionals import Block, Functionals
from kernop.methods.expansion import Expansion, Order


class OneComponent(Expansion):
    """Functions around a centre, (d,), of component k of v; the other components are 0."""

    centre: FloatArray
    component: int

    @property
    def dim(self) -> int:
        return len(self.centre)

    def check_component(self) -> None:
        """Raise unless the unknowns have the component."""
        if not 0 <= self.component < self.ansatz.count:
            raise fail(ArgumentError, "component", f"{self.component}, which the unknowns do not have", REMEDY)

    @abstractmethod
    def values(self, block: Block, out: FloatArray) -> FloatArray:
        """Σ_α φ_α(x_i) (∂^α b_j)(x_i) of the terms of the component, at the points of a block, into ``out`` (n, L)."""

    def matrix(self, left: Functionals, *, order: Order = "C", out: FloatArray | None = None) -> FloatArray:
        found = np.empty((len(left), len(self)), order=order) if out is None else out
        for rows, block in left:
            if self.component not in block.components:
                found[rows] = 0.0
            elif block.starts is not None:
                found[rows] = block.collected(self.values(block, np.empty((len(block.x), len(self)))))
            else:
                self.values(block, found[rows])
        return found
