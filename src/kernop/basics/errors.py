"""The exceptions of kernop, and the types of its arrays.

Every exception that kernop raises on purpose derives from `KernopError`, and also from the built-in that fits, so
that ``except ValueError`` keeps working. A message names the argument, says what came, and what to do instead.
"""

from __future__ import annotations

import reprlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
#: float64 or complex128: the types of NumPy cannot say that a result is real if its arguments are.
NumberArray = NDArray[Any]


class KernopError(Exception):
    """Base of all exceptions that kernop raises on purpose."""


class ArgumentError(KernopError, ValueError):
    """An argument has a value that cannot be used."""


class ArgumentTypeError(KernopError, TypeError):
    """An argument is of a kind that cannot be used."""


class ShapeError(ArgumentError):
    """An array has the wrong shape, or the wrong number of coordinates."""


class NonFiniteError(ArgumentError):
    """NaN or infinity in data, points or coefficients."""


class InputNameError(ArgumentError):
    """An input name is unknown, missing or given twice."""


class OperatorError(ArgumentError):
    """An operator cannot be read as a linear differential operator."""


class NonlinearOperatorError(OperatorError):
    """An operator is not linear: it violates superposition."""


class JumpError(OperatorError):
    """A coefficient that jumps stands under a derivative."""


class RoughKernelError(ArgumentError):
    """A kernel has too few derivatives for the operator."""


class OutsideDomainError(ArgumentError):
    """Points lie outside the region where they are used."""


class MemoryLimitError(KernopError, MemoryError):
    """A matrix would not fit in memory; raised before anything is allocated."""


class SingularGramError(KernopError, np.linalg.LinAlgError):
    """A linear system is singular to working precision."""


class FileError(KernopError, ValueError):
    """A file is damaged, foreign, or does not fit what it is asked for."""


class MissingFunctionError(ArgumentError):
    """An operator from a file needs a function of the user, which no file can hold."""


class ClusterError(KernopError, RuntimeError):
    """The workers, or the connection to them, were lost."""


class ForkError(KernopError, RuntimeError):
    """kernop is used in a process that was forked from one in which JAX had begun to work."""


class MissingExtraError(KernopError, ImportError):
    """An optional dependency is needed and not installed."""


class IllPosedWarning(UserWarning):
    """The conditions leave a function undetermined, or nearly so: solutions are one of many, or amplify every error."""


class JumpWarning(UserWarning):
    """A `Piecewise` coefficient stands under a derivative, and nothing is said of the flux at its jumps."""


class AccuracyWarning(UserWarning):
    """An answer is not as accurate as its operator promises: the data, or a coefficient, is not resolved."""


Failure = TypeVar("Failure", bound=KernopError)


def fail(kind: type[Failure], name: str, got: str, remedy: str) -> Failure:
    """Build an exception whose message names the argument, what came, and the remedy."""
    return kind(f"{name}: got {got}; {remedy}.")


@contextmanager
def naming(name: str) -> Generator[None]:
    """Put the name of a condition, or of an argument, before the message of every KernopError that passes."""
    try:
        yield
    except KernopError as error:
        raise type(error)(f"{name}: {error}") from error.__cause__


#: Never fails and never takes long, whatever the value: a repr may raise, and that of a long list is long.
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


def describe(value: object) -> str:
    """A short description of a value for a message: its shape when it is an array, else its repr."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"an array of shape {shape}"
    if isinstance(value, int) and not -(10**50) < value < 10**50:
        return f"a whole number of {value.bit_length()} bits"  # beyond 4300 digits Python has no repr of it
    text = _SHORT.repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
