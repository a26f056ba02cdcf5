"""Trust: error estimates from residuals, what points do not see, and bounds where a maximum principle holds."""

from kernop.trust.estimates.estimate import ErrorEstimate, KnownData, Residual, error_estimate
from kernop.trust.estimates.learned import Learned
from kernop.trust.estimates.maximum import MaximumBound
from kernop.trust.estimates.unseen import Unseen

__all__ = [
    "ErrorEstimate",
    "KnownData",
    "Learned",
    "MaximumBound",
    "Residual",
    "Unseen",
    "error_estimate",
]
