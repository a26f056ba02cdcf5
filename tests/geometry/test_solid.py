"""Solids from files and arrays: trimesh's own surfaces, whose volume and area are known."""

import numpy as np
import pytest
import trimesh

import kernop as ko
from kernop.basics.errors import ArgumentError, FileError, ShapeError

BALL = trimesh.creation.icosphere(subdivisions=3)
BLOCK = trimesh.creation.box([1.0, 2.0, 3.0])
TUBE = trimesh.creation.annulus(r_min=0.5, r_max=1.0, height=1.0, sections=40)


@pytest.mark.parametrize("suffix", [".stl", ".ply", ".obj"])
def test_files_of_every_kind_give_the_same_solid(tmp_path, suffix):
    path = tmp_path / f"part{suffix}"
    TUBE.export(path)
    solid = ko.Solid(path)
    assert solid.measure == pytest.approx(TUBE.volume, rel=1e-5)
    assert solid.boundary.measure == pytest.approx(TUBE.area, rel=1e-5)
    assert solid.contains(np.array([[0.75, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, -0.75, 0.4]])).tolist() == [
        True,
        False,
        True,
    ]
    assert ko.Solid(str(path)) == solid


def test_volume_and_area_are_those_of_the_triangles():
    for mesh in (BALL, BLOCK, TUBE):
        solid = ko.Solid(mesh.vertices, mesh.faces)
        assert solid.measure == pytest.approx(mesh.volume, rel=1e-12)
        assert solid.boundary.measure == pytest.approx(mesh.area, rel=1e-12)


def test_a_block_is_a_box():
    solid, box = ko.Solid(BLOCK.vertices, BLOCK.faces), ko.Box([-0.5, -1.0, -1.5], [0.5, 1.0, 1.5])
    x = np.random.default_rng(0).uniform(-2.0, 2.0, (3000, 3))
    np.testing.assert_array_equal(solid.contains(x), box.contains(x))
    near = np.abs(box.distance(x)) < 0.05
    np.testing.assert_allclose(solid.distance(x[near]), box.distance(x[near]), atol=1e-14)
    assert np.all(np.abs(solid.distance(x)) <= np.abs(box.distance(x)) + 1e-12)
    np.testing.assert_array_equal(solid.distance(x) < 0.0, box.distance(x) < 0.0)


def test_points_far_from_round_numbers_and_on_them_are_told_apart():
    """Rays through vertices and along faces are what ray casting fails at: a grid on the planes of the block itself."""
    axes = [np.linspace(-s, s, 9) for s in (1.0, 2.0, 3.0)]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    box = ko.Box([-0.5, -1.0, -1.5], [0.5, 1.0, 1.5])
    np.testing.assert_array_equal(ko.Solid(BLOCK.vertices, BLOCK.faces).contains(x), box.contains(x))


@pytest.mark.parametrize("seed", range(3))
def test_triangles_may_be_wound_in_any_direction(seed):
    """A cavity in a block, with a random half of the triangles turned, in random order."""
    rng = np.random.default_rng(seed)
    vertices = np.vstack([BLOCK.vertices, 0.4 * BALL.vertices])
    faces = np.vstack([BLOCK.faces, BALL.faces + len(BLOCK.vertices)])
    faces = np.where(rng.random((len(faces), 1)) < 0.5, faces[:, ::-1], faces)[rng.permutation(len(faces))]
    solid = ko.Solid(vertices, faces)
    assert solid.measure == pytest.approx(6.0 - 0.064 * BALL.volume, rel=1e-12)
    points = solid.boundary.sample(400)
    inner = np.linalg.norm(points.x, axis=1) < 0.45
    assert np.all(np.sum(points.x * points.normal, axis=1)[inner] < 0.0)
    assert np.all(np.sum(points.x * points.normal, axis=1)[~inner] > 0.0)


def test_vertices_are_joined_where_files_repeat_them():
    corners = BALL.vertices[BALL.faces]
    solid = ko.Solid(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
    assert len(solid.mesh.vertices) == len(BALL.vertices)
    assert solid.measure == pytest.approx(BALL.volume, rel=1e-12)


def test_an_open_surface_is_refused_with_the_place():
    faces = np.delete(BALL.faces, 100, axis=0)
    with pytest.raises(
        ArgumentError, match=r"surface: got an open surface: 3 edges .*, the first at \((.*)\); close"
    ) as caught:
        ko.Solid(BALL.vertices, faces)
    place = np.array([float(number) for number in str(caught.value).split("at (")[1].split(")")[0].split(",")])
    corners = BALL.vertices[BALL.faces[100]]
    assert np.min(np.linalg.norm(0.5 * (corners + np.roll(corners, 1, axis=0)) - place, axis=1)) < 1e-3


def test_a_surface_that_touches_itself_is_refused():
    two = np.vstack([BLOCK.vertices, BLOCK.vertices + np.array([1.0, 2.0, 0.0])])
    faces = np.vstack([BLOCK.faces, BLOCK.faces + len(BLOCK.vertices)])
    with pytest.raises(ArgumentError, match=r"surface: got a surface that touches itself: 1 edges"):
        ko.Solid(two, faces)


@pytest.mark.parametrize(
    ("source", "faces", "error", "message"),
    [
        ("part.step", None, FileError, r"path: got 'part\.step', whose suffix.*\.stl, \.ply, \.obj"),
        ("none.stl", None, FileError, r"path: got 'none\.stl', which is no file"),
        ("part.stl", BLOCK.faces, ArgumentError, r"faces: got some with a file"),
        (BLOCK.vertices, BLOCK.faces + 1, ArgumentError, r"faces: got numbers from 1 to 8; .* 0 to 7"),
        (BLOCK.vertices, BLOCK.faces + 0.5, ArgumentError, r"faces: got numbers from 0\.5"),
        (BLOCK.vertices, BLOCK.faces[:, :2], ShapeError, r"faces: got an array of shape \(12, 2\)"),
        (BLOCK.vertices[:, :2], BLOCK.faces, ShapeError, r"vertices: got an array of shape \(8, 2\)"),
    ],
)
def test_what_is_no_surface_is_refused(source, faces, error, message):
    with pytest.raises(error, match=message):
        ko.Solid(source, faces)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "part.ply"
    path.write_bytes(b"ply\nformat ascii 1.0\nelement vertex 8\nnonsense")
    with pytest.raises((FileError, ArgumentError), match=r"path: got .*part\.ply', which cannot be read"):
        ko.Solid(path)


def test_a_surface_that_cuts_through_itself_is_refused_with_the_place():
    """Two cubes that share an eighth: what is enclosed twice would be counted twice."""
    one, other = trimesh.creation.box(), trimesh.creation.box()
    other.apply_translation([0.5, 0.5, 0.5])
    both = trimesh.util.concatenate([one, other])
    with pytest.raises(ArgumentError, match=r"surface: got a surface that cuts through itself: at \(0.* Solid\(…\) \|"):
        ko.Solid(both.vertices, both.faces)
    apart = trimesh.util.concatenate([one, other.apply_translation([1.0, 0.0, 0.0])])
    assert ko.Solid(apart.vertices, apart.faces).measure == pytest.approx(2.0)
