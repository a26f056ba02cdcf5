"""Learning from a stream of points: one batch of the design matrix at a time, and a few L × L matrices.

    Points ─ batch ─► √W A_k ─ add ─► accumulator (RᵀR = Σ A_kᵀ W A_k) ─ solve ─► StreamedOperator

Inputs that are known in advance ride along. Later ones pass over the points again, all that wait in one go.
"""

from kernop.learning.streaming.checkpoint import Checkpoint, read_checkpoint
from kernop.learning.streaming.learning import learn_stream, make_plan
from kernop.learning.streaming.operator import StreamedOperator
from kernop.learning.streaming.recorded import StreamRecord

__all__ = ["Checkpoint", "StreamRecord", "StreamedOperator", "learn_stream", "make_plan", "read_checkpoint"]
