"""The paper's a priori bounds: constants, inequalities, rates, what they need of the spectrum, and a report."""

from kernop.trust.bounds.constants import Constants, constants, kappa
from kernop.trust.bounds.inequalities import (
    approximation,
    best_alpha,
    best_rate,
    pathwise,
    points_needed,
    rate,
    sharper,
    uniform,
)
from kernop.trust.bounds.report import BoundsReport, report
from kernop.trust.bounds.source import Source, effective_rank, source

__all__ = [
    "BoundsReport",
    "Constants",
    "Source",
    "approximation",
    "best_alpha",
    "best_rate",
    "constants",
    "effective_rank",
    "kappa",
    "pathwise",
    "points_needed",
    "rate",
    "report",
    "sharper",
    "source",
    "uniform",
]
