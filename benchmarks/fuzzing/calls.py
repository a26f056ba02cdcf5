"""Good calls of every public name: each with small arguments, and carried through to numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field
from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop import plotting
from kernop.collocation.ansatz import collocate
from kernop.trust import metrics
from kernop.trust.criteria import spectrum

Run = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Call:
    """A function, and arguments with which it works.

    Attributes:
        name: for the table.
        run: takes the arguments by name and goes on until there are numbers.
        good: the arguments.
        words: for some arguments, other words by which a message may name them.
    """

    name: str
    run: Run
    good: Mapping[str, Any]
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


SQUARE = ko.Box([0, 0], [1, 1])
INSIDE = SQUARE.sample(40)
RIM = SQUARE.boundary.sample(24)
X = np.array([[0.25, 0.5], [0.5, 0.25], [0.75, 0.625], [0.125, 0.875], [0.375, 0.75]])
N_F, N_G = len(INSIDE), len(RIM)
KERNEL = ko.Gaussian(0.5)


def sine(x: Any) -> Any:
    return jnp.sin(x[..., 0] + 2.0 * x[..., 1])


def coefficient(x: Any) -> Any:
    return 1.0 + x[..., 0] ** 2


def poisson(u: Any) -> Any:
    return -ko.laplacian(u)


def bubble(x: Any) -> Any:
    return jnp.prod(x * (1.0 - x), axis=-1)


def given() -> dict[str, Any]:
    return {"f": INSIDE, "g": RIM}


PROBLEM = ko.Problem(ko.Equation(poisson, on=SQUARE), ko.Dirichlet(on=SQUARE.boundary))
CLOUD = ko.PointCloud(INSIDE.x, RIM.x, RIM.normal)
ROD = ko.SpaceTime(ko.Interval(0, 1), (0, 1))


@cache
def operator(kind: str = "subspace") -> Any:
    method = {
        "subspace": ko.Subspace(12),
        "full": ko.Full(),
        "lowrank": ko.LowRank(),
        "stream": ko.Subspace(12, batch=16),
    }[kind]
    return ko.learn(PROBLEM, points=given(), kernel=KERNEL, method=method, regularization=1e-6)


@cache
def solution() -> Any:
    return operator()(sine, 0.0)


def answer(t: Any, *data: Any) -> Any:
    """What an operator says, at a few points."""
    values = data or tuple(1.0 for _ in t.problem.inputs)
    return t(*values)(X[:, : t.problem.dim])


def learned(**arguments: Any) -> Any:
    settings = {"points": given(), "kernel": KERNEL, "method": ko.Subspace(12), **arguments}
    problem = settings.pop("problem", PROBLEM)
    return answer(ko.learn(problem, **settings))


def by_kernel(kernel: Any) -> Any:
    return kernel(X, X), learned(kernel=kernel, method=ko.Full(), regularization=1e-6)


def of_operator(op: Any) -> Any:
    """Both readings of an operator: on a known function, and on the unknown."""
    return ko.apply_operator(op, sine, RIM), operator().on(RIM, op)(sine, 0.0)


def of_condition(condition: Any) -> Any:
    return answer(
        ko.learn(
            ko.Problem(ko.Equation(poisson, on=SQUARE, name="first"), condition),
            points=64,
            kernel=KERNEL,
            method=ko.Subspace(12),
        )
    )


def of_region(region: Any) -> Any:
    return region.sample(6), region.bounds, region.measure


def domains() -> list[Call]:
    def spacetime(space: Any, times: Any) -> Any:
        cylinder = ko.SpaceTime(space, times)
        return [of_region(part) for part in (cylinder, cylinder.initial, cylinder.walls, cylinder.boundary)]

    def box(lo: Any, hi: Any) -> Any:
        whole = ko.Box(lo, hi)
        return of_region(whole), of_region(whole.boundary)

    def ball(center: Any, radius: Any) -> Any:
        whole = ko.Ball(center, radius)
        return of_region(whole), of_region(whole.boundary)

    def cloud(interior: Any, boundary: Any, normals: Any, timed: Any) -> Any:
        whole = ko.PointCloud(interior, boundary, normals, timed)
        return whole.sample(3), whole.boundary.sample(3), whole.contains(X).astype(float)

    corners = {"lo": ("lo, hi",), "hi": ("lo, hi",)}
    sampling = {"n": 12, "scheme": "halton", "seed": 3}
    part = SQUARE.where(lambda x: x[..., 0] < 0.5)
    return [
        Call("Interval", lambda a, b: of_region(ko.Interval(a, b)), {"a": 0.25, "b": 2.0}),
        Call("Box", box, {"lo": [0.0, 0.25], "hi": [1.0, 2.0]}, corners),
        Call("Box.face", lambda face: of_region(SQUARE.face(face)), {"face": "left"}),
        Call("Ball", ball, {"center": [0.5, 0.25], "radius": 0.5}),
        Call("SpaceTime", spacetime, {"space": ko.Interval(0, 1), "times": (0.0, 0.5)}),
        Call(
            "PointCloud",
            cloud,
            {"interior": INSIDE.x, "boundary": RIM.x, "normals": RIM.normal, "timed": False},
            {"normals": ("normal",), "interior": ("boundary",), "boundary": ("normal",)},
        ),
        Call("Points", ko.Points, {"x": RIM.x, "normal": RIM.normal, "timed": False}, {"x": ("normal",)}),
        Call("Points[…]", lambda rows: RIM[rows], {"rows": np.array([0, 3, 5])}),
        *(
            Call(f"{name}.sample", region.sample, sampling, {"n": ("predicate",)})
            for name, region in {
                "Box": SQUARE,
                "boundary": SQUARE.boundary,
                "Ball": ko.Ball([0, 0], 1),
                "where": part,
                "cloud": CLOUD,
            }.items()
        ),
        Call("Region.contains", lambda x: SQUARE.contains(x).astype(float), {"x": X}),
        Call("Region.adopt", lambda x: SQUARE.boundary.adopt(x, "x"), {"x": RIM.x}),
        Call(
            "Region.where",
            lambda predicate: of_region(SQUARE.where(predicate)),
            {"predicate": lambda x: x[..., 0] < 0.5},
        ),
        Call(
            "cloud.where", lambda predicate: CLOUD.where(predicate).sample(1), {"predicate": lambda x: x[..., 0] < 0.5}
        ),
    ]


def language() -> list[Call]:
    points = {"points": ("points", "x")}
    scalar = {"coefficient": ("coefficient", "op")}
    return [
        Call(
            "apply_operator",
            ko.apply_operator,
            {"op": poisson, "u": sine, "points": INSIDE},
            {**points, "u": ("u", "op")},
        ),
        Call("grad", lambda axes: of_operator(lambda u: ko.grad(u, axes)[0]), {"axes": (0, 1)}, {"axes": ("grad",)}),
        Call("div", lambda axes: of_operator(lambda u: ko.div(ko.grad(u), axes)), {"axes": (0, 1)}, {"axes": ("div",)}),
        Call(
            "laplacian",
            lambda axes: of_operator(lambda u: ko.laplacian(u, axes)),
            {"axes": (0, 1)},
            {"axes": ("laplacian", "axis")},
        ),
        Call("dt", lambda order: ko.apply_operator(lambda u: ko.dt(u, order), sine, ROD.sample(6)), {"order": 2}),
        Call(
            "identity",
            lambda m: of_operator(lambda u: ko.trace(u * ko.identity(m))),
            {"m": 2},
            {"m": ("identity", "trace")},
        ),
        Call(
            "sym, transpose",
            lambda axes: of_operator(lambda u: ko.trace(ko.sym(ko.transpose(ko.grad(ko.grad(u, axes), axes))))),
            {"axes": (0, 1)},
            {"axes": ("grad", "trace", "sym")},
        ),
        Call(
            "normal_component",
            lambda axes: of_operator(lambda u: ko.normal_component(ko.grad(u, axes))),
            {"axes": (0, 1)},
            {"axes": ("grad", "normal_component")},
        ),
        Call("partial", lambda axis, order: of_operator(lambda u: ko.partial(u, axis, order)), {"axis": 1, "order": 2}),
        Call(
            "dot",
            lambda b: of_operator(lambda u: ko.dot(b, ko.grad(u))),
            {"b": [1.0, 2.0]},
            {"b": ("coefficient", "op")},
        ),
        Call(
            "dot of a function",
            lambda b: of_operator(lambda u: ko.dot(b, ko.grad(u))),
            {"b": lambda x: x},
            {"b": ("coefficient", "op")},
        ),
        Call(
            "matvec",
            lambda a: of_operator(lambda u: ko.div(ko.matvec(a, ko.grad(u)))),
            {"a": np.eye(2)},
            {"a": ("coefficient", "op")},
        ),
        Call("number · u", lambda coefficient: of_operator(lambda u: coefficient * u), {"coefficient": 2.0}, scalar),
        Call(
            "function · u",
            lambda coefficient: of_operator(lambda u: ko.div(coefficient * ko.grad(u))),
            {"coefficient": coefficient},
            scalar,
        ),
        Call(
            "u / function",
            lambda coefficient: of_operator(lambda u: u / coefficient),
            {"coefficient": coefficient},
            scalar,
        ),
        *(
            Call(
                f"{function.__name__}(…)",
                lambda field, function=function: of_operator(lambda u: function(field or u)),
                {"field": None},
                {"field": (function.__name__, "op")},
            )
            for function in (ko.laplacian, ko.normal_derivative, ko.tangential_derivative)
        ),
        *functions(),
    ]


def functions() -> list[Call]:
    grid, scattered = np.add.outer(np.arange(4.0), np.arange(5.0) ** 2), np.asarray(sine(INSIDE.x), dtype=np.float64)
    array, halves = ko.GridFunction(grid, SQUARE), (ko.Box([0, 0], [0.5, 1]), ko.Box([0.5, 0], [1, 1]))
    return [
        Call(
            "GridFunction",
            lambda **a: ko.GridFunction(**a)(X),
            {"values": grid, "box": SQUARE, "at": "nodes", "degree": 3},
            {"values": ("values", "nodes"), "box": ("box", "values", "GridFunction")},
        ),
        Call("GridFunction(…)", lambda x: array(x), {"x": X}, {"x": ("x", "GridFunction")}),
        Call(
            "ScatteredFunction",
            lambda **a: ko.ScatteredFunction(**a)(X),
            {"x": INSIDE.x, "values": scattered, "kernel": KERNEL, "noise": 0.1},
            {"x": ("x", "values"), "kernel": ("kernel", "lengthscale")},
        ),
        Call(
            "ScatteredFunction(…)",
            lambda x: ko.ScatteredFunction(INSIDE.x, scattered, KERNEL)(x),
            {"x": X},
            {"x": ("x", "ScatteredFunction")},
        ),
        Call(
            "Piecewise",
            lambda first, second, otherwise: ko.Piecewise(dict(zip(halves, (first, second), strict=True)), otherwise)(
                X
            ),
            {"first": 1.0, "second": coefficient, "otherwise": 2.0},
            {"first": ("pieces, value 0", "Piecewise"), "second": ("pieces, value 1", "Piecewise")},
        ),
        Call("Piecewise of regions", lambda region: ko.Piecewise([(region, 1.0)], 2.0)(X), {"region": SQUARE}),
        Call(
            "Piecewise(…)",
            lambda x: ko.Piecewise(dict.fromkeys(halves, 1.0))(x),
            {"x": X},
            {"x": ("x", "Piecewise")},
        ),
    ]


def conditions() -> list[Call]:
    rest = {"on": SQUARE.boundary, "name": "second", "data": 0.0}
    words = {
        "op": ("second", "op"),
        "data": ("data", "second"),
        "alpha": ("second",),
        "weight": ("second",),
        "beta": ("second",),
        "on": ("on", "second", "conditions", "problem", "axis"),
    }

    def made(kind: Run) -> Run:
        return lambda **arguments: of_condition(kind(**arguments))

    cylinder = ko.SpaceTime(ko.Interval(0, 1), (0.0, 1.0))

    def initial(**arguments: Any) -> Any:
        heat = ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=cylinder, name="first")
        problem = ko.Problem(heat, ko.Initial(**arguments))
        return answer(ko.learn(problem, points=64, kernel=KERNEL, method=ko.Subspace(12)))

    first = ko.Equation(poisson, on=SQUARE)
    return [
        Call("Condition", made(ko.Condition), {"op": lambda u: u, **rest}, words),
        Call("Equation", made(ko.Equation), {"op": lambda u: u + ko.partial(u, 0), **rest}, words),
        Call("Dirichlet", made(ko.Dirichlet), rest, words),
        Call("Neumann", made(ko.Neumann), {**rest, "data": sine}, words),
        Call("Robin", made(ko.Robin), {"alpha": 1.0, "beta": coefficient, **rest}, words),
        Call("Mean", made(ko.Mean), {"on": SQUARE, "name": "second", "data": 0.0}, words),
        Call(
            "Integral", made(ko.Integral), {"weight": coefficient, "on": SQUARE, "name": "second", "data": 0.0}, words
        ),
        Call(
            "Oblique",
            made(ko.Oblique),
            {"direction": [1.0, 2.0], **rest},
            {**words, "direction": ("direction", "second")},
        ),
        Call(
            "Periodic",
            made(ko.Periodic),
            {"on": SQUARE.face("left"), "to": SQUARE.face("right"), "name": "second", "data": 0.0, "shift": [1.0, 0.0]},
            {**words, "on": ("on", "to"), "to": ("to", "on"), "shift": ("shift", "to")},
        ),
        Call(
            "Sensors",
            lambda noise, **a: of_condition(ko.Sensors(noise=noise, **a)),
            {"at": X, "name": "second", "noise": 0.1, "op": lambda u: u, "data": 0.0},
            {**words, "at": ("at", "second", "Points", "conditions"), "noise": ("noise", "kernel")},
        ),
        Call("Initial", initial, {"on": cylinder.initial, "name": "second", "order": 0, "data": 0.0}, words),
        Call(
            "Problem",
            lambda condition: learned(problem=ko.Problem(first, condition)),
            {"condition": ko.Dirichlet(on=SQUARE.boundary)},
            {"condition": ("conditions", "points")},
        ),
        Call("Problem[…]", lambda name: PROBLEM[name].on.bounds, {"name": "f"}),
        Call("Problem.contains", lambda x: PROBLEM.contains(x).astype(float), {"x": X}),
        Call("Problem.manufacture", PROBLEM.manufacture, {"u": sine, "points": given()}, {"u": ("u", "f", "g")}),
    ]


def kernels() -> list[Call]:
    def custom(x: Any, y: Any) -> Any:
        return jnp.exp(-4.0 * jnp.sum((x - y) ** 2))

    both = {"x": ("x, y",), "y": ("x, y",)}
    scale = {"lengthscale": ("lengthscale", "regularization", "kernel", "weights")}
    return [
        Call("Gaussian", lambda **a: by_kernel(ko.Gaussian(**a)), {"lengthscale": 0.5}, scale),
        Call("Gaussian, by axis", lambda **a: by_kernel(ko.Gaussian(**a)), {"lengthscale": [0.5, 0.25]}, scale),
        Call(
            "Matern",
            lambda **a: by_kernel(ko.Matern(**a)),
            {"nu": 4.5, "lengthscale": 0.5},
            {**scale, "nu": ("kernel", "nu")},
        ),
        Call("InverseMultiquadric", lambda **a: by_kernel(ko.InverseMultiquadric(**a)), {"lengthscale": 0.5}, scale),
        Call(
            "Wendland",
            lambda **a: by_kernel(ko.Wendland(**a)),
            {"k": 3, "lengthscale": 1.5},
            {**scale, "k": ("kernel", "k")},
        ),
        Call(
            "CustomKernel",
            lambda **a: by_kernel(ko.CustomKernel(**a)),
            {"function": custom, "smoothness": 8},
            {"function": ("kernel", "regularization"), "smoothness": ("kernel",)},
        ),
        Call("kernel(x, y)", KERNEL, {"x": X, "y": X}, both),
        Call("kernel + …", lambda kernel: by_kernel(KERNEL + kernel), {"kernel": ko.Gaussian(0.25)}),
        Call(
            "kernel · …",
            lambda factor: by_kernel(KERNEL * factor),
            {"factor": 2.0},
            {"factor": ("regularization", "kernel")},
        ),
    ]


def methods() -> list[Call]:
    def subspace(**arguments: Any) -> Any:
        return learned(method=ko.Subspace(**arguments), regularization=1e-8)

    def enveloped(envelope: Any) -> Any:
        problem = ko.Problem(ko.Equation(poisson, on=SQUARE))
        return learned(problem=problem, points={"f": INSIDE}, method=ko.Subspace(12, envelope=envelope))

    centers = {"centers": ("centers", "points", "kernel")}
    return [
        Call(
            "LowRank",
            lambda **a: learned(method=ko.LowRank(**a), regularization=1e-6),
            {"rank": 30, "tol": 1e-3, "block": 16, "seed": 1},
        ),
        Call(
            "Subspace",
            subspace,
            {"centers": 12, "basis": "translates", "solver": "qr", "penalty": "coefficients"},
            centers,
        ),
        Call("Subspace, centres", subspace, {"centers": X}, centers),
        Call("Subspace, batch", subspace, {"centers": 12, "batch": 16}, centers),
        Call("Subspace, envelope", enveloped, {"envelope": bubble}, {"envelope": ("envelope", "f")}),
    ]


def learning() -> list[Call]:
    known = {
        "regularization": ("regularization",),
        "points": ("points", "n"),
        "kernel": ("kernel",),
        "weights": ("weights",),
    }

    def tolerance(**arguments: Any) -> Any:
        return answer(ko.learn(PROBLEM, **arguments))

    def streamed(**arguments: Any) -> Any:
        return learned(method=ko.Subspace(12, batch=16), **arguments)

    def batches(number: Any, take: Any) -> Any:
        return learned(method=ko.Subspace(12, batch=16), points=ko.Batches(number, take))

    def checkpoint(path: Any, every: Any) -> Any:
        return streamed(checkpoint=ko.Checkpoint(path, every))

    numbers = {"f": 40, "g": 24}
    return [
        Call(
            "learn",
            learned,
            {"problem": PROBLEM, "kernel": KERNEL, "points": 64, "sampling": "halton", "seed": 2},
            known,
        ),
        Call("learn, Points", learned, {"points": given()}, known),
        Call("learn, arrays", learned, {"points": {"f": INSIDE.x, "g": RIM.x}}, known),
        Call("learn, numbers", learned, {"points": numbers, "progress": False, "weights": "balanced"}, known),
        Call("learn, weights", learned, {"weights": {"f": 1.0, "g": 2.0}}, known),
        Call("learn, method", learned, {"method": ko.Subspace(12)}, known),
        *(
            Call(
                f"learn, {name}",
                lambda method=method, **a: learned(method=method, **a),
                {"regularization": 1e-6, "weights": "unit"},
                known,
            )
            for name, method in {
                "Full": ko.Full(),
                "LowRank": ko.LowRank(),
                "QR": ko.Subspace(12),
                "normal": ko.Subspace(12, solver="normal"),
                "rkhs": ko.Subspace(12, penalty="rkhs"),
                "representers": ko.Subspace(12, basis="representers"),
            }.items()
        ),
        Call("learn, tol", tolerance, {"tol": 1e-2, "inputs": [(sine, 0.0)], "budget": 60}),
        Call(
            "learn, one input",
            lambda value: tolerance(tol=1e-2, inputs=[(value, 0.0)], budget=60),
            {"value": sine},
            {"value": ("inputs", "f")},
        ),
        Call(
            "learn, stream",
            streamed,
            {
                "points": {"f": INSIDE.x, "g": RIM.x},
                "inputs": [(sine, 0.0)],
                "regularization": 1e-8,
                "client": None,
                "checkpoint": "pass.checkpoint",
            },
            known,
        ),
        Call(
            "Batches",
            batches,
            {"number": 1, "take": lambda k: {"f": INSIDE.x, "g": RIM.x}},
            {"take": ("take", "points"), "number": ("number", "points")},
        ),
        Call("Checkpoint", checkpoint, {"path": "pass.checkpoint", "every": 0.0}, {"path": ("checkpoint",)}),
    ]


def applying() -> list[Call]:
    def inputs(kind: str) -> Run:
        return lambda f, g: operator(kind)(f, g)(X)

    values = {"f": np.linspace(0.0, 1.0, N_F), "g": np.zeros(N_G)}
    together = {"f": ("f", "T"), "g": ("g", "T")}
    new = {"f": np.array([[0.3, 0.3], [0.6, 0.1]])}
    calls = [Call(f"T(f, g), {kind}", inputs(kind), values, together) for kind in ("subspace", "full", "stream")]
    calls += [
        Call("T(f, g), functions", inputs("subspace"), {"f": sine, "g": sine}, together),
        Call("S(f, g)", lambda f, g: operator().on(X)(f, g), values, together),
        Call(
            "T.on",
            lambda **a: operator().on(**a)(1.0, 0.0),
            {"x": X, "op": lambda u: ko.partial(u, 0), "outside": "raise"},
        ),
        Call("T.basis", lambda x: operator().basis(x), {"x": X}),
    ]
    for kind in ("subspace", "full", "lowrank"):
        calls += [
            Call(f"T.std, {kind}", lambda x, kind=kind: operator(kind).std(x), {"x": X}),
            Call(
                f"T.update, {kind}",
                lambda points, kind=kind: answer(operator(kind).update(points)),
                {"points": new},
                {"points": ("points", "regularization")},
            ),
            Call(
                f"T.remove, {kind}",
                lambda points, kind=kind: answer(operator(kind).remove(points)),
                {"points": {"f": np.array([1, 4])}},
            ),
        ]
    return [
        *calls,
        Call("T.update, stream", lambda points: answer(operator("stream").update(points)), {"points": new}),
        Call(
            "T.solve",
            lambda inputs: [u(X) for u in operator("stream").solve(inputs)],
            {"inputs": [(sine, 0.0), (1.0, 2.0)]},
            {"inputs": ("inputs", "T", "f", "g")},
        ),
        Call("T.materialize", lambda path: answer(operator("stream").materialize(path)), {"path": None}),
        Call("T.with_client", lambda client: answer(operator("stream").with_client(client)), {"client": None}),
    ]


def solutions() -> list[Call]:
    condition = {"name": "g", "points": RIM, "data": 0.0}
    place = {"x": X, "outside": "raise"}
    return [
        Call("u(x)", lambda **a: solution()(**a), place),
        Call("u.grad", lambda **a: solution().grad(**a), place),
        Call(
            "u.apply",
            lambda **a: solution().apply(**a),
            {"op": lambda u: coefficient * u, **place},
            {"op": ("op", "coefficient")},
        ),
        Call("u.residual", lambda **a: solution().residual(**a), condition, {"data": ("data", "g")}),
    ]


def trust() -> list[Call]:
    """How certain, how wrong; files."""
    draw = {"x": X, "number": 3, "op": lambda u: ko.partial(u, 0), "seed": 1}

    def estimated(f: Any, g: Any, covering: Any) -> Any:
        found = operator()(sine, 0.0).error_estimate(f, g, covering=covering)
        return found.relative_l2, found.relative_linf

    def saved(path: Any) -> Any:
        operator("full").save(path)
        return answer(ko.load(path))

    def loaded(**arguments: Any) -> Any:
        operator("full").save("good.kernop")
        return answer(ko.load("good.kernop", **arguments))

    def read(path: Any) -> Any:
        operator("full").save("good.kernop")
        return answer(ko.load(path))

    def told(**arguments: Any) -> Any:
        return float(len(str(ko.bounds.report(**arguments))) > 0)

    named = {"x": ("x", "y")}
    together = {"f": ("f", "T"), "g": ("g", "T"), "covering": ("covering", "T")}
    extreme = dict.fromkeys(
        ("regularization", "norm", "source", "points", "delta", "gamma", "gap", "rank"),
        ("pathwise", "points_needed", "approximation", "sharper", "uniform"),
    )
    rows = collocate(PROBLEM, given())
    seen = spectrum(KERNEL, rows, np.ones(len(rows)), np.ones((len(rows), 1)))
    inequality = {"points": 1000, "regularization": 1e-3, "norm": 2.0, "delta": 0.05}
    return [
        *(
            Call(
                f"T.covariance, {kind}",
                operator(kind).covariance,
                {"x": X, "y": X[:2], "op": lambda u: ko.partial(u, 0)},
                named,
            )
            for kind in ("full", "subspace", "lowrank")
        ),
        Call("T.samples", lambda **a: operator("full").samples(a.pop("x"), a.pop("number"), 1.0, 0.0, **a), draw),
        Call("u.std", lambda **a: operator("full")(1.0, 0.0).std(**a), {"x": X, "op": lambda u: ko.partial(u, 0)}),
        Call("u.samples", lambda **a: operator("full")(1.0, 0.0).samples(**a), draw),
        Call(
            "T.evidence", lambda f, g: operator("full").evidence(f, g).scale, {"f": sine, "g": np.zeros(N_G)}, together
        ),
        Call("u.error_estimate", estimated, {"f": sine, "g": 0.0, "covering": 200}, together),
        Call("learn, noise", lambda noise: learned(noise=noise, method=ko.Full()), {"noise": {"f": 0.1, "g": 0.2}}),
        Call("learn, one noise", lambda noise: learned(noise=noise), {"noise": 0.1}),
        Call("T.save", saved, {"path": "t.kernop"}),
        Call("load", read, {"path": "good.kernop"}),
        Call("load, problem", loaded, {"problem": PROBLEM, "envelope": None}),
        Call("bounds.pathwise", ko.bounds.pathwise, inequality, extreme),
        Call("bounds.sharper", ko.bounds.sharper, {**inequality, "gap": 0.5}, extreme),
        Call("bounds.uniform", ko.bounds.uniform, {**inequality, "rank": 3.0, "gamma": 0.5, "source": 2.0}, extreme),
        Call(
            "bounds.points_needed",
            ko.bounds.points_needed,
            {"regularization": 1e-3, "norm": 2.0, "delta": 0.05},
            extreme,
        ),
        Call(
            "bounds.approximation",
            ko.bounds.approximation,
            {"regularization": 1e-3, "gamma": 0.5, "source": 2.0},
            extreme,
        ),
        Call("bounds.rate", ko.bounds.rate, {"alpha": 0.25, "gamma": 0.5}),
        Call("bounds.best_alpha", ko.bounds.best_alpha, {"gamma": 0.5}),
        Call("bounds.best_rate", ko.bounds.best_rate, {"gamma": 0.5}),
        Call(
            "bounds.source",
            lambda **a: astuple(ko.bounds.source(**a)),
            {"spectrum": seen, "gamma": 0.5},
        ),
        Call("bounds.effective_rank", ko.bounds.effective_rank, {"spectrum": seen}),
        Call("bounds.kappa", ko.bounds.kappa, {"kernel": KERNEL, "order": 2, "dim": 2}),
        Call(
            "bounds.constants",
            lambda **a: ko.bounds.constants(**a).norm,
            {"problem": PROBLEM, "kernel": KERNEL, "points": given()},
        ),
        Call(
            "bounds.report",
            told,
            {"operator": operator("full"), "inputs": (sine, 0.0), "delta": 0.05, "gamma": 0.5, "rows": 40},
            {"inputs": ("inputs", "T", "f", "g"), "delta": extreme["delta"]},
        ),
    ]


def around() -> list[Call]:
    n = 4
    ticks = np.linspace(0.0, 1.0, n)
    grid = np.stack(np.meshgrid(ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 2)
    wave = np.sin(grid[:, 0])
    pair = {"found": np.linspace(1.0, 2.0, 5), "exact": np.linspace(1.0, 2.1, 5)}

    def drawn(function: Run) -> Run:
        return lambda **arguments: float(function(**arguments).stat().st_size > 0)

    def tuned(**arguments: Any) -> Any:
        found = ko.tune(**{"problem": PROBLEM, "kernel": KERNEL, "points": given(), "lengthscales": False, **arguments})
        return found.regularization, found.value

    def plot_tuned(path: Any) -> Any:
        found = ko.tune(PROBLEM, KERNEL, points=given(), lengthscales=False, regularizations=[1e-6, 1e-4])
        return float(found.plot(path).stat().st_size > 0)

    several = {"found": ("found, exact", "found"), "exact": ("found, exact", "exact")}
    axes = {"x": ("x",), "exact": ("x", "exact"), "found": ("x", "found"), "values": ("x", "values")}
    return [
        Call("metrics.relative_l2", metrics.relative_l2, pair, several),
        Call("metrics.relative_linf", metrics.relative_linf, pair, several),
        Call(
            "tune",
            tuned,
            {
                "problem": PROBLEM,
                "kernel": KERNEL,
                "points": 40,
                "sampling": "halton",
                "criterion": "loo",
                "regularizations": [1e-8, 1e-6],
                "weights": "unit",
                "seed": 1,
                "progress": False,
            },
            {"points": ("points", "n"), "problem": ("problem", "conditions")},
        ),
        Call("tune, lengthscales", tuned, {"lengthscales": False, "criterion": "gcv"}),
        Call(
            "tune, data",
            tuned,
            {"data": {"f": sine, "g": np.ones(N_G)}, "criterion": "likelihood"},
            {"data": ("data", "f", "g")},
        ),
        Call("Tuned.plot", plot_tuned, {"path": "tuned.png"}),
        Call(
            "plotting.true_predicted_error",
            drawn(plotting.true_predicted_error),
            {
                "x": grid,
                "exact": wave,
                "found": wave,
                "path": "three.png",
                "title": "t",
                "labels": ("x", "y"),
                "truth": "u",
            },
            axes,
        ),
        Call(
            "plotting.field",
            drawn(plotting.field),
            {"x": grid, "values": wave, "path": "field.png", "title": "t"},
            axes,
        ),
    ]


def catalogue() -> list[Call]:
    """All of them."""
    parts = (domains, language, conditions, kernels, methods, learning, applying, solutions, trust, around)
    return [call for part in parts for call in part()]
