"""Good calls of what is asked of a problem: learning, solutions, how certain and how wrong they are, files, figures."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np

import kernop as ko
from fuzzing.setting import (
    INSIDE,
    KERNEL,
    N_F,
    N_G,
    PROBLEM,
    RIM,
    Call,
    Run,
    X,
    answer,
    coefficient,
    given,
    learned,
    operator,
    sine,
    solution,
)
from kernop import plotting
from kernop.collocation.ansatz import collocate
from kernop.trust import metrics
from kernop.trust.criteria import spectrum

#: The words by which messages name arguments of learn.
KNOWN = {
    "regularization": ("regularization",),
    "points": ("points", "n"),
    "kernel": ("kernel",),
    "weights": ("weights",),
}


def learning() -> list[Call]:
    def tolerance(**arguments: Any) -> Any:
        return answer(ko.learn(PROBLEM, **arguments))

    numbers = {"f": 40, "g": 24}
    return [
        Call(
            "learn",
            learned,
            {"problem": PROBLEM, "kernel": KERNEL, "points": 64, "sampling": "halton", "seed": 2},
            KNOWN,
        ),
        Call("learn, Points", learned, {"points": given()}, KNOWN),
        Call("learn, arrays", learned, {"points": {"f": INSIDE.x, "g": RIM.x}}, KNOWN),
        Call("learn, numbers", learned, {"points": numbers, "progress": False, "weights": "balanced"}, KNOWN),
        Call("learn, weights", learned, {"weights": {"f": 1.0, "g": 2.0}}, KNOWN),
        Call("learn, method", learned, {"method": ko.Subspace(12)}, KNOWN),
        *(
            Call(
                f"learn, {name}",
                lambda method=method, **a: learned(method=method, **a),
                {"regularization": 1e-6, "weights": "unit"},
                KNOWN,
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
    ]


def streams() -> list[Call]:
    def streamed(**arguments: Any) -> Any:
        return learned(method=ko.Subspace(12, batch=16), **arguments)

    def batches(number: Any, take: Any) -> Any:
        return learned(method=ko.Subspace(12, batch=16), points=ko.Batches(number, take))

    def checkpoint(path: Any, every: Any) -> Any:
        return streamed(checkpoint=ko.Checkpoint(path, every))

    return [
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
            KNOWN,
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

    named = {"x": ("x", "y")}
    together = {"f": ("f", "T"), "g": ("g", "T"), "covering": ("covering", "T")}
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
        Call("u.error_estimate", estimated, {"f": sine, "g": 0.0, "covering": 200}, together, infinite=True),
        Call("learn, noise", lambda noise: learned(noise=noise, method=ko.Full()), {"noise": {"f": 0.1, "g": 0.2}}),
        Call("learn, one noise", lambda noise: learned(noise=noise), {"noise": 0.1}),
        Call("T.save", saved, {"path": "t.kernop"}),
        Call("load", read, {"path": "good.kernop"}),
        Call("load, problem", loaded, {"problem": PROBLEM, "envelope": None}),
    ]


def bounds() -> list[Call]:
    def told(**arguments: Any) -> Any:
        return float(len(str(ko.bounds.report(**arguments))) > 0)

    extreme = dict.fromkeys(
        ("regularization", "norm", "source", "points", "delta", "gamma", "gap", "rank"),
        ("pathwise", "points_needed", "approximation", "sharper", "uniform"),
    )
    rows = collocate(PROBLEM, given())
    seen = spectrum(KERNEL, rows, np.ones(len(rows)), np.ones((len(rows), 1)))
    inequality = {"points": 1000, "regularization": 1e-3, "norm": 2.0, "delta": 0.05}
    return [
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


def tuning() -> list[Call]:
    def tuned(**arguments: Any) -> Any:
        found = ko.tune(**{"problem": PROBLEM, "kernel": KERNEL, "points": given(), "lengthscales": False, **arguments})
        return found.regularization, found.value

    def plot_tuned(path: Any) -> Any:
        found = ko.tune(PROBLEM, KERNEL, points=given(), lengthscales=False, regularizations=[1e-6, 1e-4])
        return float(found.plot(path).stat().st_size > 0)

    return [
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
    ]


def around() -> list[Call]:
    n = 4
    ticks = np.linspace(0.0, 1.0, n)
    grid = np.stack(np.meshgrid(ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 2)
    wave = np.sin(grid[:, 0])
    pair = {"found": np.linspace(1.0, 2.0, 5), "exact": np.linspace(1.0, 2.1, 5)}

    def drawn(function: Run) -> Run:
        return lambda **arguments: float(function(**arguments).stat().st_size > 0)

    several = {"found": ("found, exact", "found"), "exact": ("found, exact", "exact")}
    axes = {"x": ("x",), "exact": ("x", "exact"), "found": ("x", "found"), "values": ("x", "values")}
    return [
        Call("metrics.relative_l2", metrics.relative_l2, pair, several),
        Call("metrics.relative_linf", metrics.relative_linf, pair, several),
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


def calls() -> list[Call]:
    """All calls of this file."""
    parts = (learning, streams, applying, solutions, trust, bounds, tuning, around)
    return [call for part in parts for call in part()]
