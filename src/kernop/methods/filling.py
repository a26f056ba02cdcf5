"""Functions that fill a domain, or each of its parts: translates, polynomials, and multipoles in its holes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.collocation.functionals import Functionals, evaluations
from kernop.collocation.units import Frame
from kernop.geometry.holes import Hole
from kernop.kernels import Gaussian
from kernop.methods.base import Setting
from kernop.methods.centres import fill
from kernop.methods.spaces import KernelFunctions, Multipoles, Polynomials
from kernop.methods.spaces.multipoles import seen_degree, up_to
from kernop.methods.spaces.polynomials import total_degree

#: Multipoles for each other function of a place, at most, in the plane and in space (measured: docs/decisions.md).
MULTIPOLES = {2: 0.3, 3: 0.2}
#: A hole is left out if points lie nearer to its centre than this part of its radius: it is none.
INTRUDED = 0.5


@dataclass(frozen=True, eq=False)
class Subdomain:
    """A domain, or a part of it, in which some components have functions of their own.

    Arguments:
        frame: the box around it.
        x: points that fill it, (n, d): those of the rows.
        components: which components.
        share: the part of all functions that it gets, as it has of the points.
        holes: its holes.
    """

    frame: Frame
    x: FloatArray
    components: tuple[int, ...]
    share: float
    holes: tuple[Hole, ...] = ()


def subdomains(setting: Setting, functionals: Functionals) -> list[Subdomain]:
    """Where the domain, or each of its parts, is, as far as the rows show it."""
    ansatz = setting.ansatz
    if ansatz.parts is None:
        x = np.concatenate([block.x for block in functionals.blocks])
        (holes,) = setting.holes or ((),)
        return [Subdomain(setting.frame, x, tuple(range(ansatz.count)), 1.0, holes)]
    owned = [ansatz.of_part(p) for p in range(len(ansatz.parts))]
    found = [np.concatenate([block.x[block.involves(own)] for block in functionals.blocks]) for own in owned]
    total = sum(map(len, found))
    boxes = [replace(setting.frame, low=np.min(x, axis=0), high=np.max(x, axis=0)) for x in found]
    each = zip(boxes, found, owned, setting.holes or ((),) * len(owned), strict=True)
    return [Subdomain(box, x, own, len(x) / total, holes) for box, x, own, holes in each]


def translates(setting: Setting, place: Subdomain, number: int, given: FloatArray | None = None) -> KernelFunctions:
    """K(z_j, ·) for each component, at so many centres that fill the place, or at those that are given (L, d)."""
    chosen = fill(place.frame, max(1, number) if given is None else len(given), place.x)
    z = chosen.z if given is None else given
    functions = Functionals(tuple(evaluations(z, k) for k in place.components))
    return KernelFunctions(setting.kernel or Gaussian(chosen.lengthscale), functions, setting.ansatz)


def polynomials(setting: Setting, place: Subdomain, number: int) -> tuple[Polynomials, ...]:
    """Polynomials of total degree in the box of a place, at most so many, for each component."""
    frame, ansatz = place.frame, setting.ansatz
    half = 0.5 * np.where(frame.high > frame.low, frame.high - frame.low, frame.units)
    centre, degrees = 0.5 * (frame.low + frame.high), total_degree(len(half), number, frame.fineness)
    return tuple(Polynomials(centre, half, degrees, k, ansatz) for k in place.components)


def multipoles(setting: Setting, place: Subdomain, number: int) -> tuple[Multipoles, ...]:
    """For each hole of a place multipoles for each component, beside so many other functions.

    All holes get as many, unless the points around one of them do not tell as many apart.
    """
    found = list[Multipoles]()
    for hole in place.holes:
        distance = np.linalg.norm(place.x - hole.centre, axis=1)
        radius, dim = float(np.min(distance)), len(hole.centre)  # that of the hole, to the spacing of the points
        if radius < INTRUDED * hole.radius:
            continue
        most = int(MULTIPOLES[dim] * number / len(place.holes))
        kinds = up_to(dim, seen_degree(dim, distance / radius), most)
        if len(kinds):
            reach = float(np.max(distance)) / radius
            own = Multipoles(hole.centre, radius, kinds, reach=reach, ansatz=setting.ansatz)
            found.extend(replace(own, component=k) for k in place.components)
    return tuple(found)
