"""Coefficients that jump, with a continuous flux: a 4 × 4 checkerboard, an inclusion of any contrast, polygons.

−div(a ∇u) = 1, u = 0 on the boundary. Truth: exact solutions; for polygons finite elements of fourth order on meshes
fitted to the jumps and graded to their corners; for the checkerboard an operator of other cells, degree and depth, and
elements in coordinates in which its crossings are infinitely far away. ``disk``, ``crossing``, ``polygon``,
``checkerboard`` or ``conductor`` on the command line runs one of them.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
import skfem
from common import OUT, save, table
from jumps_fem import polygon_elements
from scipy.sparse import block_diag, csr_matrix
from scipy.sparse.linalg import spsolve
from scipy.spatial import KDTree
from skfem.helpers import dot, grad

import kernop as ko
from kernop.plotting import COLOURS

SQUARE, DISK = ko.Box([0, 0], [1, 1]), ko.Ball([0.45, 0.55], 0.25)
TURNED = 0.2 * np.array([[np.cos(t), np.sin(t)] for t in np.pi / 180.0 * np.array([75.0, 165.0, 255.0, 345.0])])
POLYGONS = {
    "triangle": np.array([[0.3, 0.3], [0.75, 0.4], [0.45, 0.7]]),
    "square, turned by 30°": np.array([0.5, 0.48]) + np.sqrt(2.0) * TURNED,
    "arrowhead, not convex": np.array([[0.25, 0.3], [0.7, 0.25], [0.55, 0.45], [0.65, 0.75]]),
}
TOL = 1e-6
PLACES = np.array([[0.4, 0.4], [0.1, 0.7], [0.6, 0.3]])
Rows = Iterator[list[str]]


def flow(a: Any, domain: Any) -> ko.Problem:
    return ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=domain), ko.Dirichlet(on=domain.boundary))


def checkerboard(contrast: float) -> Any:
    boxes = [(i, j, ko.Box([i / 4, j / 4], [(i + 1) / 4, (j + 1) / 4])) for i in range(4) for j in range(4)]
    return ko.Piecewise({box: contrast if (i + j) % 2 else 1.0 for i, j, box in boxes})


def elements(contrast: float, cells: int) -> Any:
    """Biquadratic elements; around each crossing, in a square of half side b, in coordinates x = c + exp(−s) p(t).

    p(t) runs around the square. The energy of u(s, t) is ∫∫ a (u_s² + 2 p·p′ u_s u_t + |p|² u_t²) / b ds dt: r^γ is
    exp(−γ s), which elements in s that grow with s resolve however small γ is.
    """
    b, across = 1 / 16, 16 * cells
    grid = np.linspace(0, 1, across + 1)
    crossings = np.array([[i / 4, j / 4] for i in (1, 2, 3) for j in (1, 2, 3)])
    whole = skfem.MeshQuad.init_tensor(grid, grid)
    middle = whole.p[:, whole.t].mean(axis=1).T
    inside = np.min(np.max(np.abs(middle[:, None] - crossings), axis=2), axis=1) < b
    outer = skfem.Basis(whole.remove_elements(np.flatnonzero(inside)), skfem.ElementQuad2())
    depths = np.append(0.0, np.cumsum(0.25 * 1.25 ** np.arange(44)))  # up to s = 2 · 10⁴
    depths = np.interp(np.arange(22 * cells + 1) * 2 / cells, np.arange(45), depths)
    strip = skfem.Basis(skfem.MeshQuad.init_tensor(np.linspace(0, 8 * b, 8 * cells + 1), depths), skfem.ElementQuad2())

    def around(t: Any) -> Any:
        side, off = np.divmod(np.mod(t, 8 * b), 2 * b)
        turn = np.exp(0.5j * np.pi * side) * (b + 1j * (off - b))
        return np.stack([turn.real, turn.imag], axis=-1)

    def odd(x: Any) -> Any:
        return np.where((np.floor(4 * x[..., 0]) + np.floor(4 * x[..., 1])) % 2 == 1, contrast, 1.0)

    @skfem.BilinearForm
    def turned(u: Any, v: Any, w: Any) -> Any:
        off = np.mod(w.x[0], 2 * b) - b
        (ut, us), (vt, vs) = grad(u), grad(v)
        return w.a * (us * vs + off * (us * vt + ut * vs) + (b**2 + off**2) * ut * vt) / b

    flat = skfem.BilinearForm(lambda u, v, w: w.a * dot(grad(u), grad(v)))
    middle = outer.mesh.p[:, outer.mesh.t].mean(axis=1).T
    matrices = [flat.assemble(outer, a=odd(middle)[:, None])]
    loads = [skfem.LinearForm(lambda v, _: 1.0 * v).assemble(outer)]
    load = skfem.LinearForm(lambda v, w: np.exp(-2 * w.x[1]) * b * v).assemble(strip)
    seen, numbers, total = KDTree(outer.doflocs.T), [np.arange(outer.N)], outer.N
    t, s = strip.doflocs
    first, last = np.flatnonzero(t == 0), np.flatnonzero(np.isclose(t, 8 * b))
    first, last = first[np.argsort(s[first])], last[np.argsort(s[last])]
    middle = strip.mesh.p[0, strip.mesh.t].mean(axis=0)
    for c in crossings:
        own = total + np.arange(strip.N)
        own[s == 0] = seen.query(c + around(t[s == 0]))[1]
        own[last] = own[first]
        matrices.append(turned.assemble(strip, a=odd(c + 0.5 * around(middle))[:, None]))
        loads.append(load)
        numbers.append(own)
        total += strip.N
    place = np.concatenate(numbers)
    join = csr_matrix((np.ones(len(place)), (np.arange(len(place)), place)), shape=(len(place), total))
    stiff, right = join.T @ block_diag(matrices, format="csr") @ join, join.T @ np.concatenate(loads)
    edge = np.any((outer.doflocs < 1e-12) | (outer.doflocs > 1 - 1e-12), axis=0)
    free = np.setdiff1d(np.unique(place), np.flatnonzero(edge))
    u = np.zeros(total)
    u[free] = spsolve(stiff[free][:, free].tocsc(), right[free])
    return outer.probes(PLACES.T) @ u[: outer.N]


def uniform_field(inside: float) -> Any:
    def exact(x: Any) -> Any:
        y = x - DISK.center
        square = np.sum(y**2, axis=-1)
        around = y[..., 0] * (1 - (inside - 1) / (inside + 1) * DISK.radius**2 / np.maximum(square, 1e-9))
        return np.where(square < DISK.radius**2, 2 / (inside + 1) * y[..., 0], around)

    return exact


def kellogg(contrast: float) -> tuple[Any, Any]:
    """Four quarters of [−1, 1]², two of another material: r^γ φ(θ) with tan(πγ/4) = contrast^(−½), exact."""
    power = 4.0 / np.pi * np.arctan(contrast**-0.5)
    other = -1.0 / np.tan(0.25 * np.pi * power)

    def exact(x: Any) -> Any:
        angle = np.mod(np.arctan2(x[..., 1], x[..., 0]), 2.0 * np.pi)
        quarter = np.minimum((2.0 * angle / np.pi).astype(int), 3)
        turned = power * (angle - (quarter + 0.5) * 0.5 * np.pi)
        even = np.where(quarter % 2 == 0, np.cos(turned), other * np.sin(turned))
        return np.hypot(x[..., 0], x[..., 1]) ** power * np.where(quarter < 2, even, -even)

    quarters = {ko.Box([0, 0], [1, 1]): contrast, ko.Box([-1, -1], [0, 0]): contrast}
    return ko.Piecewise(quarters, otherwise=1.0), exact


def learned(a: Any, domain: Any = SQUARE, **options: Any) -> tuple[Any, float]:
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        T = ko.learn(flow(a, domain), **options)
    return T, time.process_time() - started


def row(name: str, T: Any, seconds: float, error: float, against: str) -> list[str]:
    met = "" if T.report is None or not T.report.asked else "met" if T.report.met else "not met"
    parts = getattr(getattr(T.factorisation.expansion, "mosaic", None), "owners", [0])
    return [name, str(len(parts)), f"{seconds:.1f}", f"{error:.1e}", against, met]


def exactly(name: str, a: Any, exact: Any, domain: Any, **options: Any) -> list[str]:
    """Against an exact solution, at places that are not next to its singularity."""
    T, seconds = learned(a, domain=domain, **options)
    x = domain.sample(1000, "uniform", seed=1).x
    x = x[np.linalg.norm(x, axis=1) > 0.05]
    error = np.max(np.abs(T(0.0, exact)(x) - exact(x))) / np.max(np.abs(exact(x)))
    return row(name, T, seconds, float(error), "exact")


def changing(name: str, a: Any, finer: ko.Partition, **options: Any) -> tuple[list[str], Any, Any]:
    """Against an operator of other cells, degree and depth."""
    T, seconds = learned(a, **options)
    values, other = T(1.0, 0.0)(PLACES), learned(a, method=finer)[0](1.0, 0.0)(PLACES)
    change = float(np.max(np.abs(values - other)) / np.max(np.abs(values)))
    return row(name, T, seconds, change, described(finer)), values, T


def described(method: ko.Partition) -> str:
    glued = "" if method.gluing is None else f", glued by {method.gluing}"
    return f"{method.cells} cells, degree {method.degree}, {method.levels} levels{glued}"


def strong(T: Any) -> None:
    """u of the checkerboard with a continuous flux, and that of −a Δu = 1 without one, in a figure."""
    from matplotlib.figure import Figure

    n = 120
    t = (np.arange(n) + 0.5) / n
    x = np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2)
    odd = lambda x: jnp.where((jnp.floor(4 * x[..., 0]) + jnp.floor(4 * x[..., 1])) % 2 == 1, 10.0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pointwise = ko.learn(
            ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary)),
            method=ko.Partition(cells=4, degree=13, levels=0),
        )(lambda x: 1.0 / odd(x), 0.0)
        fields = {"flux continuous: −div(a ∇u) = 1": T(1.0, 0.0)(x), "pointwise: −a Δu = 1": pointwise(x)}
    picture = Figure(figsize=(11, 3.4), layout="constrained")
    for k, (name, values) in enumerate(fields.items()):
        axes = picture.add_subplot(1, 3, k + 1, title=name, aspect="equal", xlabel="x", ylabel="y")
        shown = axes.pcolormesh(t, t, values.reshape(n, n).T, shading="nearest")
        picture.colorbar(shown, ax=axes, shrink=0.8, label="u")
    axes = picture.add_subplot(1, 3, 3, title="along y = 0.4", xlabel="x", ylabel="u")
    line = np.stack([t, np.full(n, 0.4)], axis=1)
    axes.plot(t, T(1.0, 0.0)(line), color=COLOURS[0], label="flux continuous")
    axes.plot(t, pointwise(line), "--", color=COLOURS[1], label="pointwise")
    axes.legend()
    OUT.mkdir(parents=True, exist_ok=True)
    picture.savefig(OUT / "jumps.png", dpi=150)


def disk() -> Rows:
    for inside in (10.0, 1e6, 1e-6):
        a = ko.Piecewise({DISK: inside}, otherwise=1.0)
        for options in ({"tol": TOL}, {"method": ko.Partition(cells=8, levels=0)}):
            name = f"disk 1 : {inside:g}, {'by itself' if 'tol' in options else '8 cells'}"
            yield exactly(name, a, uniform_field(inside), SQUARE, **options)


def crossing() -> Rows:
    for contrast in (10.0, 1e6):
        a, exact = kellogg(contrast)
        name = f"one crossing 1 : {contrast:g}, by itself"
        yield exactly(name, a, exact, ko.Box([-1, -1], [1, 1]), tol=TOL)


def inclusion(name: str, inside: float, **options: Any) -> list[str]:
    """A polygon of another material, against elements that are fitted to it, and their own change by refinement."""
    corners = POLYGONS[name]
    T, seconds = learned(ko.Piecewise({ko.Polygon(corners): inside}, otherwise=1.0), **options)
    coarse, fine = (polygon_elements(corners, inside, PLACES, refined) for refined in (4, 5))
    off, own = (float(np.max(np.abs(u - fine)) / np.max(np.abs(fine))) for u in (T(1.0, 0.0)(PLACES), coarse))
    how = "by itself" if "tol" in options else described(options["method"])
    against = f"P4 elements, which change by {own:.0e}"
    return row(f"{name} 1 : {inside:g}, {how}", T, seconds, off, against)


def polygon() -> Rows:
    for name in POLYGONS:
        yield inclusion(name, 10.0, tol=TOL)


def conductor() -> Rows:
    """A polygon of 1 : 10⁶: values exchanged between parts keep its balance of fluxes; by itself it is not met."""
    yield inclusion("triangle", 1e6, method=ko.Partition(cells=4, degree=13, levels=18, gluing="values"))
    yield inclusion("triangle", 1e6, tol=TOL)


def board() -> Rows:
    finer, kept = ko.Partition(cells=8, degree=13, levels=14), dict[str, Any](places=PLACES.tolist())
    for contrast in (10.0, 1e6):
        name = f"checkerboard 1 : {contrast:g}, by itself"
        found, values, T = changing(name, checkerboard(contrast), finer, tol=TOL)
        yield found
        coarse, fine = (elements(contrast, cells) for cells in (4, 8))
        off = float(np.max(np.abs(values - fine)) / np.max(np.abs(values)))
        own = float(np.max(np.abs(fine - coarse)) / np.max(np.abs(fine)))
        yield [*found[:3], f"{off:.1e}", f"biquadratic elements, which change by {own:.0e}", ""]
        kept |= {f"{contrast:g}": {"values": values.tolist(), "elements": fine.tolist()}}
        if contrast == 10.0:
            strong(T)
    save("jumps_checkerboard", kept)


CASES = {"disk": disk, "crossing": crossing, "polygon": polygon, "checkerboard": board, "conductor": conductor}


def main() -> None:
    rows: list[list[str]] = []
    names = sys.argv[1:] or list(CASES)
    for found in (found for name in names for found in CASES[name]()):
        rows.append(found)
        print(" · ".join(found), flush=True)
    header = ["problem", "parts", "processor [s]", "error", "against", "tol"]
    table("Jumps of a coefficient, flux continuous", header, rows)
    save("jumps_" + "_".join(names) if sys.argv[1:] else "jumps", {"header": header, "rows": rows})


if __name__ == "__main__":
    main()
