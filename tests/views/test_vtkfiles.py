"""Files for ParaView, read back by meshio: points, cells and values are those of u."""

from xml.etree import ElementTree

import meshio
import numpy as np
import pytest

from kernop.basics.errors import ArgumentError, FileError


def volume(mesh):
    """The measure of all cells together."""
    ((kind, cells),) = mesh.cells_dict.items()
    x = mesh.points[cells]
    edges = x[:, 1:] - x[:, :1]
    dim = {"line": 1, "triangle": 2, "tetra": 3}[kind]
    return float(np.sum(np.abs(np.linalg.det(edges[:, :, :dim])))) / [1, 1, 2, 6][dim]


@pytest.mark.parametrize("suffix", ["vtu", "vtk"])
def test_values_in_a_disk(dome, tmp_path, suffix):
    mesh = meshio.read(dome.to_vtk(tmp_path / "new" / f"u.{suffix}", points=2000))
    np.testing.assert_allclose(mesh.point_data["u"], dome(mesh.points[:, :2], outside="extrapolate"), atol=1e-14)
    np.testing.assert_allclose(mesh.point_data["u"], 1 - np.sum(mesh.points**2, axis=1), atol=1e-7)
    assert volume(mesh) == pytest.approx(np.pi, rel=1e-3)


def test_a_plate_with_a_hole_and_a_box_are_filled(plate, cube, tmp_path):
    mesh = meshio.read(plate.to_vtk(tmp_path / "u.vtu", points=3000))
    assert volume(mesh) == pytest.approx(1.2 * 2 + 1.8 - 0.125, rel=2e-3)
    mesh = meshio.read(cube.to_vtk(tmp_path / "v.vtu", points=800))
    assert volume(mesh) == pytest.approx(2.0, rel=1e-6)
    np.testing.assert_allclose(mesh.point_data["u"], np.prod(mesh.points, axis=1), atol=1e-5)


def test_vectors_and_complex_values(rotation, dome, tmp_path):
    mesh = meshio.read(rotation.to_vtk(tmp_path / "s.vtu", points=200))
    x, y, _ = mesh.points.T
    np.testing.assert_allclose(mesh.point_data["u"], np.column_stack([-y, x, 0 * x]), atol=1e-8)
    np.testing.assert_allclose(mesh.point_data["p"], x * y, atol=1e-8)
    mesh = meshio.read(((1 + 2j) * dome).to_vtk(tmp_path / "z.vtu", points=200))
    np.testing.assert_allclose(mesh.point_data["u_im"], 2 * mesh.point_data["u_re"], atol=1e-12)


def test_a_series_in_time(heat, tmp_path):
    _, u = heat
    path = u.to_vtk(tmp_path / "heat.pvd", points=50, times=[0.0, 0.05, 0.2])
    listed = ElementTree.parse(path).getroot().findall("Collection/DataSet")
    assert [float(own.attrib["timestep"]) for own in listed] == [0.0, 0.05, 0.2]
    for own in listed:
        mesh, t = meshio.read(tmp_path / own.attrib["file"]), float(own.attrib["timestep"])
        np.testing.assert_array_equal(mesh.point_data["u"], u.at(t)(mesh.points[:, 0]))


def test_what_is_refused(dome, heat, disk, tmp_path):
    with pytest.raises(FileError, match=r"u\.at\(t"):
        heat[1].to_vtk(tmp_path / "u.vtu")
    with pytest.raises(FileError, match=r"u\.vtu"):
        dome.to_vtk(tmp_path / "u.pvd")
    with pytest.raises(FileError, match="cannot be written"):
        dome.to_vtk("/proc/none/u.vtu")
    with pytest.raises(ArgumentError, match="times"):
        heat[1].to_vtk(tmp_path / "u.pvd", times=[0.0, 3.0])
    with pytest.raises(ArgumentError, match=r"u\[0\]\.to_vtk"):
        disk(np.ones((len(disk.points["f"]), 2)), 0.0).to_vtk(tmp_path / "u.vtu")
