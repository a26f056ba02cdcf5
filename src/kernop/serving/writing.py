"""Answers: values to bytes. JSON, or safetensors with the JSON in its metadata."""

from __future__ import annotations

import json

import numpy as np
from safetensors.numpy import save as write_tensors

from kernop.basics.errors import NumberArray
from kernop.serving.hosted import Answered


def as_json(answer: Answered) -> bytes:
    """One object; values outside the domain are null, complex ones {"real": …, "imag": …}."""
    head = json.dumps(answer.facts, allow_nan=False)
    values = ", ".join(f"{json.dumps(name)}: {_numbers(own)}" for name, own in answer.values.items())
    return f'{head[:-1]}, "values": {{{values}}}}}'.encode()


def as_tensors(answer: Answered) -> bytes:
    """Little-endian float64 arrays by name; complex ones as "name.real" and "name.imag"; the rest in metadata."""
    arrays: dict[str, NumberArray] = {}
    for name, own in answer.values.items():
        parts = {f"{name}.real": np.real(own), f"{name}.imag": np.imag(own)} if np.iscomplexobj(own) else {name: own}
        arrays |= {key: np.ascontiguousarray(part, dtype=np.float64) for key, part in parts.items()}
    return write_tensors(arrays, {"answer": json.dumps(answer.facts, allow_nan=False)})


def _numbers(values: NumberArray) -> str:
    if np.iscomplexobj(values):
        return f'{{"real": {_numbers(np.real(values))}, "imag": {_numbers(np.imag(values))}}}'
    return json.dumps(values.tolist()).replace("NaN", "null")
