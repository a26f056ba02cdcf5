"""Pictures show u: the numbers that are drawn are those of u, on the domain and nowhere else."""

import threading

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, ShapeError
from kernop.plotting import save
from kernop.views.figures import axes_for, colour_bar, coloured, framed
from kernop.views.mesh import Mesh
from kernop.views.scene import scene


def drawn(axis):
    """Points and colours of the triangles of a picture."""
    (image,) = [own for own in axis.collections if isinstance(own, mpl.collections.TriMesh)]
    triangles = image._triangulation
    return np.column_stack([triangles.x, triangles.y]), np.asarray(image.get_array()), triangles.triangles


def area(x, triangles):
    a, b = (x[triangles[:, k]] - x[triangles[:, 0]] for k in (1, 2))
    return 0.5 * np.sum(np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]))


def test_colours_fill_the_domain_with_the_values_of_u(dome, plate, axes):
    for u, size in ((dome, np.pi), (plate, 1.2 * 2 + 1.8 - 0.125)):
        axis = u.plot()
        x, values, triangles = drawn(axis)
        np.testing.assert_allclose(values, u(x, outside="extrapolate"), atol=1e-13)
        assert area(x, triangles) == pytest.approx(size, rel=1e-3)
        assert (axis.get_xlabel(), axis.get_ylabel(), axis.get_aspect()) == ("x", "y", 1.0)


def test_cuts_of_space_and_of_time(cube, heat, axes):
    axis = cube.plot(axis="z", at=0.25)
    x, values, _ = drawn(axis)
    np.testing.assert_allclose(values, 0.25 * x[:, 0] * x[:, 1], atol=1e-5)
    assert axis.get_title() == "u, z = 0.25"
    assert [own.get_title() for own in cube.plot()] == ["u, z = 0.5", "u, y = 1", "u, x = 0.5"]
    _, u = heat
    (line,) = u.at(t=0.1).plot().lines
    np.testing.assert_array_equal(
        line.get_ydata(), u(np.column_stack([line.get_xdata(), np.full(len(line.get_xdata()), 0.1)]))
    )
    np.testing.assert_array_equal(line.get_ydata(), u.plot(at=0.1).lines[0].get_ydata())
    assert u.plot().get_ylabel() == "t"


def test_arrows_complex_parts_and_several_unknowns(rotation, dome, axes):
    first, second = rotation.plot()
    (arrows,) = [own for own in first.collections if isinstance(own, mpl.quiver.Quiver)]
    np.testing.assert_allclose(np.column_stack([arrows.U, arrows.V]), arrows.XY[:, ::-1] * [-1, 1], atol=1e-8)
    assert (first.get_title(), second.get_title()) == ("|u|", "p")
    z = (3 + 4j) * dome
    parts = z.plot()
    assert [own.get_title() for own in parts] == ["Re u", "Im u", "|u|"]
    assert [drawn(own)[1].max() for own in parts] == pytest.approx([3, 4, 5], abs=1e-2)
    assert drawn(z.plot(part="phase"))[1][0] == pytest.approx(np.angle(3 + 4j))
    curve = z.plot(at={"y": 0.0})
    assert [own.get_label() for own in curve.lines] == ["Re u", "Im u", "|u|"]


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_the_error_beside_it(disk, axes):
    rough = disk(lambda x: np.sin(9 * x[..., 0]), 0.0)
    first, second = rough.plot(error=True)
    x, values, _ = drawn(second)
    np.testing.assert_allclose(values, rough.correction()(x, outside="extrapolate"), atol=1e-15)
    assert second.get_title().startswith("ê, relative L2 error")
    points = disk.test_points["f"]
    left = np.abs(rough.residual("f", points)).max()
    corrected = rough.residual("f", points) + rough.correction().apply(lambda u: -ko.laplacian(u), points)
    assert np.abs(corrected).max() < 0.1 * left
    with pytest.raises(ArgumentError, match="known at the points of T alone"):
        disk(np.ones(len(disk.points["f"])), 0.0).plot(error=True)
    assert first.get_title() == "u"


def test_axes_of_the_user(dome, cube, axes):
    figure, axis = axes.subplots()
    assert dome.plot(ax=axis) is axis
    with pytest.raises(ShapeError, match="ax: got 1 axes for 3 panels"):
        cube.plot(ax=axis)
    with pytest.raises(ArgumentTypeError, match="ax"):
        dome.plot(ax=figure.number)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"axis": "w", "at": 0.5}, "axis: got 'w'; give one of 'x', 'y', 'z'"),
        ({"axis": "z", "at": 7.0}, "at: got z = 7; give a value from 0 to 1"),
        ({"at": 0.5}, "axis: got at= without axis="),
        ({"at": {"x": 0.1, "y": 0.2, "z": 0.3}}, "leave at least one free"),
        ({"part": "imag"}, "part: got 'imag' of real values"),
        ({"part": "half"}, "part: got 'half'"),
        ({"points": 2}, "points"),
    ],
)
def test_what_cannot_be_drawn(cube, axes, asked, message):
    with pytest.raises(ArgumentError, match=message.replace("(", r"\(")):
        cube.plot(**asked)


def test_pictures_in_threads(dome):
    found, threads = [], []
    for _ in range(4):
        threads.append(threading.Thread(target=lambda: found.append(dome._repr_html_())))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert "data:image/png" in found[0]


def test_no_text_is_cut_off(axes, tmp_path):
    """Labels of a colour bar whose digits depend on the number of ticks: nothing is dark at the edge of the picture."""
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    mesh = Mesh(square, np.array([[0, 1, 2], [0, 2, 3]]))
    for most in (0.87, 0.9, 450.0):
        (axis,) = axes_for(1, None, 1.0)
        colour_bar(axis, coloured(axis, mesh, most * square[:, 0], (-most, most), "viridis"))
        framed(axis, ("x", "y"), square[0], square[2], True)
        axis.set_title("u")
        save(axis.figure, tmp_path / "u.png")
        picture = np.asarray(Image.open(tmp_path / "u.png").convert("L"))
        edges = [picture[:, :2], picture[:, -2:], picture[:2], picture[-2:]]
        assert min(edge.min() for edge in edges) > 200


def test_the_outline_of_a_cut_needs_distances_beside_it_alone(monkeypatch):
    """It is the same line as from all distances: of a ball of triangles, nearly a circle."""
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(subdivisions=3)
    cut, asked = scene([ko.Solid(np.array(ball.vertices), np.array(ball.faces))]).fixed({2: 0.123}), []
    height = ko.Solid.height
    monkeypatch.setattr(ko.Solid, "height", lambda own, x: asked.append(len(x)) or height(own, x))
    line = cut.rim(160)
    assert 0 < sum(asked) < 0.35 * 80**2
    monkeypatch.setattr("kernop.views.scene._beside", lambda inside: np.ones_like(inside))
    assert np.allclose(line, cut.rim(160), atol=1e-12)
    assert np.allclose(np.linalg.norm(line, axis=1), np.sqrt(1 - 0.123**2), atol=8e-3)
