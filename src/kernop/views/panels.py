"""What is drawn: functions on lines and in planes, real or complex, of numbers or vectors, as panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, NumberArray, describe, fail
from kernop.views.scene import read_cut
from kernop.views.sight import Sight

#: Moments at which a plane is shown.
MOMENTS = 4
#: Takes values (n,) or (n, k) to those that are shown.
Shown = Callable[[NumberArray], NumberArray]
#: What can be shown of complex values, by name: how it is computed, and how it is written.
PARTS: dict[str, tuple[Shown, str]] = {
    "": (np.real, "{}"),
    "real": (np.real, "Re {}"),
    "imag": (np.imag, "Im {}"),
    "modulus": (np.abs, "|{}|"),
    "phase": (np.angle, "arg {}"),
}


@dataclass(frozen=True, eq=False)
class Panel:
    """What is drawn on one pair of axes: a function on a line or in a plane.

    Arguments:
        sight: the function.
        label: its name, and what is shown of it.
        of: takes values (n,) or (n, k) to those that are shown, (n,), or (n, m) for m curves.
        labels: of the curves, on a line.
        arrows: takes the values to the components of arrows, (n, 2); None for none.
        signed: does the sign matter more than the size?
        note: what else the title says.
    """

    sight: Sight
    label: str
    of: Shown = np.real
    _: KW_ONLY
    labels: tuple[str, ...] = ()
    arrows: Shown | None = None
    signed: bool = False
    note: str = ""

    @property
    def title(self) -> str:
        """The name, and where it is looked at."""
        return ", ".join(filter(None, (self.label, self.sight.scene.where, self.note)))


def cuts(sight: Sight, axis: object, at: object) -> list[Sight]:
    """Cuts of a function that are lines or planes: what is asked for, else some through the middle."""
    own = sight.alone("plot").fixed(read_cut(sight.scene, axis, at))
    scene = own.scene
    if scene.dim <= 2:
        return [own]
    if scene.timed and scene.dim == 3:
        return [own.fixed({2: float(t)}) for t in np.linspace(scene.low[-1], scene.high[-1], MOMENTS)]
    if scene.timed:
        return cuts(own.fixed({scene.dim - 1: float(scene.high[-1])}), None, None)
    centre = _tidy(own.centre(), scene.high - scene.low).tolist()
    if scene.dim == 3:
        return [own.fixed({k: centre[k]}) for k in (2, 1, 0)]
    return [own.fixed({k: centre[k] for k in range(2, scene.dim)})]


def _tidy(x: FloatArray, sides: FloatArray) -> FloatArray:
    """A place x (d,) with as few digits as tell it to a thousandth of the sides: titles show it."""
    step = 10.0 ** np.floor(np.log10(1e-3 * sides))
    return np.round(x / step) * step + 0.0


def panels_of(sight: Sight, part: str | None) -> list[Panel]:
    """The panels of a function on a line or in a plane."""
    one = sight(sight.centre()[None, :])
    complex_ = np.iscomplexobj(one)
    if part is not None and not complex_ and part not in ("real", "modulus"):
        got = f"{describe(part)} of real values"
        raise fail(ArgumentError, "part", got, "leave it out, or choose 'real' or 'modulus'")
    wanted = [part] if part is not None else ["real", "imag", "modulus"] if complex_ else [""]
    if one.ndim == 1:
        return _number_panels(sight, wanted)
    if sight.scene.dim == 1 and not complex_:
        return [Panel(sight, sight.name, labels=tuple(f"${sight.name}_{k + 1}$" for k in range(one.shape[1])))]
    scene = sight.scene
    if not scene.timed and scene.dim == 2 and max(scene.axes) < one.shape[1] and "phase" not in wanted:
        return [_arrows(sight, own) for own in wanted]
    return [_component(sight, k, own) for k in range(one.shape[1]) for own in wanted]


def _number_panels(sight: Sight, wanted: Sequence[str]) -> list[Panel]:
    """Each part in a panel; on a line all of them in one."""
    name = sight.name
    if sight.scene.dim == 1 and len(wanted) > 1:
        labels = tuple(PARTS[own][1].format(name) for own in wanted)
        return [Panel(sight, name, lambda v: np.stack([PARTS[own][0](v) for own in wanted], axis=1), labels=labels)]
    return [Panel(sight, PARTS[own][1].format(name), PARTS[own][0]) for own in wanted]


def _arrows(sight: Sight, part: str) -> Panel:
    """The length of a vector as a colour, and arrows of its components in the plane; of a modulus there are none."""
    shown, written = PARTS[part]
    label = f"|{sight.name if part == 'modulus' else written.format(sight.name)}|"
    arrows = None if part == "modulus" else lambda v: shown(v)[:, list(sight.scene.axes)]
    return Panel(sight, label, lambda v: np.linalg.norm(shown(v), axis=1), arrows=arrows)


def _component(sight: Sight, k: int, part: str) -> Panel:
    """One component of a vector."""
    shown, written = PARTS[part]
    return Panel(sight, written.format(f"${sight.name}_{k + 1}$"), lambda v: shown(v[:, k]))
