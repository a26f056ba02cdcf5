"""What learning to a tolerance did: every attempt, and why it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kernop.basics.errors import ArgumentError, describe, fail
from kernop.basics.stored import Extended, stored
from kernop.views.html import html_table
from kernop.views.places import plot_levels

Status = Literal["met", "stagnated", "budget"]

#: How much larger than those of the probes the misfit of data may be that still resemble them.
MARGIN = 3.0


@stored("level")
@dataclass(frozen=True, kw_only=True)
class Level:
    """One attempt of `learn` at a tolerance.

    Attributes:
        centers, points: how many.
        error: the worst relative error on known solutions, or, for a user's inputs, the worst relative residual at
            held-out points.
        seconds: what it took.
        changes: how far each solution whose truth is not known is from that of the level before, relative; None if
            there is no such level.
        misfit: the largest part of their data that these solutions leave at the points.
        roughness: what the points do not resolve of a coefficient, relative; 0 if they resolve it.
    """

    centers: int
    points: int
    error: Extended
    seconds: float
    changes: tuple[Extended, ...] | None = None
    misfit: Extended = 0.0
    roughness: Extended = 0.0

    @property
    def change(self) -> float | None:
        """The largest of the changes."""
        return max(self.changes) if self.changes else None

    def __str__(self) -> str:
        moved = "" if self.change is None else f"u changes by {self.change:.1e}, "
        rough = f"coefficient unresolved by {self.roughness:.1e}, " if self.roughness else ""
        sizes = f"{self.centers:6d} centres, {self.points:6d} points"
        return f"{sizes}: error {self.error:.1e}, {moved}{rough}{self.seconds:.2f} s"


@stored("report")
@dataclass(frozen=True, kw_only=True)
class Report:
    """What learning to a tolerance did, and why it stopped.

    Attributes:
        status: "met", "stagnated" (more centres did not help) or "budget" (more centres were not allowed).
        tol: what was asked for.
        levels: every attempt, in order.
        returned: the number of the level whose operator was returned, from 0.
        measured: on what solutions errors were measured, in words; empty for residuals of a user's inputs.
        followed: what the solutions are whose truth is not known, such as "f = 1".
        estimates: the estimated relative error of each of them; None if it is not known.
        asked: did the user ask for the tolerance? Otherwise it was a goal of our own, and promises nothing.
        space: what the operator is made of, if it is not one space for the whole domain whose axes are resolved as the
            equation alone asks for.
        holes: in so many holes of the domain the space has functions with poles.
    """

    status: Status
    tol: float
    levels: tuple[Level, ...]
    returned: int
    measured: str = ""
    followed: tuple[str, ...] = ()
    estimates: tuple[Extended, ...] | None = None
    asked: bool = True
    space: str = ""
    holes: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.returned < len(self.levels):
            got = f"{describe(self.returned)} where there are {len(self.levels)} levels"
            raise fail(ArgumentError, "returned", got, "give the number of one of them, from 0")

    @property
    def best(self) -> Level:
        """The level of the operator that was returned."""
        return self.levels[self.returned]

    @property
    def error(self) -> float:
        """The measured relative error (or residual, for a user's inputs) of the operator that was returned."""
        return self.best.error

    @property
    def met(self) -> bool:
        """Was the tolerance met, on the solutions that `measured` names?"""
        return self.status == "met"

    @property
    def missed(self) -> dict[str, float]:
        """Plain data that are not solved to the tolerance, with the estimated error; only where it was measured."""
        return self.poorly(self.tol) if self.measured else {}

    def poorly(self, error: float) -> dict[str, float]:
        """Solutions that are followed, and whose estimated error is above this one, with the estimate."""
        if self.estimates is None:
            return {}
        return {name: e for name, e in zip(self.followed, self.estimates, strict=True) if not e <= error}

    @property
    def promise(self) -> float:
        """The misfit up to which data resemble those on which the tolerance was measured."""
        return MARGIN * max(self.tol, self.best.misfit)

    def draw(self, axis: object) -> None:
        """The error of each level against its number of functions, on axes of matplotlib."""
        errors = [level.error for level in self.levels]
        plot_levels(
            axis, [level.centers for level in self.levels], errors, self.returned, self.tol if self.asked else None
        )

    def _repr_html_(self) -> str:
        rows = [("", "functions", "points", "error", "seconds")]
        for k, level in enumerate(self.levels):
            mark = "returned" if k == self.returned else ""
            rows.append((mark, f"{level.centers}", f"{level.points}", f"{level.error:.1e}", f"{level.seconds:.2f}"))
        return html_table(str(self).partition("\n")[0], rows, self.draw)

    def __str__(self) -> str:
        if not self.asked:
            return "\n".join([f"learned by default{self._with}: {self._reached}", *self._lines()])
        reason = {
            "met": "tolerance met",
            "stagnated": "NOT met: more centres did not help",
            "budget": "NOT met: the budget of centres is used up",
        }[self.status]
        missed = ", ".join(f"{name} (estimated error {e:.0e})" for name, e in self.missed.items())
        beyond = "layers" if self.space else "corner singularities, layers, jumps"
        beyond += f"; missed for constant data: {missed}" if missed else ""
        reason += self._with
        covered = f". Not covered: {beyond}" if self.measured else ""
        return "\n".join([f"{reason}: {self._reached}, asked for {self.tol:.1e}{covered}", *self._lines()])

    @property
    def _reached(self) -> str:
        """The error, and how it is known, in words."""
        if self.measured:
            return f"error {self.error:.1e} on {self.measured}"
        if self.estimates:
            return f"estimated error {max(self.estimates):.1e} for {', '.join(self.followed)}"
        return f"residual {self.error:.1e} of inputs"

    @property
    def _with(self) -> str:
        """What the space is made of, in words, as far as it is special."""
        poles = f"poles in {self.holes} hole{'s' if self.holes > 1 else ''}" if self.holes else ""
        return "".join(f" with {words}" for words in (", ".join(filter(None, (self.space, poles))),) if words)

    def _lines(self) -> list[str]:
        return [f"{'>' if k == self.returned else ' '} {level}" for k, level in enumerate(self.levels)]
