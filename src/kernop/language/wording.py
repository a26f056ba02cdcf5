"""Conditions in words: what each says, for pictures and tables."""

from __future__ import annotations

import numpy as np

from kernop.language.calculus import normal_derivative
from kernop.language.conditions import Condition, Mixed, Weighted
from kernop.language.ops import itself
from kernop.language.unknowns import Unknowns


def written(condition: Condition, unknowns: Unknowns) -> str:
    """What a condition says, such as "u = g", "∂u/∂n = 0" or "P u = f"."""
    u = condition.of or unknowns.single or f"({', '.join(unknowns.names)})"
    op = condition.op
    left = f"{u}" if op is itself else f"∂{u}/∂n" if op is normal_derivative else f"P {u}"
    if isinstance(op, Mixed):
        left = f"α {u} + β ∂{u}/∂n"
    if isinstance(op, Weighted):
        left = f"w {u}"
    if condition.paired:
        left = f"{left} at x − {left} at x′"
    if condition.across:
        left = f"[{left}]"
    if condition.integral:
        left = f"∫ {left}"
    data = condition.data
    if data is None:
        return f"{left} = {condition.name}"
    right = f"{np.asarray(data).item():.4g}" if not callable(data) and np.size(data) == 1 else "a fixed function"
    return f"{left} = {right}"
