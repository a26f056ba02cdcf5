"""The judge: a spoilt call gives finite, right numbers, or an error of kernop that names the argument; nothing else."""

from __future__ import annotations

import re
import resource
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

import kernop as ko
from fuzzing import mutations
from fuzzing.mutations import Mutation, mutations_of
from fuzzing.setting import Call
from kernop.basics.errors import KernopError

#: A call that takes longer, or more memory, than this has tried what it should have refused.
SECONDS, BYTES = 30.0, 2**29

GOOD = ("works", "refused", "theirs")


@dataclass(frozen=True)
class Case:
    """One argument of one call, replaced."""

    call: Call
    argument: str
    mutation: Mutation

    def __str__(self) -> str:
        return f"{self.call.name}, {self.argument} = {self.mutation.label}"


@dataclass(frozen=True)
class Verdict:
    """What came of a case: one of `GOOD`, or what is wrong with it; and the details."""

    case: Case
    outcome: str
    detail: str = ""

    @property
    def good(self) -> bool:
        """Was the call answered as promised?"""
        return self.outcome in GOOD


def cases_of(call: Call) -> list[Case]:
    """Every argument with everything that can be done to it."""
    return [Case(call, name, mutation) for name, value in call.good.items() for mutation in mutations_of(value)]


def numbers(result: Any) -> list[np.ndarray[Any, Any]]:
    """All numbers in a result."""
    if isinstance(result, ko.Points):
        return numbers([result.x, result.normal])
    if isinstance(result, Mapping):
        return numbers(list(result.values()))
    if isinstance(result, list | tuple):
        return [array for part in result for array in numbers(part)]
    if result is None:
        return []
    return [np.asarray(result, dtype=np.complex128 if np.iscomplexobj(result) else np.float64)]


def judge(case: Case, expected: list[np.ndarray[Any, Any]]) -> Verdict:
    """Make the call, and say what came of it; ``expected`` are the numbers of the good call."""
    before, started = peak(), time.perf_counter()
    value = case.mutation.make(case.call.good[case.argument])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = _made(case, value)
        except KernopError as error:
            verdict = _named(case, error)
        except Exception as error:
            text = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:160]}"
            verdict = Verdict(case, "theirs" if _theirs(error) else "raw exception", f"{text} ({_place(error)})")
        else:
            verdict = _right(case, found, expected)
    return _orderly(verdict, said, time.perf_counter() - started, peak() - before)


def peak() -> int:
    """The largest resident size of this process so far, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _made(case: Case, value: Any) -> list[np.ndarray[Any, Any]]:
    rest = {name: value for name, value in case.call.good.items() if name != case.argument}
    if case.mutation.traced:
        traced = jax.jit(lambda spoilt: _flat(case.call.run(**rest, **{case.argument: spoilt})))(value)
        return numbers(traced)
    return numbers(case.call.run(**rest, **{case.argument: value}))


def _flat(result: Any) -> Any:
    return result if isinstance(result, jax.Array) else numbers(result)


def _named(case: Case, error: KernopError) -> Verdict:
    """The message names the argument before it says what came."""
    head, got, _ = str(error).partition(": got ")
    words = (case.argument, *case.call.words.get(case.argument, ()), case.mutation.inner)
    if got and any(word and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", head) for word in words):
        return Verdict(case, "refused", f"{type(error).__name__}: {error}")
    return Verdict(case, "argument not named", f"{type(error).__name__}: {error}")


def _right(case: Case, found: list[Any], expected: list[Any]) -> Verdict:
    if not all(np.all(np.isfinite(array)) or (case.call.infinite and not np.any(np.isnan(array))) for array in found):
        wrong = ", ".join(str(value) for array in found for value in array[~np.isfinite(array)][:2])
        return Verdict(case, "not finite", wrong)
    if case.mutation.same is None:
        return Verdict(case, "works")
    for one, other in zip(found, expected, strict=True):
        if one.shape != other.shape or np.any(
            np.abs(one - other) > case.mutation.same * (1e-9 + np.max(np.abs(other)))
        ):
            return Verdict(case, "wrong", f"{one.ravel()[:3]}, not {other.ravel()[:3]}")
    return Verdict(case, "works")


def _orderly(verdict: Verdict, said: list[warnings.WarningMessage], seconds: float, more: int) -> Verdict:
    """No warning but kernop's own; no long wait; no large allocation."""
    own = (ko.ToleranceWarning, ko.AccuracyWarning, ko.IllPosedWarning)
    alien = [w for w in said if not issubclass(w.category, own) and w.filename != mutations.__file__]
    if not verdict.good:
        return verdict
    if alien:
        where = f"{alien[0].category.__name__}: {alien[0].message} ({alien[0].filename}:{alien[0].lineno})"
        return Verdict(verdict.case, "warning", where)
    if seconds > SECONDS:
        return Verdict(verdict.case, "slow", f"{seconds:.0f} s; {verdict.detail}")
    if more > BYTES:
        return Verdict(verdict.case, "large allocation", f"{more / 2**20:.0f} MiB; {verdict.detail}")
    return verdict


def _files(error: BaseException) -> list[str]:
    trace, files = error.__traceback__, []
    while trace is not None:
        files.append(f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}")
        trace = trace.tb_next
    return files


def _theirs(error: Exception) -> bool:
    """Was it raised by, or beneath, a function of the user, with nothing of kernop in between?"""
    below = [file for file in _files(error) if "src/kernop" in file or mutations.__file__ in file]
    return bool(below) and mutations.__file__ in below[-1]


def _place(error: BaseException) -> str:
    return next((file for file in reversed(_files(error)) if "src/kernop" in file), "?").rpartition("kernop/")[2]
