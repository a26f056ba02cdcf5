"""Passes over batches of rows: in this process or on workers, with checkpoints.

    Points ─ batch ─► √W A_k ─ add ─► accumulator (RᵀR = Σ A_kᵀ W A_k) ─ solve ─► Factorisation

Inputs that are known in advance ride along. Later ones pass over the points again, all that wait in one go.
"""

from kernop.learning.streaming.checkpoint import Checkpoint, read_checkpoint
from kernop.learning.streaming.cluster import OnWorkers
from kernop.learning.streaming.passes import Passes

__all__ = ["Checkpoint", "OnWorkers", "Passes", "read_checkpoint"]
