"""A physics-informed DeepONet for f ↦ u, with DeepXDE on PyTorch: it sees the equation, and no solutions.

The architecture and the optimiser are those of DeepXDE's examples of physics-informed DeepONets: branch and trunk with
layers of 128, tanh, Glorot normal, 1000 functions, 50 in a step (diff_rec_aligned_zcs_pideeponet.py); derivatives by
zero coordinate shift; boundary values built in by an output transform, and Adam at 1e-3 with inverse time decay
(stokes_aligned_zcs_pideeponet.py). The branch sees f divided by the scale of the training fields; the residual is
divided by it too.
"""

from __future__ import annotations

import os

os.environ.setdefault("DDE_BACKEND", "pytorch")

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import deepxde as dde
import numpy as np
import torch
from benchmarks.peers.tasks import OMEGA, PAIRS, TRAINING, Fields, Task, Trained

Residual = Callable[[Any, Any, Any, Any], Any]  # derivatives of u, u, f, the points
Transform = Callable[[Any, Any], Any]  # the points (n, d), the network there (B, n)


@dataclass(frozen=True)
class Settings:
    """What differs between the two problems.

    Arguments:
        sensors: for f, along each axis.
        collocation: points for the residual.
        steps: of Adam.
        residual, transform: the equation, and how the boundary values are built in.
    """

    sensors: int
    collocation: int
    steps: int
    residual: Residual
    transform: Transform
    width: int = 128
    functions: int = PAIRS
    batch: int = 50
    rate: float = 1e-3
    decay: tuple[str, float, float] = ("inverse time", 10_000, 0.5)


def helmholtz_residual(u_: Any, u: Any, f: Any, x: Any) -> Any:
    return -u_.compute((2,)) - OMEGA**2 * u - f


def helmholtz_transform(x: Any, net: Any) -> Any:
    s = x[:, 0]
    return -0.1 + 0.2 * s + s * (1.0 - s) * net


def darcy_residual(u_: Any, u: Any, f: Any, x: Any) -> Any:
    terms = u_.compute((2, 0)) + u_.compute((0, 2)) + u_.compute((1, 0)) + u_.compute((0, 1))
    return -torch.exp(x.sum(dim=1)) * terms - f


def darcy_transform(x: Any, net: Any) -> Any:
    s, t = x[:, 0], x[:, 1]
    return s * (1.0 - s) * t * (1.0 - t) * net


HELMHOLTZ = Settings(100, 200, 20_000, helmholtz_residual, helmholtz_transform)
DARCY = Settings(21, 200, 7_000, darcy_residual, darcy_transform)


class Space(dde.data.function_spaces.FunctionSpace):
    """The training fields, as DeepXDE wants them."""

    def __init__(self, fields: Fields) -> None:
        self.fields = fields

    def random(self, size: int) -> np.ndarray:
        """The weights of the fields on which the FNO is trained as well."""
        return self.fields.draw(size, TRAINING)

    def eval_one(self, feature: np.ndarray, x: np.ndarray) -> np.ndarray:
        """One field."""
        return self.eval_batch(feature[None], x)[0]

    def eval_batch(self, features: np.ndarray, xs: np.ndarray) -> np.ndarray:
        """Fields at points, (n, m)."""
        return self.fields(features, xs).T.astype(np.float32)


def train(task: Task, settings: Settings, seed: int = 0) -> Trained:
    """Train on the equation alone."""
    dde.config.set_random_seed(seed)
    dim, scale = task.grid.shape[1], task.fields.scale
    space = Fields(dim, task.fields.lengthscale, 1.0)
    domain = dde.geometry.Interval(0, 1) if dim == 1 else dde.geometry.Rectangle([0, 0], [1, 1])
    axes = [np.linspace(0.0, 1.0, settings.sensors)] * dim
    sensors = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, dim)

    def residual(z: Any, u: Any, f: Any) -> Any:
        return settings.residual(dde.zcs.LazyGrad(z, u), u, scale * f, torch.as_tensor(pde.train_x)) / scale

    pde = dde.data.PDE(domain, residual, [], num_domain=settings.collocation)
    data = dde.zcs.PDEOperatorCartesianProd(pde, Space(space), sensors, settings.functions, batch_size=settings.batch)
    inner = [settings.width] * 3
    net = dde.nn.DeepONetCartesianProd([len(sensors), *inner], [dim, *inner], "tanh", "Glorot normal")
    net.apply_output_transform(lambda inputs, outputs: settings.transform(inputs[1], outputs))
    model = dde.zcs.Model(data, net)
    model.compile("adam", lr=settings.rate, decay=settings.decay, verbose=0)
    started = time.perf_counter()
    history, _ = model.train(iterations=settings.steps, display_every=max(settings.steps // 20, 1), verbose=0)
    seconds = time.perf_counter() - started

    def apply(f: np.ndarray) -> np.ndarray:
        inputs = ((f.T / scale).astype(np.float32), task.grid.astype(np.float32))
        return np.asarray(model.predict(inputs), dtype=float).T

    losses = [float(np.sum(loss)) for loss in history.loss_train]
    return Trained(sensors, apply, seconds, sum(p.numel() for p in net.parameters()), losses)
