"""Limits of a server, and how it refuses: what was wrong, what came, what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kernop.basics.checks import check_integer, check_number
from kernop.basics.errors import KernopError, MemoryLimitError
from kernop.basics.storage import JsonObject


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of a server: how large, how many and how long requests may be.

    Attributes:
        body: bytes of a request.
        points: at which u is evaluated in one request.
        inputs: solved in one request.
        values: numbers in one answer.
        seconds: for the work of one request, and for waiting until it begins.
        arriving: seconds in which the head of a request must have come, and then its body.
        queue: requests that are worked on or wait, of all clients; the next one is asked to come again.
        per_client: the same, of one address.
    """

    body: int = 32 * 2**20
    points: int = 250_000
    inputs: int = 1000
    values: int = 4_000_000
    seconds: float = 60.0
    arriving: float = 10.0
    queue: int = 256
    per_client: int = 64

    def __post_init__(self) -> None:
        for name in ("body", "points", "inputs", "values", "queue", "per_client"):
            check_integer(name, getattr(self, name), least=1)
        for name in ("seconds", "arriving"):
            check_number(name, getattr(self, name), above=0.0)


class RefusalError(Exception):
    """A request that is not served, with its HTTP status.

    Arguments:
        status: of the answer.
        argument: the part of the request that is wrong.
        got: what it is.
        remedy: what to do.
        headers: of the answer.
    """

    def __init__(
        self, status: int, argument: str, got: str, remedy: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(f"{argument}: got {got}; {remedy}.")
        self.status, self.argument, self.got, self.remedy = status, argument, got, remedy
        self.headers = headers or {}

    def content(self) -> JsonObject:
        """The body of the answer."""
        parts = {"status": self.status, "argument": self.argument, "got": self.got, "remedy": self.remedy}
        return {"error": {**parts, "message": str(self)}}


def too_much(argument: str, got: int | float, most: int | float, unit: str) -> RefusalError:
    """The refusal of a request that is too large."""
    return RefusalError(413, argument, f"{got} {unit}", f"at most {most} are served at once: split the request")


def unprocessable(argument: str, got: str, remedy: str) -> RefusalError:
    """The refusal of a request that is well-formed and cannot be meant."""
    return RefusalError(422, argument, got, remedy)


def refusal_of(error: KernopError) -> RefusalError:
    """What kernop itself refuses, in the same form."""
    found = re.fullmatch(r"(.*?): got (.*); (.*)\.", str(error), re.DOTALL)
    argument, got, remedy = found.groups() if found else ("request", str(error), "see the message")
    return RefusalError(413 if isinstance(error, MemoryLimitError) else 422, argument, got, remedy)
