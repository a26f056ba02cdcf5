"""Geometry: domains, their boundaries, outward normals, and point sets in them."""

from kernop.domains.ball import Ball
from kernop.domains.box import Box, Interval
from kernop.domains.cloud import PointCloud
from kernop.domains.points import Points
from kernop.domains.region import Region
from kernop.domains.spacetime import SpaceTime

__all__ = ["Ball", "Box", "Interval", "PointCloud", "Points", "Region", "SpaceTime"]
