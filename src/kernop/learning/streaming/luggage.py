"""What travels to workers: values with the user's functions in them, as bytes."""

from __future__ import annotations

import pickle
from typing import Any

from kernop.basics.errors import ArgumentTypeError, ClusterError, KernopError, fail
from kernop.methods.regression import Regression

#: What to do about a module that workers do not have.
_BRING_MODULES = (
    "install your modules there, or client.upload_file(…) them, or let them travel with"
    " cloudpickle.register_pickle_by_value(module)"
)


def pickled(value: Any) -> bytes:
    """A value as bytes. What cannot travel is refused, and named if it is a part of a regression."""
    from cloudpickle import dumps  # functions of a script or a notebook travel as code; it comes with Dask

    try:
        return dumps(value)
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
        raise fail(ClusterError, "client", got, _BRING_MODULES) from error


def _parts(value: Any) -> list[tuple[str, Any]]:
    """What users give, by the name of its argument."""
    parts = value if isinstance(value, tuple) else (value,)
    found = next((part for part in parts if isinstance(part, Regression)), None)
    if found is None:
        return []
    rows, expansion = found.rows, found.expansion
    named = [("problem", rows.stream.problem), ("kernel", expansion.prior), ("method", expansion.ansatz.envelope)]
    return [*named, ("points", rows.stream), ("inputs", rows.inputs)]


def _travels(value: Any) -> bool:
    from cloudpickle import dumps

    try:
        dumps(value)
    except Exception:
        return False
    return True
