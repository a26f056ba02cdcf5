"""Arrays with names and tables: their values are those of u at their coordinates, and NaN outside."""

import numpy as np
import pytest

from kernop.basics import extras
from kernop.basics.errors import ArgumentTypeError, MissingExtraError, ShapeError


def test_a_disk_in_xarray(dome):
    found = dome.to_xarray((11, 21))
    assert found.dims == ("x", "y")
    assert found.shape == (11, 21)
    assert (float(found.x[0]), float(found.y[-1])) == (-1.0, 1.0)
    x, y = np.meshgrid(found.x, found.y, indexing="ij")
    inside = x**2 + y**2 <= 1.0 + 1e-12
    assert np.array_equal(np.isnan(found.values), ~inside)
    np.testing.assert_array_equal(found.values[inside], dome(np.column_stack([x[inside], y[inside]])))
    assert float(found.sel(x=0.2, y=0.4, method="nearest")) == pytest.approx(1 - 0.2, abs=1e-7)


def test_vectors_batches_moments_and_several_unknowns(rotation, disk, heat):
    found = rotation.to_xarray(5)
    assert set(found.data_vars) == {"u", "p"}
    assert found.u.dims == ("x", "y", "u_component")
    np.testing.assert_allclose(found.u.values[..., 0], -np.broadcast_to(found.y.values, (5, 5)), atol=1e-8)
    np.testing.assert_allclose(found.p.values, np.outer(found.x, found.y), atol=1e-8)
    two = disk(np.ones((len(disk.points["f"]), 2)), 0.0).to_xarray(5)
    assert two.dims == ("x", "y", "input")
    _, u = heat
    assert u.to_xarray((5, 3)).dims == ("x", "t")
    at = u.at(t=0.1).to_xarray(5)
    assert (at.dims, at.attrs["where"]) == (("x",), "t = 0.1")
    np.testing.assert_array_equal(at.values, u(np.column_stack([at.x, np.full(5, 0.1)])))


def test_tables(dome, rotation, disk):
    table = dome.to_pandas((5, 7))
    assert list(table.columns) == ["x", "y", "u"]
    np.testing.assert_array_equal(table.u, dome(table[["x", "y"]].to_numpy()))
    assert (table.x**2 + table.y**2 <= 1.0 + 1e-12).all()
    assert list(rotation.to_pandas(3).columns) == ["x", "y", "u_1", "u_2", "p"]
    two = disk(np.ones((len(disk.points["f"]), 2)), 0.0).to_pandas(5)
    assert list(two.columns) == ["x", "y", "u[0]", "u[1]"]


@pytest.mark.parametrize(("shape", "kind"), [((5,), ShapeError), ("five", ArgumentTypeError), ((5, 2.5), TypeError)])
def test_shapes_that_do_not_fit(dome, shape, kind):
    with pytest.raises(kind, match="shape"):
        dome.to_xarray(shape)


@pytest.mark.parametrize(
    ("ask", "extra"),
    [
        (lambda u: u.to_xarray(5), "xarray"),
        (lambda u: u.to_pandas(5), "pandas"),
        (lambda u: u.to_vtk("u.vtu"), "vtk"),
        (lambda u: u.plot(), "plot"),
    ],
)
def test_a_missing_package_names_its_extra(dome, monkeypatch, ask, extra):
    def nothing(name):
        raise ImportError(name)

    monkeypatch.setattr(extras, "import_module", nothing)
    with pytest.raises(MissingExtraError, match=rf"pip install 'kernop\[{extra}\]'"):
        ask(dome)
    assert "img" not in dome._repr_html_() or extra != "plot"
