"""What a function on a domain can be asked for beside its values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from kernop.basics.errors import ArgumentError, check_flag, fail
from kernop.views import pictures
from kernop.views.sight import Sight


class Viewed(ABC):
    """A function on a domain, or several unknowns: how to look at it, and how to hand it on."""

    @abstractmethod
    def _sights(self) -> tuple[Sight, ...]:
        """Each unknown as a function on the domain."""

    def error_sights(self) -> list[tuple[Sight, str]]:
        """What is known of the error of each unknown as a function, and in words."""
        raise fail(ArgumentError, "error", "True for a function whose error is not known as a function", "leave it out")

    def plot(
        self,
        *,
        ax: Any = None,
        axis: str | int | None = None,
        at: Any = None,
        part: str | None = None,
        error: bool = False,
        points: int | None = None,
        cmap: str | None = None,
    ) -> Any:
        """Draw u: a curve, colours in the plane, cuts of space, some moments; arrows for a vector.

        Returns the axes of matplotlib, or an array of them where there are several panels. Needs ``kernop[plot]``.

        Arguments:
            ax: axes to draw on, one for each panel; None makes a figure.
            axis, at: a cut, ``axis="z", at=0.5`` or ``at={"z": 0.5}``; axes are x, y, z (x1, x2, … if more) and t.
                Without it three planes through the middle are shown, and some moments of a plane in time.
            part: of complex values, "real", "imag", "modulus" or "phase"; None for the first three.
            error: show the estimated error beside it: û + ê is nearer to u, and ê is what is drawn.
            points: about how many points u is computed at for each panel.
            cmap: a map of colours of matplotlib.
        """
        errors = self.error_sights() if check_flag("error", error) else []
        return pictures.plot(
            self._sights(), ax=ax, axis=axis, at=at, part=part, points=points, cmap=cmap, errors=errors
        )
