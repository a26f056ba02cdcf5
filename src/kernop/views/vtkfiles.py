"""Files for ParaView and its like: points, simplices and values, at one moment or as a series in time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np

from kernop.basics.checks import check_array, check_integer
from kernop.basics.errors import ArgumentError, ArgumentTypeError, FileError, FloatArray, NumberArray, describe, fail
from kernop.basics.extras import needed
from kernop.basics.replacing import check_path
from kernop.views.mesh import Mesh, mesh_of
from kernop.views.sight import Sight

#: Points of a file, and moments of a series.
POINTS, MOMENTS = 20_000, 51
CELLS = {1: "line", 2: "triangle", 3: "tetra"}


def to_vtk(sights: Sequence[Sight], path: str | os.PathLike[str], points: object = None, times: object = None) -> Path:
    """Write functions of space to one file, or of space and time to a series; see ``u.to_vtk``."""
    meshio = needed("meshio", "vtk", "to_vtk")
    check_path(path)
    target, scene = Path(path), sights[0].scene
    number = check_integer("points", POINTS if points is None else points, least=16)
    if scene.space > 3:
        got = f"{scene.space} dimensions of space"
        raise fail(ArgumentError, "to_vtk", got, "files of VTK have three: use to_xarray")
    if scene.timed != (target.suffix == ".pvd"):
        got = f"{str(target)!r} for a function of space{' and time' if scene.timed else ''}"
        remedy = "give 'u.pvd', a series; or one moment, u.at(t=…).to_vtk('u.vtu')" if scene.timed else "give 'u.vtu'"
        raise fail(FileError, "path", got, remedy)
    if times is not None and not scene.timed:
        raise fail(ArgumentError, "times", "some for a function without time", "leave them out")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not scene.timed:
            mesh = mesh_of(scene, number)
            return _written(meshio, target, mesh, arrays(sights, mesh.x))
        return _series(meshio, sights, target, number, read_times(sights[0], times, MOMENTS))
    except (OSError, meshio.WriteError) as error:
        raise fail(FileError, "path", f"{str(path)!r}, which cannot be written ({error})", "give another") from error


def read_times(sight: Sight, times: object, usual: int) -> FloatArray:
    """Moments of a function of time: so many, or those that are given."""
    first, last = sight.moments.tolist()
    if times is None or isinstance(times, int):
        return np.linspace(first, last, check_integer("times", usual if times is None else times, least=2))
    found = check_array("times", times, remedy="give a number of moments, or an array of times")
    if found.ndim != 1 or not len(found):
        raise fail(ArgumentTypeError, "times", describe(times), "give a number of moments, or an array of times")
    if np.min(found) < first or np.max(found) > last:
        got = f"times from {np.min(found):g} to {np.max(found):g}"
        raise fail(ArgumentError, "times", got, f"give some from {first:g} to {last:g}")
    return found


def arrays(sights: Sequence[Sight], x: FloatArray) -> dict[str, NumberArray]:
    """The values of all unknowns at points as VTK has them: numbers, and vectors with three components."""
    found: dict[str, NumberArray] = {}
    for sight in sights:
        values = sight.alone("to_vtk")(x)
        parts = {sight.name: values}
        if np.iscomplexobj(values):
            parts = {f"{sight.name}_re": np.real(values), f"{sight.name}_im": np.imag(values)}
        for name, own in parts.items():
            if own.ndim == 1:
                found[name] = own
            elif own.shape[1] <= 3:
                found[name] = np.pad(own, ((0, 0), (0, 3 - own.shape[1])))
            else:
                found |= {f"{name}_{k + 1}": own[:, k] for k in range(own.shape[1])}
    return found


def _written(meshio: ModuleType, path: Path, mesh: Mesh, values: Mapping[str, NumberArray]) -> Path:
    dim = mesh.x.shape[1]
    x = np.pad(mesh.x, ((0, 0), (0, 3 - dim)))
    data = {name: np.ascontiguousarray(own) for name, own in values.items()}
    meshio.write(path, meshio.Mesh(x, [(CELLS[dim], np.array(mesh.simplices))], point_data=data))
    return path


def _series(meshio: ModuleType, sights: Sequence[Sight], path: Path, points: int, times: FloatArray) -> Path:
    """One file for each moment in a folder beside the one that lists them."""
    last = sights[0].scene.dim - 1
    mesh, folder = mesh_of(sights[0].fixed({last: float(times[0])}).scene, points), path.with_suffix("")
    folder.mkdir(exist_ok=True)
    root = ElementTree.Element("VTKFile", type="Collection", version="0.1")
    listed = ElementTree.SubElement(root, "Collection")
    for k, t in enumerate(times.tolist()):
        own = _written(meshio, folder / f"{k:04d}.vtu", mesh, arrays([s.fixed({last: t}) for s in sights], mesh.x))
        ElementTree.SubElement(listed, "DataSet", timestep=repr(t), file=f"{folder.name}/{own.name}")
    ElementTree.ElementTree(root).write(path, xml_declaration=True)
    return path
