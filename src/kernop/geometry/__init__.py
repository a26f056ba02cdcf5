"""Geometry: domains, their boundaries, outward normals, and point sets in them."""

from kernop.geometry.ball import Ball
from kernop.geometry.box import Box, Interval
from kernop.geometry.cloud import PointCloud
from kernop.geometry.points import Points
from kernop.geometry.region import Region
from kernop.geometry.spacetime import SpaceTime

__all__ = ["Ball", "Box", "Interval", "PointCloud", "Points", "Region", "SpaceTime"]
