"""Data that are fixed in a problem are known before it is learned, and count as an input does.

Who writes a problem with all of its data asks for one solution: ``inputs=[()]`` is understood. Where some data are
left open, every solution contains that of the fixed data with 0 for the others, since T is affine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernop.basics.errors import KernopError
from kernop.collocation.ansatz import Ansatz, condition_layouts
from kernop.collocation.data import values_at
from kernop.collocation.sampling import held_out, top_dimension
from kernop.language.problem import Problem

#: Points of a condition at which it is seen whether its data vary.
FEW = 64


def inputs_to_measure(problem: Problem, inputs: Sequence[object] | None) -> Sequence[object] | None:
    """Inputs to measure by: the user's; or none but the fixed data, if there are no others and they vary.

    Constants do not count: in most cases they are resolved, and `fixed_alone` sees where they are not. On a line they
    do: layers are all that can be missed there, and cost little.
    """
    if inputs is not None or problem.inputs:
        return inputs
    return [{}] if _varying(problem) or (problem.dim == 1 and fixed_alone(problem)) else None


def fixed_alone(problem: Problem) -> list[dict[str, float]] | None:
    """The one input with 0 for all data that are not fixed; None if it tells nothing of the fixed ones.

    So it is if all of them are 0, or constants beside others that are open; and if values are fixed on one piece of the
    boundary and open on another, where 0 may contradict them.
    """
    fixed = [c for c in problem.conditions if callable(c.data) or (c.data is not None and np.any(np.asarray(c.data)))]
    if not fixed or not problem.inputs:
        return [{}] if fixed else None
    top = top_dimension(problem)
    beside = any(c.on.intrinsic_dim < top for c in fixed) and any(
        c.data is None and c.on.intrinsic_dim < top for c in problem.conditions
    )
    return None if beside or not _varying(problem) else [dict.fromkeys(problem.inputs, 0.0)]


def _varying(problem: Problem) -> bool:
    """Do fixed data of a condition differ from place to place?"""
    for c, layout in zip(problem.conditions, condition_layouts(problem, Ansatz(problem.unknowns)), strict=True):
        if not callable(c.data) or c.integral:
            continue
        try:
            values = np.asarray(values_at(c, c.data, held_out(problem, c, FEW, 0), layout))
        except KernopError:  # whoever needs the values says what is wrong with them
            continue
        if np.any(values != values[0]):
            return True
    return False
