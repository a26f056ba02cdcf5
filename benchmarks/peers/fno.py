"""A Fourier neural operator for f ↦ u, with the package neuraloperator: it sees pairs (f, u), and no equation.

The architecture and the optimiser are those of the package's example on Darcy flow (examples/models/plot_FNO_darcy.py):
four layers, 16 modes along each axis, 32 channels, AdamW at 8e-3 with weight decay 1e-4 and cosine annealing, 1000
pairs, 32 in a step, inputs and outputs normalised. The loss is the package's relative L2, in which errors are measured
here. On the line 64 modes, so that the layers see all test frequencies.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch
from benchmarks.peers.tasks import PAIRS, TRAINING, Task, Trained
from neuralop import LpLoss
from neuralop.models import FNO
from neuralop.training import AdamW


@dataclass(frozen=True)
class Settings:
    """What differs between the two problems.

    Arguments:
        modes: along each axis, positive and negative together.
        channels: the width.
        epochs: how often each pair is seen; the learning rate falls from ``rate`` to zero over them.
    """

    modes: int
    channels: int
    epochs: int
    rate: float = 8e-3
    decay: float = 1e-4
    batch: int = 32


HELMHOLTZ = Settings(64, 32, 100)
DARCY = Settings(16, 32, 30)


def train(task: Task, settings: Settings, seed: int = 0) -> Trained:
    """Train on pairs whose solutions are accurate to 1e-8."""
    torch.manual_seed(seed)
    dim, weights = len(task.sides), task.fields.draw(PAIRS, TRAINING)
    sources, solutions = task.fields(weights, task.grid), task.solve(weights)
    shift, spread = solutions.mean(), solutions.std()

    def tensor(values: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(values.T.reshape(-1, 1, *task.sides), dtype=torch.float32)

    f, u = tensor(sources / task.fields.scale), tensor((solutions - shift) / spread)
    model = FNO(
        n_modes=(settings.modes,) * dim,
        in_channels=1,
        out_channels=1,
        hidden_channels=settings.channels,
        projection_channel_ratio=2,
    )
    loss_of = LpLoss(d=dim, p=2)
    optimiser = AdamW(model.parameters(), lr=settings.rate, weight_decay=settings.decay)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=settings.epochs)
    started, losses = time.perf_counter(), []
    for _ in range(settings.epochs):
        total = 0.0
        for chosen in torch.randperm(PAIRS).split(settings.batch):
            optimiser.zero_grad()
            loss = loss_of(model(f[chosen]), u[chosen])  # relative, the sum over the batch
            loss.backward()
            optimiser.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / PAIRS)
    seconds = time.perf_counter() - started

    @torch.no_grad()
    def apply(values: np.ndarray) -> np.ndarray:
        found = model.eval()(tensor(values / task.fields.scale))
        return shift + spread * found.double().numpy().reshape(values.shape[1], -1).T

    return Trained(task.grid, apply, seconds, sum(p.numel() for p in model.parameters()), losses)
