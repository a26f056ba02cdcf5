"""The one place that knows trimesh: files of surfaces."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np

from kernop.basics.errors import FileError, FloatArray, MissingExtraError, fail

#: What can be read.
SUFFIXES = (".stl", ".ply", ".obj", ".off")


def read_mesh(path: Path) -> tuple[FloatArray, FloatArray]:
    """The vertices (n, 3) and the triangles (m, 3), numbers of vertices, of a file."""
    if path.suffix.lower() not in SUFFIXES:
        remedy = f"give a file of one of the kinds {', '.join(SUFFIXES)}"
        raise fail(FileError, "path", f"{str(path)!r}, whose suffix is not that of a surface", remedy)
    try:
        trimesh = import_module("trimesh")
    except ImportError as error:
        remedy = "install the extra 'geometry': pip install 'kernop[geometry]'"
        raise fail(MissingExtraError, "Solid", f"the file {str(path)!r} without trimesh", remedy) from error
    if not path.is_file():
        raise fail(FileError, "path", f"{str(path)!r}, which is no file", "give the path of a surface")
    try:
        mesh = trimesh.load(str(path), force="mesh", process=False)
        vertices, faces = np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.float64)
    except Exception as error:  # of whatever kind the reader raises for a damaged file
        got = f"{str(path)!r}, which cannot be read ({error})"
        raise fail(FileError, "path", got, "give a surface of triangles") from error
    return vertices, faces
