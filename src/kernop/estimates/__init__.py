"""Trust: error estimates from residuals, what points do not see, and bounds where a maximum principle holds."""

from kernop.estimates.estimate import ErrorEstimate, Known, Residual, error_estimate
from kernop.estimates.maximum import MaximumBound
from kernop.estimates.stability import Learned, can_be_fresh
from kernop.estimates.unseen import Unseen

__all__ = [
    "ErrorEstimate",
    "Known",
    "Learned",
    "MaximumBound",
    "Residual",
    "Unseen",
    "can_be_fresh",
    "error_estimate",
]
