"""Inputs that are given in advance, to `learn`: functions and numbers, known wherever there are points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernop.basics.errors import ArgumentError, ArgumentTypeError, InputNameError, check_scalar, describe, fail
from kernop.language.problem import Problem


def read_inputs(problem: Problem, inputs: Any) -> list[dict[str, Any]]:
    """A list of inputs, each a tuple in the order of T or a dictionary, as dictionaries by name."""
    remedy = f"give a list of inputs, each a tuple ({', '.join(problem.inputs)}) or a dictionary"
    if not isinstance(inputs, Sequence) or isinstance(inputs, str):
        raise fail(ArgumentTypeError, "inputs", describe(inputs), remedy)
    if len(inputs) == 0:
        raise fail(ArgumentError, "inputs", "none", remedy)
    return [_named(problem, value) for value in inputs]


def _named(problem: Problem, value: Any) -> dict[str, Any]:
    wanted = f"give ({', '.join(problem.inputs)})"
    if isinstance(value, Mapping):
        named = dict(value)
        for name in named:
            if name not in problem.inputs:
                raise fail(InputNameError, "inputs", f"the unknown input {name!r}", wanted)
        for name in problem.inputs:
            if name not in named:
                raise fail(InputNameError, "inputs", f"no {name!r}", wanted)
    else:
        parts = value if isinstance(value, tuple | list) else (value,)
        if len(parts) != len(problem.inputs):
            raise fail(InputNameError, "inputs", f"{len(parts)} values", wanted)
        named = dict(zip(problem.inputs, parts, strict=True))
    remedy = "give a function or a number, which is known at all points"
    for name, part in named.items():
        if np.iterable(part) and not isinstance(part, str):
            raise fail(ArgumentError, f"inputs[{name!r}]", describe(part), remedy)
        if not callable(part):
            check_scalar(f"inputs[{name!r}]", part, remedy)
    return named
