"""Solids: what a closed surface of triangles encloses, from a file or from arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kernop.basics.checks import check_array, check_coordinates
from kernop.basics.errors import ArgumentError, BoolArray, FileError, FloatArray, ShapeError, fail
from kernop.basics.extras import needed
from kernop.basics.frozen import frozen
from kernop.basics.stored import stored
from kernop.geometry.domain import Carved, WholeBoundary
from kernop.geometry.extents import check_extent, slack
from kernop.geometry.patch import Patch
from kernop.geometry.points import Points
from kernop.geometry.repair import closed_surface
from kernop.geometry.triangles import Triangles

#: Points at which a surface is looked at from both sides, so far away as a part of its extent; at a few of them a ray
#: along an edge may be mistaken.
LOOK, APART, FEW = 2048, 1e-7, 3
#: Files of surfaces that can be read.
SUFFIXES = (".stl", ".ply", ".obj", ".off")


@stored("solid")
class Solid(Carved):
    """What a closed surface of triangles encloses: ``Solid("part.stl")``, or ``Solid(vertices, faces)``.

    Triangles may be wound in any direction; normals are turned outward, and into cavities. A surface that is open
    anywhere, or that cuts through itself, is refused with the place; a cut of less than a thousandth of the surface may
    be missed.

    Arguments:
        source: the path of an STL, PLY, OBJ or OFF file; or the vertices, (n, 3).
        faces: the triangles, (m, 3), as numbers of vertices; None with a file.
    """

    def __init__(self, source: Any, faces: Any = None) -> None:
        if isinstance(source, str | Path):
            if faces is not None:
                raise fail(ArgumentError, "faces", "some with a file", "leave them out: the file has them")
            source, faces = _read_mesh(Path(source))
        vertices = check_coordinates("vertices", source, 3)
        numbers = check_array("faces", faces, remedy="give the numbers of three vertices for each triangle")
        if numbers.ndim != 2 or numbers.shape[1] != 3 or len(numbers) < 4:
            got = f"an array of shape {numbers.shape}"
            raise fail(ShapeError, "faces", got, "give at least 4 triangles, as an array (m, 3)")
        if np.any(numbers != np.round(numbers)) or numbers.min() < 0 or numbers.max() >= len(vertices):
            got = f"numbers from {numbers.min():g} to {numbers.max():g}"
            raise fail(ArgumentError, "faces", got, f"give whole numbers of vertices, 0 to {len(vertices) - 1}")
        check_extent("vertices", vertices.min(axis=0), vertices.max(axis=0))
        self.mesh = closed_surface(vertices, numbers.astype(np.intp))
        self.check_thickness("surface")
        self._check_simple()

    def stored_arguments(self) -> dict[str, object]:
        """The arguments of the constructor: arrays, whatever file they came from."""
        return {"source": frozen(self.mesh.vertices), "faces": self.mesh.faces.astype(np.float64)}

    def _check_simple(self) -> None:
        """Raise if the surface cuts through itself: then normals of some of it point to where a ray says inside."""
        points = self.boundary.sample(LOOK)
        step = APART * float(np.max(np.subtract(*self.bounds[::-1]))) * points.outward
        wrong = self.mesh.inside(points.x + step) | ~self.mesh.inside(points.x - step)
        if np.count_nonzero(wrong) >= FEW:
            place = ", ".join(f"{value:.4g}" for value in points.x[np.argmax(wrong)])
            got = f"a surface that cuts through itself: at ({place}) it encloses something twice"
            remedy = "give the parts one by one and join them, Solid(…) | Solid(…), or repair it in your CAD program"
            raise fail(ArgumentError, "surface", got, remedy)

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.mesh.vertices.min(axis=0), self.mesh.vertices.max(axis=0)

    @cached_property
    def _size(self) -> float:
        return self.mesh.volume

    @property
    def measure(self) -> float:
        """The volume within the triangles, to rounding."""
        return self._size

    def height(self, x: FloatArray) -> FloatArray:
        distance, _ = self.mesh.nearest(x)
        return np.where(self.mesh.inside(x), -distance, distance)

    def _contains(self, x: FloatArray) -> BoolArray:
        inside = self.mesh.inside(x)
        low, high = self.bounds
        room = float(np.max(slack(low, high)))
        beyond = np.flatnonzero(~inside & np.all((x >= low - room) & (x <= high + room), axis=1))
        if len(beyond):
            inside[beyond] = self.mesh.touches(x[beyond], room)
        return inside

    @property
    def boundary(self) -> Surface:
        """The surface: all triangles, with outward normals."""
        return Surface(self)

    def __repr__(self) -> str:
        low, high = (", ".join(f"{value:.3g}" for value in corner) for corner in self.bounds)
        return f"Solid(<{len(self.mesh.faces)} triangles from ({low}) to ({high})>)"


@stored("surface")
@dataclass(frozen=True, eq=False, repr=False)
class Surface(WholeBoundary):
    """The surface of a solid: a point has the normal of its triangle."""

    solid: Solid

    @property
    def enclosed(self) -> Solid:
        return self.solid

    @cached_property
    def _net(self) -> Triangles:
        return Triangles.ordered(self.solid.mesh.triangles.corners)

    @property
    def patches(self) -> tuple[Patch, ...]:
        net = self._net
        normals = net.crosses / (2.0 * net.areas[:, None])
        area = float(np.sum(net.areas))

        def place(t: FloatArray) -> Points:
            x, number = net.place(t)
            return Points(x, normals[number])

        return (Patch(area, (area**0.5, area**0.5), place, smooth=False),)

    def _contains(self, x: FloatArray) -> BoolArray:
        return self.solid.mesh.touches(x, float(np.max(slack(*self.bounds))))

    def normals(self, x: FloatArray) -> FloatArray | None:
        return self.solid.mesh.normals[self.solid.mesh.nearest(x)[1]]


def _read_mesh(path: Path) -> tuple[FloatArray, FloatArray]:
    """The vertices (n, 3) and the triangles (m, 3), numbers of vertices, of a file."""
    if path.suffix.lower() not in SUFFIXES:
        remedy = f"give a file of one of the kinds {', '.join(SUFFIXES)}"
        raise fail(FileError, "path", f"{str(path)!r}, whose suffix is not that of a surface", remedy)
    trimesh = needed("trimesh", "geometry", "Solid")
    if not path.is_file():
        raise fail(FileError, "path", f"{str(path)!r}, which is no file", "give the path of a surface")
    try:
        mesh = trimesh.load(str(path), force="mesh", process=False)
        vertices, faces = np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.float64)
    except Exception as error:  # of whatever kind the reader raises for a damaged file
        got = f"{str(path)!r}, which cannot be read ({error})"
        raise fail(FileError, "path", got, "give a surface of triangles") from error
    return vertices, faces
