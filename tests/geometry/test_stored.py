"""Regions in files: every kind comes back as it was; unknown ones are refused."""

import numpy as np
import pytest
from through_files import returned

import kernop as ko
from kernop.basics.codec import Decoder, Encoder
from kernop.basics.errors import ArgumentTypeError, FileError, fail
from kernop.basics.stored import KINDS
from kernop.geometry import Region
from kernop.geometry.box import Faces
from kernop.geometry.remembered import Remembered, remembered
from kernop.geometry.spacetime import Cylinder

BOX, BALL = ko.Box([0.0, -1.0], [2.0, 1.0 / 3.0]), ko.Ball([0.1, 0.2], 1.5)
TIME = ko.SpaceTime(ko.Interval(0.0, 1.0), (0.0, 0.7))
ROUND_TIME = ko.SpaceTime(BALL, (-1.0, 0.1))
CLOUD = ko.PointCloud(np.random.default_rng(0).random((9, 2)), np.eye(3)[:, :2], [[0.0, -1.0], [0.6, 0.8], [1.0, 0.0]])
FRAME = ko.Polygon([[0, 0], [0, 3], [3, 3], [3, 0]], [[[1, 1], [2, 1], [2, 2]]])
HOLE = ko.Ball([0.5, 0.5], 0.3)
PLATE = (FRAME - HOLE) | ko.Box([3.0, 0.0], [4.0, 1.0])
PLATE_TIME = ko.SpaceTime(PLATE, (0.0, 1.0))
TETRAHEDRON = ko.Solid([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 2, 3]])
ROUND = ko.Implicit(lambda x: x[..., 0] ** 2 + x[..., 1] ** 2 - 1.0, ([-1.1, -1.1], [1.1, 1.1]))
REGIONS = {
    "solid": TETRAHEDRON,
    "surface": TETRAHEDRON.boundary,
    "solid less a ball": TETRAHEDRON - ko.Ball([0.0, 0.0, 0.0], 0.2),
    "polygon": FRAME,
    "edges": FRAME.boundary,
    "an edge": FRAME.edge(4),
    "combination": PLATE,
    "pieces": PLATE.boundary,
    "a hole's piece": PLATE.boundary.of(HOLE),
    "an edge's piece": PLATE.boundary.of(FRAME.edge(3)),
    "combination in time": PLATE_TIME,
    "its walls": PLATE_TIME.walls,
    "the hole's wall": PLATE_TIME.walls.of(HOLE),
    "interval": ko.Interval(-0.1, 1.0 / 3.0),
    "ends": ko.Interval(0.0, 1.0).boundary,
    "box": BOX,
    "faces": BOX.boundary,
    "some faces": BOX.face("left", "top"),
    "ball": BALL,
    "sphere": BALL.boundary,
    "space-time": TIME,
    "round space-time": ROUND_TIME,
    "initial": TIME.initial,
    "walls": ROUND_TIME.walls,
    "final": TIME.final,
    "all sides": TIME.boundary,
    "points": BOX.at([[0.0, 0.0], [0.5, 0.1]]),
    "points of a boundary in time": TIME.walls.at([[0.0, 0.1], [1.0, 0.2], [0.0, 0.3]]),
    "cloud": CLOUD,
    "cloud's boundary": CLOUD.boundary,
    "cloud's part": CLOUD.boundary.where(lambda x: x[..., 0] < 0.5),
}


@pytest.mark.parametrize("name", REGIONS)
def test_a_region_comes_back(name):
    region = REGIONS[name]
    found = returned(region, Region)
    assert found == region
    assert type(found) is type(region)
    assert repr(found) == repr(region)
    assert (found.dim, found.intrinsic_dim, found.measure) == (region.dim, region.intrinsic_dim, region.measure)
    for one, other in zip(found.bounds, region.bounds, strict=True):
        np.testing.assert_array_equal(one, other)
    mine, theirs = found.sample(2, "uniform", 5), region.sample(2, "uniform", 5)
    np.testing.assert_array_equal(mine.x, theirs.x)
    np.testing.assert_array_equal(mine.normal, theirs.normal)
    around = np.random.default_rng(1).uniform(-2.0, 2.0, (50, region.dim))
    np.testing.assert_array_equal(found.contains(around), region.contains(around))


def test_regions_differ():
    for name, one in REGIONS.items():
        for other in (region for key, region in REGIONS.items() if key != name):
            assert one != other


def test_every_kind_is_tried():
    known = {kind for kind in KINDS.values() if isinstance(kind, type) and issubclass(kind, Region)}
    assert known == {type(region) for region in REGIONS.values()} | {Remembered}


def test_a_part_remembers_its_points():
    part = BOX.boundary.where(lambda x: x[..., 0] < 1.0).where(lambda x: x[..., 1] > -1.0)
    points = part.sample(20)
    found = returned(remembered(part, points), Region)
    assert isinstance(found, Remembered)
    assert not found.known
    assert found.measure == part.measure
    assert found.contains(points.x).all()
    assert found.base == BOX.boundary
    again = returned(remembered(found, points), Region)
    assert again.contains(points.x).all()


@pytest.mark.parametrize("piece", ["initial", "walls"])
def test_a_cylinder_over_a_part_remembers_its_points(piece):
    """Its space is told by a predicate; what is left is the cylinder over the whole, and the points."""
    part = ko.SpaceTime(PLATE.where(lambda x: x[..., 0] < 2.0), (0.0, 1.0))
    region = part.initial if piece == "initial" else PLATE_TIME.walls.where(lambda x: x[..., 0] < 2.0)
    points = region.sample(20)
    found = returned(remembered(region, points), Region)
    assert isinstance(found, Remembered)
    assert (found.dim, found.intrinsic_dim, found.measure) == (3, 2, region.measure)
    assert found.contains(points.x).all()
    np.testing.assert_array_equal(found.normals(points.x), points.normal)
    assert found.base == (PLATE_TIME.initial if piece == "initial" else PLATE_TIME.walls)


@pytest.mark.parametrize(
    ("region", "base"),
    [
        (ROUND, ko.Box),
        (ROUND.boundary, Faces),
        (ROUND - ko.Ball([0.0, 0.0], 0.5), ko.Box),
        ((ROUND - ko.Ball([0.0, 0.0], 0.5)).boundary, Faces),
        (ko.SpaceTime(ROUND, (0.0, 1.0)), ko.SpaceTime),
        (ko.SpaceTime(ROUND, (0.0, 1.0)).walls, Cylinder),
        (ko.SpaceTime(ROUND - ko.Ball([0.0, 0.0], 0.5), (0.0, 1.0)).walls.of(ROUND), Cylinder),
    ],
    ids=repr,
)
def test_a_region_told_by_a_function_remembers_its_points(region, base):
    points = region.sample(20)
    found = returned(remembered(region, points), Region)
    assert isinstance(found, Remembered)
    assert isinstance(found.base, base)
    assert (found.dim, found.intrinsic_dim, found.timed) == (region.dim, region.intrinsic_dim, region.timed)
    assert found.measure == region.measure
    assert found.contains(points.x).all()
    if points.normal is None:
        assert found.normals(points.x) is None
    else:
        np.testing.assert_array_equal(found.normals(points.x), points.normal)


def test_a_region_of_the_user_is_refused():
    class Mine(ko.Ball):
        pass

    with pytest.raises(ArgumentTypeError, match=r"region: got .*, which cannot be stored: .*; use one of kernop's own"):
        Encoder().encode(Mine([0.0], 1.0), "region", Region)


@pytest.mark.parametrize(
    "header",
    [
        {"class": "box", "lo": [0.0], "hi": [1.0, 2.0]},
        {"class": "box", "lo": [1.0], "hi": [0.0]},
        {"class": "box", "lo": [], "hi": []},
        {"class": "interval", "a": [0.0], "b": 1.0},
        {"class": "ball", "center": [0.0], "radius": 0.0},
        {"class": "faces", "box": {"class": "ball", "center": [0.0], "radius": 1.0}, "faces": [[0, 0]]},
        {"class": "faces", "box": {"class": "interval", "a": 0.0, "b": 1.0}, "faces": [[1, 0]]},
        {"class": "faces", "box": {"class": "interval", "a": 0.0, "b": 1.0}, "faces": [0]},
        {"class": "sphere", "ball": {"class": "interval", "a": 0.0, "b": 1.0}},
        {"class": "space-time", "space": {"class": "interval", "a": 0.0, "b": 1.0}, "times": [1.0, 0.0]},
        {"class": "cylinder", "spacetime": {"class": "interval", "a": 0.0, "b": 1.0}, "parts": ["walls"]},
        {"class": "faces", "box": {"class": "interval", "a": 0.0, "b": 1.0}, "faces": [[0, 0], [0, 0]]},
        {"class": "cylinder", "spacetime": {"class": "interval", "a": 0.0, "b": 1.0}, "parts": []},
        {"class": "point set", "points": [[0.5]], "intrinsic_dim": 1, "label": "a"},
        {"class": "cloud", "interior": {}, "boundary": {}, "normals": None, "timed": False},
        {"class": "Gaussian", "lengthscale": 1.0},
        {"class": "torus"},
        {"class": ["box"]},
        {},
    ],
)
def test_what_is_no_region_is_refused(header):
    with pytest.raises(FileError, match="whose region"):
        Decoder({}, lambda got: fail(FileError, "path", got, "")).decode(Region, header, "region")
