"""Workers with other versions would fail in odd ways, or give other numbers: they are refused before they get work."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from kernop.basics.errors import ClusterError, fail
from kernop.basics.versions import versions

#: The workers of each client that were found to have our versions.
_checked: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


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
