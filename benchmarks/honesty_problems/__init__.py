"""Problems with a truth that kernop did not compute, one family in each file."""

from honesty_problems import (
    balls,
    clouds,
    coefficients,
    corners,
    dimensions,
    domains,
    illposed,
    layers,
    local,
    oscillating,
    smooth,
    spacetime,
    stiff,
    thin,
)
from honesty_problems.case import Case

FAMILIES = (
    smooth,
    local,
    oscillating,
    thin,
    layers,
    corners,
    coefficients,
    spacetime,
    stiff,
    dimensions,
    domains,
    balls,
    clouds,
    illposed,
)
CASES: tuple[Case, ...] = tuple(case for family in FAMILIES for case in family.CASES)
