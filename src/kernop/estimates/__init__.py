"""Trust: error estimates from residuals, and guaranteed bounds where a maximum principle holds."""

from kernop.estimates.estimate import ErrorEstimate, Known, Residual, error_estimate
from kernop.estimates.maximum import MaximumBound
from kernop.estimates.stability import Learned

__all__ = [
    "ErrorEstimate",
    "Known",
    "Learned",
    "MaximumBound",
    "Residual",
    "error_estimate",
]
