"""What travels to workers: values with a user's functions in them, as bytes; and whether they have our versions."""

from __future__ import annotations

import pickle
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from kernop.basics.errors import ArgumentTypeError, ClusterError, KernopError, fail
from kernop.basics.versions import versions
from kernop.methods.regression import Regression

#: The workers of each client that were found to have our versions.
_checked: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


def pickled(value: object) -> bytes:
    """A value as bytes. What cannot travel is refused, and named if it is a part of a regression."""
    try:
        return _dumps(value)
    except KernopError:
        raise
    except Exception as error:  # whatever the user's objects raise
        name = "client"
        for argument, part in reversed(_parts(value)):
            try:
                _dumps(part)
            except Exception:  # this one
                name = argument
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


def _dumps(value: object) -> bytes:
    """Functions of a script or a notebook travel as code, by what comes with Dask."""
    return import_module("cloudpickle").dumps(value)


def check_workers(client: Any) -> None:
    """Raise unless all workers have the versions of Python and of the packages that this process has.

    Each worker is asked once. The question travels by name, so it can be asked of any version of Python.
    """
    known = _checked.setdefault(client, set())
    new = sorted(set(client.nthreads()) - known)
    if not new:
        return
    answers = client.run(versions, workers=new, on_error="return")
    for worker, answer in answers.items():
        if not isinstance(answer, OSError):  # else it has left in the meantime
            _check(worker, answer)
            known.add(worker)


def _check(worker: str, answer: Any) -> None:
    remedy = "start the workers with the same versions as this process"
    if isinstance(answer, BaseException):
        got = f"the worker {worker} without this version of kernop ({type(answer).__name__}: {answer})"
        raise fail(ClusterError, "client", got, remedy) from answer
    for name, here in versions().items():
        there = str(answer.get(name))
        if _significant(name, there) != _significant(name, here):
            raise fail(
                ClusterError, "client", f"the worker {worker} with {name} {there}, where {here} runs here", remedy
            )


def _significant(name: str, version: str) -> list[str]:
    """Of Python the first two numbers: the third changes neither code that travels nor numbers."""
    return version.split(".")[:2] if name == "python" else [version]
