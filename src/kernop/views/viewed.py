"""What a function on a domain can be asked for beside its values."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kernop.basics.checks import check_choice, check_flag
from kernop.basics.errors import ArgumentError, FloatArray, NumberArray, fail
from kernop.geometry import Points, Region
from kernop.geometry.region import PointSet
from kernop.views import extremes, films, grids, integrals, pictures, vtkfiles
from kernop.views.extremes import Extremum
from kernop.views.sight import Sight


class Viewed(ABC):
    """A function on a domain, or several unknowns: how to look at it, and how to hand it on."""

    @abstractmethod
    def _sights(self) -> tuple[Sight, ...]:
        """Each unknown as a function on the domain."""

    def _whole(self) -> Sight:
        """All unknowns together, of which operators can be taken."""
        return self._sights()[0]

    @abstractmethod
    def grad(self, x: Any, *, outside: str = "raise") -> FloatArray:
        """The derivatives along the coordinates."""

    def error_sights(self) -> list[tuple[Sight, str]]:
        """What is known of the error of each unknown as a function, and in words."""
        raise fail(ArgumentError, "error", "True for a function whose error is not known as a function", "leave it out")

    def plot(
        self,
        *,
        ax: object = None,
        axis: str | int | None = None,
        at: object = None,
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

    def animate(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        times: object = None,
        fps: int = 20,
        axis: str | int | None = None,
        at: object = None,
        part: str | None = None,
        points: int | None = None,
        cmap: str | None = None,
    ) -> Any:
        """u in time as a film: a GIF, an MP4 (needs ``kernop[film]``) or an HTML page, by the suffix of ``path``.

        Returns the path; without one the animation of matplotlib, which a notebook shows. Needs ``kernop[plot]``.

        Arguments:
            times: the number of moments, 60 if it is not given; or an array of them.
            fps: moments a second.
            axis, at, part, points, cmap: as in `plot`; in space, ``axis="z", at=0.5`` chooses a plane.
        """
        return films.animate(
            self._one("animate"), path, times=times, fps=fps, axis=axis, at=at, part=part, points=points, cmap=cmap
        )

    def to_xarray(self, shape: object = None) -> Any:
        """u on a regular grid as an ``xarray.DataArray`` with coordinates, NaN outside the domain.

        ``shape`` has the number of coordinates along each axis, or is one number for all; both ends are among them. A
        vector has a last dimension "u_component", a batch "input"; several unknowns are a Dataset. Needs
        ``kernop[xarray]``.
        """
        return grids.to_xarray(self._sights(), shape)

    def to_pandas(self, shape: object = None) -> Any:
        """u on a regular grid as a ``pandas.DataFrame``: a row for each point inside the domain, x, y, … and u.

        ``shape`` is as in `to_xarray`. A vector has columns u_1, u_2, …, a batch u[0], u[1], …. Needs
        ``kernop[pandas]``.
        """
        return grids.to_pandas(self._sights(), shape)

    def to_vtk(self, path: str | os.PathLike[str], *, points: int | None = None, times: object = None) -> Path:
        """Write u to a file that ParaView opens, "u.vtu" or "u.vtk": lines, triangles or tetrahedra in the domain.

        All unknowns are in it: numbers, vectors with three components, complex values as u_re and u_im. On a SpaceTime
        "u.pvd" lists a file for each of ``times`` (a number of moments, or an array) in a folder beside it. ``points``
        is about how many points the mesh has. Returns the path. Needs ``kernop[vtk]``.
        """
        return vtkfiles.to_vtk(self._sights(), path, points, times)

    def integrate(self, region: Region | None = None, op: object = None) -> Any:
        """∫ u over the domain, a part of it or of its boundary; or ∫ P u of any operator P: a number, (k,), or (…, B).

        ``u.integrate(D.boundary, lambda u: a * ko.normal_derivative(u))`` is the flux through the boundary. Gauss's
        rules on boxes, balls and their boundaries and rules for polynomials in the plane are as good as u; elsewhere,
        as on solids and ``.where(…)``, it is quasi-Monte Carlo with 65 536 points, good to 3 or 4 digits. A warning
        says so if the last rules differ by more than 1e-3.
        """
        sight = self._one("integrate") if op is None else self._whole()
        regions = integrals.read_region(sight.scene, region)
        found = integrals.integral(lambda points: sight.evaluate(op, points, "extrapolate"), regions, "integrate")
        return _plain(found)

    def mean(self, region: Region | None = None, op: object = None) -> Any:
        """The mean of u, or of P u, over the domain or a region: as `integrate`, divided by the measure."""
        sight = self._one("mean") if op is None else self._whole()
        if region is None and all(isinstance(own, PointSet) for own in sight.scene.regions):
            (region,) = sight.scene.regions[:1]
        regions = integrals.read_region(sight.scene, region)
        measure = float(integrals.integral(lambda points: np.ones(len(points)), regions, "u.mean"))
        return self.integrate(region, op) / measure

    def norm(self, kind: str = "l2") -> Any:
        """The norm of u over the domain: a number, or (B,).

        "l2" is (∫ |u|²)^½, "h1" (∫ |u|² + |∇u|²)^½ with derivatives in space, and "max" the largest |u|; |u| of a
        vector is its length.
        """
        sight = self._one("norm")
        if check_choice("kind", kind, ("l2", "h1", "max")) == "max":
            return self._extremes(sight, None, lambda v: np.sqrt(integrals.squared_sizes(v, v.ndim - 1))).value

        def squares(points: Points) -> FloatArray:
            values = sight.evaluate(None, points, "extrapolate")
            found = integrals.squared_sizes(values, values.ndim - (1 if sight.single else 2))
            if kind == "h1":
                steps = self.grad(points, outside="extrapolate")
                steps = np.take(steps, np.arange(sight.scene.space), axis=-1 if sight.single else -2)
                found = found + integrals.squared_sizes(steps, steps.ndim - (1 if sight.single else 2))
            return found

        return _plain(np.sqrt(integrals.integral(squares, integrals.read_region(sight.scene, None), "norm")))

    def max(self, op: object = None) -> Extremum:
        """The largest value of u on the closed domain, or of P u, and where: ``value, x = u.max()``.

        A number and (d,), or (B,) and (B, d). For complex values and vectors, ask ``u.norm("max")`` or say ``op=``.
        """
        return self._extremes(self._one("max") if op is None else self._whole(), op, _real)

    def min(self, op: object = None) -> Extremum:
        """The least value of u on the closed domain, or of P u, and where; see `max`."""
        found = self._extremes(self._one("min") if op is None else self._whole(), op, lambda v: -_real(v))
        return Extremum(-found.value, found.x)

    def _extremes(self, sight: Sight, op: object, shown: Callable[[NumberArray], FloatArray]) -> Extremum:
        picked = [sight] if sight.single else sight.picks()
        found = [
            extremes.largest(own.scene, lambda x, own=own: shown(own.evaluate(op, own.points(x), "extrapolate")))
            for own in picked
        ]
        if sight.single:
            return found[0]
        return Extremum(np.array([own.value for own in found]), np.stack([own.x for own in found]))

    def _one(self, what: str) -> Sight:
        """The only unknown; an error if there are several."""
        sights = list(self._sights())
        if len(sights) > 1:
            names = " or ".join(f"s.{own.name}.{what}(…)" for own in sights)
            raise fail(ArgumentError, what, "a solution with several unknowns", f"ask each of them: {names}")
        return sights[0]


def _real(values: NumberArray) -> FloatArray:
    if np.iscomplexobj(values) or values.ndim > 1:
        got = "complex values" if np.iscomplexobj(values) else "a vector"
        remedy = "use u.norm('max'), or op= for a real part of it"
        raise fail(ArgumentError, "u", f"{got}, which no order compares", remedy)
    return values


def _plain(value: NumberArray) -> Any:
    """A number instead of an array without axes."""
    return value.item() if np.ndim(value) == 0 else value
