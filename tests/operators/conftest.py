"""Small operators of every kind: learned once for each process of the tests."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko

LINE, DISK = ko.Interval(0.0, 1.0), ko.Ball([0.0, 0.0], 1.0)
SMOOTH = {"kernel": ko.Gaussian(0.5), "regularization": 1e-8}


def wavy(x):
    return jnp.sin(3.0 * x[..., 0])


def rho(x):
    return x[..., 0] * (1.0 - x[..., 0])


@dataclass(frozen=True)
class Case:
    """An operator, the inputs that it is tried with, its envelope, and what it is able to do."""

    operator: ko.SolutionOperator
    inputs: dict[str, Any]
    extra: dict[str, Any] = field(default_factory=dict)
    able: tuple[str, ...] = ("on", "basis", "remove", "std")

    @property
    def x(self):
        return self.operator.points["f"].x[:9] * 0.9 + 0.01


def variable():
    """An operator with coefficients that are functions, and data that is one."""
    return ko.Problem(
        ko.Equation(lambda u: -ko.div((lambda x: 1.0 + x[..., 0] ** 2) * ko.grad(u)), on=LINE, name="f"),
        ko.Dirichlet(on=LINE.boundary, name="g", data=lambda x: jnp.cos(x[..., 0])),
    )


def disk():
    left, right = (DISK.boundary.where(side) for side in (lambda x: x[..., 0] < 0, lambda x: x[..., 0] >= 0))
    return ko.Problem(
        ko.Equation(lambda u: u - ko.laplacian(u), on=DISK, name="f"),
        ko.Neumann(on=left, name="q"),
        ko.Robin(1.0, lambda x: 2.0 + x[..., 0], on=right, data=0.5),
    )


def heat():
    D = ko.SpaceTime(ko.Interval(0.0, 1.0), (0.0, 0.5))
    return ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=D, name="f"),
        ko.Initial(on=D.initial),
        ko.Dirichlet(on=D.walls, name="g", data=0.0),
    )


def cloud():
    rng, t = np.random.default_rng(0), np.linspace(0.0, 1.0, 12)
    rim = np.concatenate([np.stack([t, 0 * t], axis=1), np.stack([t, 0 * t + 1], axis=1)])
    D = ko.PointCloud(rng.random((40, 2)), rim, np.repeat([[0.0, -1.0], [0.0, 1.0]], 12, axis=0))
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=D, name="f"),
        ko.Neumann(on=D.boundary.where(lambda x: x[..., 1] > 0.5)),
        ko.Dirichlet(on=D.boundary, name="g"),
    )


def _qr(**settings):
    return ko.learn(variable(), points=60, method=ko.Subspace(24, **settings))  # 21 translates, 3 polynomials


def _stream():
    return ko.learn(variable(), points=40, method=ko.Subspace(16, batch=15), inputs=[(wavy,), (1.0,)])


MADE: dict[str, Callable[[], Case]] = {
    "Full": lambda: Case(ko.learn(variable(), points=30, method=ko.Full(), **SMOOTH), {"f": wavy}),
    "Full, updated": lambda: Case(MADE["Full"]().operator.update({"f": [[0.33]], "g": [[1.0]]}), {"f": wavy}),
    "LowRank": lambda: Case(ko.learn(variable(), points=40, method=ko.LowRank(rank=20), **SMOOTH), {"f": wavy}),
    "LowRank, updated": lambda: Case(MADE["LowRank"]().operator.update({"f": [[0.33]]}), {"f": wavy}),
    "QR": lambda: Case(_qr(), {"f": wavy}),
    "QR, updated twice": lambda: Case(_qr().update({"f": [[0.3]]}).update({"f": [[0.6], [0.1]]}), {"f": wavy}),
    "QR, shortened": lambda: Case(_qr().remove({"f": [1, 5]}), {"f": wavy}),
    "normal equations": lambda: Case(_qr(solver="normal"), {"f": wavy}),
    "translates": lambda: Case(_qr(basis="translates"), {"f": wavy}),
    "polynomials": lambda: Case(_qr(basis="polynomials"), {"f": wavy}),
    "representers": lambda: Case(_qr(basis="representers"), {"f": wavy}),
    "norm of the kernel": lambda: Case(
        ko.learn(variable(), points=40, method=ko.Subspace(8, penalty="rkhs"), **SMOOTH), {"f": wavy}
    ),
    "own centres": lambda: Case(
        ko.learn(variable(), points=40, method=ko.Subspace(np.linspace(-0.2, 1.2, 12)[:, None])), {"f": wavy}
    ),
    "noise": lambda: Case(
        ko.learn(variable(), points=30, method=ko.Full(), kernel=ko.Gaussian(0.5), noise=0.01), {"f": 1.0}
    ),
    "product of kernels": lambda: Case(
        ko.learn(variable(), points=40, kernel=2.0 * (ko.Matern(2.5, 0.5) * ko.Gaussian(1.0))), {"f": wavy}
    ),
    "to a tolerance": lambda: Case(ko.learn(variable(), tol=1e-3), {"f": wavy}),
    "envelope": lambda: Case(
        ko.learn(
            ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f")),
            points=40,
            method=ko.Subspace(12, envelope=rho),
        ),
        {"f": wavy},
        {"envelope": rho},
    ),
    "disk, parts, sum of kernels": lambda: Case(
        ko.learn(
            disk(),
            points=60,
            kernel=ko.Gaussian([1.0, 0.8]) + 0.5 * ko.InverseMultiquadric(1.0),
            regularization=1e-6,
        ),
        {"f": wavy, "q": 0.1},
    ),
    "heat": lambda: Case(ko.learn(heat(), points=80), {"f": wavy, "u0": 1.0}),
    "cloud": lambda: Case(
        ko.learn(cloud(), method=ko.Full(), kernel=ko.Wendland(3, 2.0), regularization=1e-6),
        {"f": wavy, "q": 0.1, "g": 0.0},
    ),
    "stream": lambda: Case(_stream(), {"f": wavy}),
    "stream, updated": lambda: Case(_stream().update({"f": [[0.33], [0.2]]}), {"f": wavy}),
    "stream by normal equations": lambda: Case(_qr(batch=15, solver="normal"), {"f": wavy}),
    "stream, materialised": lambda: Case(_stream().materialize(), {"f": wavy}),
}


#: Without regularisation there is no prior, hence no `std`; a stream keeps no rows.
WITHOUT_A_PRIOR = (
    *(
        "QR",
        "QR, updated twice",
        "QR, shortened",
        "normal equations",
        "translates",
        "polynomials",
        "representers",
        "own centres",
    ),
    *("product of kernels", "to a tolerance", "envelope", "heat"),
)
ABLE = {
    **dict.fromkeys(WITHOUT_A_PRIOR, ("on", "basis", "remove")),
    **dict.fromkeys(("stream", "stream, updated", "stream by normal equations"), ()),
    "stream, materialised": ("on", "basis"),
}


@cache
def _made(name: str) -> Case:
    case = MADE[name]()
    return replace(case, able=ABLE.get(name, case.able))


@pytest.fixture
def made():
    """Cases by name."""
    return _made


@pytest.fixture(params=MADE)
def case(request):
    """Every case in turn."""
    return _made(request.param)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.kernop"


@pytest.fixture
def problems():
    """Problems by name, made anew: their functions are other objects."""
    return {"variable": variable, "disk": disk, "heat": heat, "cloud": cloud}
