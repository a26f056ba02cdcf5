"""What travels to workers: values with the user's functions in them, as bytes."""

from __future__ import annotations

import pickle
from importlib import import_module
from typing import Any

from kernop.basics.errors import ArgumentTypeError, ClusterError, KernopError, fail
from kernop.methods.regression import Regression


def pickled(value: object) -> bytes:
    """A value as bytes. What cannot travel is refused, and named if it is a part of a regression."""
    try:
        return _dumps(value)
    except KernopError:
        raise
    except Exception as error:  # whatever the user's objects raise
        name = next((name for name, part in _parts(value) if not _travels(part)), "client")
        got = f"what cannot be sent to workers ({type(error).__name__}: {error})"
        remedy = "let it not hold files, locks or connections: open them where they are used, in the function itself"
        raise fail(ArgumentTypeError, name, got, remedy) from error


def unpickled(contents: bytes) -> Any:
    """The value, on a worker."""
    try:
        return pickle.loads(contents)
    except KernopError:
        raise
    except Exception as error:  # a module that is not here, or another version of it
        got = f"a worker that cannot read what it is sent ({type(error).__name__}: {error})"
        remedy = "install your modules there, or client.upload_file(…) them, or let them travel with "
        raise fail(ClusterError, "client", got, f"{remedy}cloudpickle.register_pickle_by_value(module)") from error


def _parts(value: object) -> list[tuple[str, object]]:
    """What users give, by the name of its argument."""
    found = next(
        (part for part in (value if isinstance(value, tuple) else (value,)) if isinstance(part, Regression)), None
    )
    if found is None:
        return []
    rows, expansion = found.rows, found.expansion
    named = [("problem", rows.stream.problem), ("kernel", expansion.prior), ("method", expansion.ansatz.envelope)]
    return [*named, ("points", rows.stream), ("inputs", rows.inputs)]


def _travels(value: object) -> bool:
    try:
        return bool(_dumps(value))
    except Exception:
        return False


def _dumps(value: object) -> bytes:
    """Functions of a script or a notebook travel as code, by what comes with Dask."""
    return import_module("cloudpickle").dumps(value)
