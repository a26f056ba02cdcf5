"""Trust: error estimates from residuals, and guaranteed bounds where a maximum principle holds."""

from kernop.estimates.estimate import ErrorEstimate, Known, Residual, error_estimate
from kernop.estimates.maximum import MaximumBound
from kernop.estimates.stability import Learned, can_be_fresh

__all__ = [
    "ErrorEstimate",
    "Known",
    "Learned",
    "MaximumBound",
    "Residual",
    "can_be_fresh",
    "error_estimate",
]
