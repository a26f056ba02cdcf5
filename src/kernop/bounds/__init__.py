"""The paper's a priori bounds: constants, inequalities, rates, what they need of the spectrum, and a report."""

from kernop.bounds.constants import Constants, constants, kappa
from kernop.bounds.inequalities import (
    approximation,
    best_alpha,
    best_rate,
    pathwise,
    points_needed,
    rate,
    sharper,
    uniform,
)
from kernop.bounds.report import BoundsReport, report
from kernop.bounds.source import Source, effective_rank, source

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
