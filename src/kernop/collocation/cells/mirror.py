"""Mirrored parts of a box in space: eight octants that are alike, for equations that are their own mirror images."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.geometry.cells import Face

#: Coordinates that differ by less than this part of the extent are the same.
SAME = 1e-9


class Mirror:
    """Which parts of a box in space are mirrored: those beyond its middle, axis by axis.

    Coordinates, nodes and seams of a part then are those of its mirror image, so that equations that are their own
    mirror images have equal parts, and equal groups of them, in all eight octants. In the plane nothing is turned, nor
    are the two coordinates of the plane and that of time.

    Arguments:
        whole: the lower and the upper corner of the box, (2, d).
        turned: is it a box in space?
    """

    def __init__(self, whole: FloatArray, turned: bool) -> None:
        self._middle, self._extent, self._turned = 0.5 * (whole[0] + whole[1]), whole[1] - whole[0], turned

    def signs(self, x: FloatArray) -> FloatArray:
        """−1 along the axes along which what has its middle at x (…, d) is mirrored, else 1."""
        beyond = x - self._middle > SAME * self._extent
        return np.where(beyond & self._turned, -1.0, 1.0)

    def corners(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The corners of boxes (…, d), or of faces, that are the lower and the upper one in the mirror."""
        plain = self.signs(0.5 * (low + high)) > 0.0
        return np.where(plain, low, high), np.where(plain, high, low)

    def ordered(self, faces: Sequence[Face]) -> list[Face]:
        """Faces by how far they are from the middle, so that those of mirrored parts are in the same order."""
        if not faces or not self._turned:
            return list(faces)
        places = (np.array([0.5 * (face.low + face.high) for face in faces]) - self._middle) / self._extent
        places = np.round(places / SAME)
        order = np.lexsort((*places.T, [face.axis for face in faces], *np.abs(places).T))
        return [faces[k] for k in order]
