"""Geometry: domains, their boundaries, outward normals, and point sets in them."""

from kernop.geometry.ball import Ball
from kernop.geometry.box import Box, Interval
from kernop.geometry.cloud import PointCloud
from kernop.geometry.corners import PlaneCorners
from kernop.geometry.domain import Domain, SetOperation
from kernop.geometry.implicit import Implicit
from kernop.geometry.points import Points
from kernop.geometry.polygon import Polygon
from kernop.geometry.region import Region
from kernop.geometry.solid import Solid
from kernop.geometry.spacetime import SpaceTime

__all__ = [
    "Ball",
    "Box",
    "Domain",
    "Implicit",
    "Interval",
    "PlaneCorners",
    "PointCloud",
    "Points",
    "Polygon",
    "Region",
    "SetOperation",
    "Solid",
    "SpaceTime",
]
