"""Coefficients that jump, as far as a problem tells."""

from __future__ import annotations

from kernop.basics.frozen import Kept
from kernop.basics.precision import eagerly
from kernop.collocation.ansatz import Tabulated
from kernop.geometry import Points, Region
from kernop.language.conditions import Condition
from kernop.language.ops import SCALAR, differentiated, itself
from kernop.language.piecewise import Piecewise
from kernop.language.unknowns import Unknowns

#: A point of a region, by which a message says that an operator is not linear.
_somewhere: Kept[Region, Points] = Kept()


def jumps(condition: Condition, unknowns: Unknowns = SCALAR) -> tuple[Piecewise, ...]:
    """The `Piecewise` coefficients that a condition differentiates, each once."""
    if condition.op is itself or isinstance(condition.op, Tabulated):
        return ()
    with eagerly():
        place = _somewhere.of(condition.on, lambda: condition.on.sample(1))
        sources = differentiated(condition.op, place, unknowns, of=condition.of, name=condition.name)
    found = (own for source in sources for own in source.functions if isinstance(own, Piecewise))
    return tuple({id(own): own for own in found}.values())
