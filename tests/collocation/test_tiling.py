"""Points of parts: which condition holds next to a corner."""

import numpy as np

import kernop as ko
from kernop.collocation.tiling import off_corners
from kernop.geometry.cells import Cells, grown


def test_points_next_to_a_corner_stay_on_their_side():
    """A star: on each of its sides, from 1e-7 down to 1e-14 of the domain away from its ends."""
    angles, radii = np.pi / 5 * np.arange(10), np.tile([1.0, 0.5], 5)
    star = ko.Polygon(np.column_stack([radii * np.cos(angles), radii * np.sin(angles)]))
    low, high = star.bounds
    cells = Cells.of(
        grown([np.array(side) for side in zip(low, high, strict=True)], lambda a, b: True, lambda *_: False)
    )
    corners = np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])
    distance = np.geomspace(1e-14, 1e-7, 40)[:, None]
    for here, there in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        along = (there - here) / np.linalg.norm(there - here)
        normal = np.tile([along[1], -along[0]], (len(distance), 1))
        for corner, way in ((here, along), (there, -along)):
            moved = off_corners(corner + distance * way, normal, corners, cells)
            gone = moved - corner
            assert np.all(np.abs(gone @ normal[0]) < 1e-14)
            assert np.all(gone @ way > 1e-7)
