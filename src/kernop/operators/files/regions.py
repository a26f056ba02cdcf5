"""Regions in a file. A new kind of region needs an entry in the table below, and nothing else, to be stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kernop.basics.errors import ArgumentTypeError, describe, fail
from kernop.basics.parts import Reader, Writer
from kernop.geometry import Ball, Box, Interval, PointCloud, Points, Region, SpaceTime
from kernop.geometry.ball import Sphere
from kernop.geometry.box import Faces
from kernop.geometry.cloud import CloudRegion
from kernop.geometry.region import Where
from kernop.geometry.remembered import Remembered
from kernop.geometry.spacetime import Cylinder
from kernop.operators.files.points import read_points, write_points

#: Dimensions beyond which nothing is learned; so that a number in a file is not taken for a size.
MOST_DIMENSIONS = 1000


@dataclass(frozen=True)
class Kind:
    """How regions of some classes are written, and read again together with the points of their condition."""

    types: tuple[type[Region], ...]
    write: Callable[[Writer, Any], None]
    read: Callable[[Reader, Points], Region]


def write_region(file: Writer, region: Region) -> None:
    """The name of its class, and what it is made from."""
    for name, kind in KINDS.items():
        if type(region) in kind.types:  # not isinstance: a class of the user may do anything
            file["kind"] = name
            kind.write(file, region)
            return
    remedy = "use a domain of kernop, or PointCloud(interior, boundary) with its points"
    raise fail(ArgumentTypeError, "region", f"{describe(region)}, which cannot be stored", remedy)


def read_region(file: Reader, points: Points) -> Region:
    """The region of a condition with these points."""
    return KINDS[file.word("kind", KINDS)].read(file, points)


def _write_box(file: Writer, box: Box) -> None:
    file["lo"], file["hi"] = (corner.tolist() for corner in box.bounds)


def _read_box(file: Reader, _: Points) -> Box:
    return Box(file.numbers("lo"), file.numbers("hi"))


def _read_interval(file: Reader, _: Points) -> Interval:
    return Interval(*file.numbers("lo", 1), *file.numbers("hi", 1))


def _write_ball(file: Writer, ball: Ball) -> None:
    file["center"], file["radius"] = ball.center.tolist(), ball.radius


def _read_ball(file: Reader, _: Points) -> Ball:
    return Ball(file.numbers("center"), file.number("radius", above=0.0))


def _write_spacetime(file: Writer, region: SpaceTime) -> None:
    write_region(file.below("space"), region.space)
    file["times"] = list(region.times)


def _read_spacetime(file: Reader, points: Points) -> SpaceTime:
    first, last = file.numbers("times", 2)
    return SpaceTime(read_region(file.below("space"), points), (first, last))


def _write_faces(file: Writer, faces: Faces) -> None:
    write_region(file.below("box"), faces.box)
    file["faces"] = [f"x{axis}{'-+'[side]}" for axis, side in faces.faces]


def _read_faces(file: Reader, points: Points) -> Faces:
    box = read_region(file.below("box"), points)
    names = file.list("faces")
    if not isinstance(box, Box) or not all(isinstance(name, str) for name in names):
        raise file.wrong("faces", "not of a box")
    return box.face(*names)


def _write_sphere(file: Writer, sphere: Sphere) -> None:
    write_region(file.below("ball"), sphere.ball)


def _read_sphere(file: Reader, points: Points) -> Sphere:
    ball = read_region(file.below("ball"), points)
    if not isinstance(ball, Ball):
        raise file.wrong("ball", "no ball")
    return ball.boundary


def _write_cylinder(file: Writer, region: Cylinder) -> None:
    write_region(file.below("spacetime"), region.spacetime)
    file["parts"] = list(region.parts)


def _read_cylinder(file: Reader, points: Points) -> Cylinder:
    spacetime, parts = read_region(file.below("spacetime"), points), file.list("parts")
    if not isinstance(spacetime, SpaceTime):
        raise file.wrong("spacetime", "no space–time")
    if not all(part in ("walls", "initial", "final") and parts.count(part) == 1 for part in parts):
        raise file.wrong("parts", "not of a cylinder")
    return Cylinder(spacetime, *parts)


def _write_cloud(file: Writer, region: CloudRegion) -> None:
    file["label"], file["dimension"], file["intrinsic dimension"] = region.label, region.dim, region.intrinsic_dim
    file["timed"] = region.timed
    write_points(file, region.points)


def _read_cloud(file: Reader, _: Points) -> CloudRegion:
    dim = file.integer("dimension", least=1, most=MOST_DIMENSIONS)
    intrinsic = file.integer("intrinsic dimension", least=0, most=dim)
    return CloudRegion(read_points(file, dim).placed(_timed(file, dim)), intrinsic, file.text("label"))


def _write_pointcloud(file: Writer, region: PointCloud) -> None:
    file["dimension"], file["timed"] = region.dim, region.timed
    write_points(file.below("interior"), region.points)
    write_points(file.below("boundary"), region.boundary.points)


def _read_pointcloud(file: Reader, _: Points) -> PointCloud:
    dim = file.integer("dimension", least=1, most=MOST_DIMENSIONS)
    inner, outer = read_points(file.below("interior"), dim), read_points(file.below("boundary"), dim)
    return PointCloud(inner.x, outer.x, outer.normal, _timed(file, dim))


def _timed(file: Reader, dim: int) -> bool:
    """Is the last coordinate time? In files from before clouds had times it is not."""
    if "timed" not in file or not file.flag("timed"):
        return False
    if dim == 1:
        raise file.wrong("timed", "true for one coordinate")
    return True


def _write_part(file: Writer, region: Where | Remembered) -> None:
    """The region of which it is a part; its points are those of the condition, and its predicate is lost."""
    base = region.base
    while isinstance(base, Where | Remembered):
        base = base.base
    file["measure"] = region.measure
    write_region(file.below("base"), base)


def _read_part(file: Reader, points: Points) -> Remembered:
    return Remembered(read_region(file.below("base"), points), points, file.number("measure", above=0.0))


#: Every kind of region, by its name in a file.
KINDS: dict[str, Kind] = {
    "interval": Kind((Interval,), _write_box, _read_interval),
    "box": Kind((Box,), _write_box, _read_box),
    "faces": Kind((Faces,), _write_faces, _read_faces),
    "ball": Kind((Ball,), _write_ball, _read_ball),
    "sphere": Kind((Sphere,), _write_sphere, _read_sphere),
    "space-time": Kind((SpaceTime,), _write_spacetime, _read_spacetime),
    "cylinder": Kind((Cylinder,), _write_cylinder, _read_cylinder),
    "cloud": Kind((PointCloud,), _write_pointcloud, _read_pointcloud),
    "points": Kind((CloudRegion,), _write_cloud, _read_cloud),
    "part": Kind((Where, Remembered), _write_part, _read_part),
}
