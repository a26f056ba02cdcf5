"""Good calls of what states a problem: domains, operators, functions, conditions, kernels, methods."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

import kernop as ko
from fuzzing.setting import (
    CLOUD,
    INSIDE,
    KERNEL,
    PROBLEM,
    RIM,
    ROD,
    SQUARE,
    Call,
    Run,
    X,
    answer,
    bubble,
    by_kernel,
    coefficient,
    given,
    learned,
    of_condition,
    of_operator,
    of_region,
    poisson,
    sine,
)


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
        *(
            Call(
                f"{function.__name__}(…)",
                lambda field, function=function: of_operator(lambda u: function(field or u)),
                {"field": None},
                {"field": (function.__name__, "op")},
            )
            for function in (ko.laplacian, ko.normal_derivative, ko.tangential_derivative)
        ),
    ]


def coefficients() -> list[Call]:
    scalar = {"coefficient": ("coefficient", "op")}
    return [
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


def calls() -> list[Call]:
    """All calls of this file."""
    parts = (domains, language, coefficients, functions, conditions, kernels, methods)
    return [call for part in parts for call in part()]
