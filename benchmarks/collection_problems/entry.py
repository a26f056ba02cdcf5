"""An entry: a published problem, its data, its true solution, what others reached, and the best settings by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from honesty_problems.case import FloatArray, Function, along, flux_out, laplace

import kernop as ko
from collection_problems.by_hand import BY_HAND
from collection_problems.hand import Hand

__all__ = [
    "Entry",
    "Published",
    "along",
    "axis_sum",
    "dirichlet",
    "exact",
    "flux_out",
    "heat",
    "laplace",
    "made",
    "poisson",
    "relative",
    "spacetime",
    "wave",
]

#: Functions are evaluated at so many points at once: another shape would be compiled again.
BLOCK = 4096
#: Points inside at which the solution is compared with the truth.
INSIDE = 2500


@dataclass(frozen=True)
class Published:
    """The relative L2 error of a neural solver, and who published it."""

    error: float
    who: str


@dataclass(frozen=True, eq=False)
class Entry:
    """One problem of the collection.

    Arguments:
        family, name: how it is called; the name decides the half.
        problem: makes the problem.
        inputs: of T, by name: functions and numbers.
        truth: x (n, d) ↦ u (n,), computed without kernop.
        source: where the problem comes from.
        published: the best figure of a neural solver that we could check; None if there is none.
        needs_parts: is u singular inside or at corners, or thinner than one smooth space can resolve?
    """

    family: str
    name: str
    problem: Callable[[], ko.Problem]
    inputs: Mapping[str, Any]
    truth: Function
    source: str
    published: Published | None = None
    needs_parts: bool = False

    @property
    def half(self) -> str:
        """ "tuning" or "held-out", by the parity of the first byte of the SHA-256 of the name."""
        return "held-out" if hashlib.sha256(self.name.encode()).digest()[0] % 2 else "tuning"

    @property
    def by_hand(self) -> Hand | None:
        """The best settings that were found by hand."""
        return BY_HAND.get(self.name)

    @cached_property
    def places(self) -> FloatArray:
        """The points (n, d), inside the domain, at which u is compared."""
        conditions = self.problem().conditions
        inside = max((c.on for c in conditions if not c.integral), key=lambda region: region.intrinsic_dim)
        return inside.sample(INSIDE, "uniform", seed=4711).x

    @cached_property
    def expected(self) -> FloatArray:
        """The truth at `places`, (n,)."""
        return np.asarray(self.truth(self.places))

    def stated(self) -> ko.Problem:
        """The problem as it is published, with its data in it: T has no arguments."""
        problem = self.problem()
        fixed = [replace(c, data=self.inputs[c.name]) if c.data is None else c for c in problem.conditions]
        return ko.Problem(*fixed, unknowns=problem.unknowns)

    def error(self, operator: ko.SolutionOperator) -> float:
        """The relative L2 error of T(inputs), as far as they are arguments of T."""
        given = {name: self.inputs[name] for name in operator.problem.inputs}
        return relative(np.asarray(operator(**given)(self.places)), self.expected)

    def __str__(self) -> str:
        return f"{self.family}: {self.name}"


def exact(function: Function) -> Function:
    """A function that is written with jax.numpy, in float64, with NumPy outside, compiled for one shape."""

    def values(x: Any) -> FloatArray:
        x = np.asarray(x, dtype=np.float64)
        rows = np.reshape(x, (-1, x.shape[-1]))
        blocks = max(1, -(-len(rows) // BLOCK))
        padded = np.concatenate([rows, np.repeat(rows[-1:], blocks * BLOCK - len(rows), axis=0)])
        with jax.enable_x64(True):
            found = [np.asarray(function(jnp.asarray(part))) for part in np.split(padded, blocks)]
        return np.concatenate(found)[: len(rows)].reshape(x.shape[:-1])

    return values


def relative(found: FloatArray, true: FloatArray) -> float:
    """‖found − true‖ / ‖true‖ in L2."""
    return float(np.linalg.norm(found - true) / np.linalg.norm(true))


def dirichlet(domain: Any, op: Any) -> Callable[[], ko.Problem]:
    """Op u = f in a domain, u = g on its boundary."""
    return lambda: ko.Problem(ko.Equation(op, on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g"))


def made(family: str, name: str, domain: Any, op: Any, u: Function, f: Function, source: str, **more: Any) -> Entry:
    """A Dirichlet problem with the solution u and its right-hand side f, both written with jax.numpy."""
    return Entry(family, name, dirichlet(domain, op), {"f": exact(f), "g": exact(u)}, exact(u), source, **more)


def poisson(family: str, name: str, domain: Any, u: Function, source: str, **more: Any) -> Entry:
    """−Δu = f, u = g with the solution u."""
    lap = laplace(u, domain.dim)
    return made(family, name, domain, lambda v: -ko.laplacian(v), u, lambda x: -lap(x), source, **more)


def axis_sum(v: Any, a: float, b: float) -> Any:
    """A v_xx + b v_yy of a field."""
    return a * ko.partial(v, 0, 2) + b * ko.partial(v, 1, 2)


def spacetime(domain: ko.SpaceTime, op: Any, *, velocity: bool = False) -> Callable[[], ko.Problem]:
    """Op u = f in a cylinder, u = g on its walls, u = u0 and perhaps u_t = v0 at first."""
    more = [ko.Initial(on=domain.initial, name="v0", order=1)] if velocity else []
    return lambda: ko.Problem(
        ko.Equation(op, on=domain, name="f"),
        ko.Dirichlet(on=domain.walls, name="g"),
        ko.Initial(on=domain.initial, name="u0"),
        *more,
    )


def heat(family: str, name: str, domain: ko.SpaceTime, kappa: float, u: Function, source: str, **more: Any) -> Entry:
    """u_t − κ Δu = f with the solution u."""
    d = domain.dim - 1
    lap, rate = laplace(u, d), along(u, d)
    inputs = {"f": exact(lambda x: rate(x) - kappa * lap(x)), "g": exact(u), "u0": exact(u)}
    problem = spacetime(domain, lambda v: ko.dt(v) - kappa * ko.laplacian(v))
    return Entry(family, name, problem, inputs, exact(u), source, **more)


def wave(family: str, name: str, domain: ko.SpaceTime, speed: float, u: Function, source: str, **more: Any) -> Entry:
    """u_tt − c² Δu = f with the solution u."""
    d = domain.dim - 1
    lap, rate, force = laplace(u, d), along(u, d), along(u, d, 2)
    inputs = {"f": exact(lambda x: force(x) - speed**2 * lap(x)), "g": exact(u), "u0": exact(u), "v0": exact(rate)}
    problem = spacetime(domain, lambda v: ko.dt(v, 2) - speed**2 * ko.laplacian(v), velocity=True)
    return Entry(family, name, problem, inputs, exact(u), source, **more)
