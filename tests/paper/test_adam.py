"""Adam with amsgrad, by hand."""

import numpy as np
import pytest

from kernop.basics.precision import float64
from kernop.paper import adam


def test_adam_by_hand():
    """Gradients 2, −0.5, 0 at rate 0.1; in the third step amsgrad keeps the second step's square, 0.004246."""
    by_hand = [
        -0.1,
        -0.1 * (0.13 / 0.19) / np.sqrt(0.004246 / 0.001999),
        -0.1 * (0.117 / 0.271) / np.sqrt(0.004246 / 0.002997001),
    ]
    with float64():
        state = adam.start(np.zeros(()))
        for gradient, expected in zip([2.0, -0.5, 0.0], by_hand, strict=True):
            state, change = adam.step(state, np.asarray(gradient), 0.1)
            assert float(change) == pytest.approx(expected, rel=1e-7)
