"""Regions in files: every kind comes back as it was; unknown ones are refused."""

import json

import numpy as np
import pytest

import kernop as ko
from kernop.basics.codec import Decoder, Encoder
from kernop.basics.errors import ArgumentTypeError, FileError, fail
from kernop.basics.stored import KINDS
from kernop.geometry import Region
from kernop.geometry.remembered import Remembered
from kernop.operators.closing import closed_region

BOX, BALL = ko.Box([0.0, -1.0], [2.0, 1.0 / 3.0]), ko.Ball([0.1, 0.2], 1.5)
TIME = ko.SpaceTime(ko.Interval(0.0, 1.0), (0.0, 0.7))
ROUND_TIME = ko.SpaceTime(BALL, (-1.0, 0.1))
CLOUD = ko.PointCloud(np.random.default_rng(0).random((9, 2)), np.eye(3)[:, :2], [[0.0, -1.0], [0.6, 0.8], [1.0, 0.0]])
REGIONS = {
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


def returned(value, family):
    encoder = Encoder()
    text = json.loads(json.dumps(encoder.encode(value, "value", family), allow_nan=False))
    decoder = Decoder(encoder.arrays, lambda got: fail(FileError, "path", got, ""))
    found = decoder.decode(family, text, "value")
    decoder.finish()
    return found


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
    found = returned(closed_region(part, points), Region)
    assert isinstance(found, Remembered)
    assert not found.known
    assert found.measure == part.measure
    assert found.contains(points.x).all()
    assert found.base == BOX.boundary
    again = returned(closed_region(found, points), Region)
    assert again.contains(points.x).all()


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
