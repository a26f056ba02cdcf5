"""A call, and the small problem, operators and functions with which calls are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np

import kernop as ko

Run = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Call:
    """A function, and arguments with which it works.

    Attributes:
        name: for the table.
        run: takes the arguments by name and goes on until there are numbers.
        good: the arguments.
        words: for some arguments, other words by which a message may name them.
        infinite: may the answer be ∞? An estimate of a relative error is, of a solution that may be all error.
    """

    name: str
    run: Run
    good: Mapping[str, Any]
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    infinite: bool = False


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
