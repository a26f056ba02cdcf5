"""Coefficients that jump, as far as a problem tells."""

from __future__ import annotations

from kernop.basics.precision import eagerly
from kernop.collocation.ansatz import Tabulated
from kernop.language.conditions import Condition
from kernop.language.ops import SCALAR, differentiated
from kernop.language.piecewise import Piecewise
from kernop.language.unknowns import Unknowns


def jumps(condition: Condition, unknowns: Unknowns = SCALAR) -> tuple[Piecewise, ...]:
    """The `Piecewise` coefficients that a condition differentiates, each once."""
    if isinstance(condition.op, Tabulated):
        return ()
    with eagerly():
        sources = differentiated(condition.op, condition.on.sample(1), unknowns, of=condition.of, name=condition.name)
    found = (own for source in sources for own in source.functions if isinstance(own, Piecewise))
    return tuple({id(own): own for own in found}.values())
