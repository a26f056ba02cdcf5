"""Surfaces of triangles as they come from files: vertices joined, open edges refused, normals turned outward."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kernop.basics.errors import ArgumentError, FloatArray, IntArray, fail
from kernop.geometry.mesh import TriangleMesh

#: Vertices that are nearer than this part of the extent are one.
SAME = 1e-9


def closed_surface(vertices: FloatArray, faces: IntArray) -> TriangleMesh:
    """The surface with vertices at one place joined, triangles without area left out, and normals turned outward.

    An error says where it is open, or where more than two triangles meet at an edge.
    """
    vertices, faces = _joined(vertices, faces)
    _check_edges(vertices, faces)
    return _outward(vertices, _wound(vertices, faces))


def _joined(vertices: FloatArray, faces: IntArray) -> tuple[FloatArray, IntArray]:
    low = vertices.min(axis=0)
    extent = float(np.max(np.ptp(vertices, axis=0)))
    cells = np.round((vertices - low) / (SAME * extent))
    _, first, number = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    faces = number.reshape(-1)[faces]
    apart = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    faces = faces[apart]
    used, faces = np.unique(faces, return_inverse=True)
    return vertices[first][used], faces.reshape(-1, 3)


def _edges(faces: IntArray) -> tuple[IntArray, IntArray]:
    """For each of the 3m sides of triangles the number of its edge, and whether it runs from the lower vertex."""
    sides = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)
    _, number = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True)
    return number.reshape(-1), (sides[:, 0] < sides[:, 1]).astype(np.intp)


def _neighbours(faces: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The two triangles at each edge, and whether it runs the same way in both (1) or not (0)."""
    number, forward = _edges(faces)
    one, other = np.argsort(number, kind="stable").reshape(-1, 2).T
    return one // 3, other // 3, (forward[one] == forward[other]).astype(np.intp)


def _check_edges(vertices: FloatArray, faces: IntArray) -> None:
    number, _ = _edges(faces)
    counts = np.bincount(number)
    for wrong, what, remedy in (
        (counts == 1, "an open surface: {} edges belong to one triangle only", "close it"),
        (counts > 2, "a surface that touches itself: {} edges belong to more than two triangles", "take it apart"),
    ):
        if wrong.any():
            side = int(np.argmax(wrong[number]))
            ends = vertices[faces.reshape(-1)[[side, 3 * (side // 3) + (side + 1) % 3]]]
            place = ", ".join(f"{value:.4g}" for value in ends.mean(axis=0))
            got = what.format(np.count_nonzero(wrong)) + f", the first at ({place})"
            raise fail(ArgumentError, "surface", got, f"{remedy}, as with trimesh.repair or your CAD program")


def _wound(vertices: FloatArray, faces: IntArray) -> IntArray:
    """Triangles turned so that neighbours agree: each edge runs one way in one of them, and back in the other.

    In a graph of all triangles, each both as it is and turned, those that agree are joined.
    """
    (f, g, same), m = _neighbours(faces), len(faces)
    rows = np.concatenate([f, f + m])
    columns = np.concatenate([g + m * same, g + m * (1 - same)])
    graph = coo_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(2 * m, 2 * m))
    _, label = connected_components(graph, directed=False)
    if np.any(label[:m] == label[m:]):
        k = int(np.argmax(label[:m] == label[m:]))
        place = ", ".join(f"{value:.4g}" for value in vertices[faces[k]].mean(axis=0))
        got = f"a surface with one side only, at ({place})"
        raise fail(ArgumentError, "surface", got, "give the surface of a solid")
    turned = label[:m] > label[m:]  # of the two, the same for all triangles of a piece
    return np.where(turned[:, None], faces[:, ::-1], faces)


def _outward(vertices: FloatArray, faces: IntArray) -> TriangleMesh:
    """Each piece of the surface turned so that its normals point to where a ray says outside."""
    mesh, (f, g, _) = TriangleMesh(vertices, faces), _neighbours(faces)
    graph = coo_array((np.ones(len(f), dtype=np.int8), (f, g)), shape=(len(faces), len(faces)))
    pieces, label = connected_components(graph, directed=False)
    extent = float(np.max(np.ptp(vertices, axis=0)))
    for piece in range(pieces):
        rows = np.flatnonzero(label == piece)
        largest = rows[np.argsort(mesh.triangles.areas[rows])[-9:]]
        middle = mesh.triangles.corners[largest].mean(axis=1)
        if np.mean(mesh.inside(middle + 1e-7 * extent * mesh.normals[largest])) > 0.5:
            faces = faces.copy()
            faces[rows] = faces[rows, ::-1]
    return TriangleMesh(vertices, faces)
