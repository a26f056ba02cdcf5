"""kernop learns the solution operator of a linear PDE in closed form, with kernels, from the equation alone."""

from kernop import errors
from kernop.basics.errors import AccuracyWarning, IllPosedWarning, JumpWarning
from kernop.basics.versions import VERSION
from kernop.collocation.batches import Batches
from kernop.geometry import Ball, Box, Domain, Implicit, Interval, PointCloud, Points, Polygon, Region, Solid, SpaceTime
from kernop.kernels import CustomKernel, Gaussian, InverseMultiquadric, Kernel, Matern, Wendland
from kernop.kernels.scattered import ScatteredFunction
from kernop.language.calculus import (
    div,
    dot,
    dt,
    grad,
    identity,
    laplacian,
    matvec,
    normal_component,
    normal_derivative,
    partial,
    sym,
    tangential_derivative,
    trace,
    transpose,
)
from kernop.language.conditions import Condition, Dirichlet, Equation, Initial, Integral, Mean, Neumann, Robin
from kernop.language.grid import GridFunction
from kernop.language.interface import Interface
from kernop.language.oblique import Oblique
from kernop.language.ops import apply_operator
from kernop.language.periodic import Periodic
from kernop.language.piecewise import Piecewise
from kernop.language.problem import Problem
from kernop.language.sensors import Sensors
from kernop.learning.learn import learn
from kernop.learning.refine import Report, ToleranceWarning
from kernop.learning.streaming import Checkpoint
from kernop.learning.tuning import Tuned, tune
from kernop.methods import Full, LowRank, Partition, Subspace
from kernop.operators.green import GreenFunction
from kernop.operators.load import load
from kernop.operators.operator import SolutionOperator
from kernop.operators.solution import Solution
from kernop.trust import bounds
from kernop.trust.estimates import ErrorEstimate, MaximumBound
from kernop.trust.evidence import Evidence

__version__ = VERSION

__all__ = [
    "AccuracyWarning",
    "Ball",
    "Batches",
    "Box",
    "Checkpoint",
    "Condition",
    "CustomKernel",
    "Dirichlet",
    "Domain",
    "Equation",
    "ErrorEstimate",
    "Evidence",
    "Full",
    "Gaussian",
    "GreenFunction",
    "GridFunction",
    "IllPosedWarning",
    "Implicit",
    "Initial",
    "Integral",
    "Interface",
    "Interval",
    "InverseMultiquadric",
    "JumpWarning",
    "Kernel",
    "LowRank",
    "Matern",
    "MaximumBound",
    "Mean",
    "Neumann",
    "Oblique",
    "Partition",
    "Periodic",
    "Piecewise",
    "PointCloud",
    "Points",
    "Polygon",
    "Problem",
    "Region",
    "Report",
    "Robin",
    "ScatteredFunction",
    "Sensors",
    "Solid",
    "Solution",
    "SolutionOperator",
    "SpaceTime",
    "Subspace",
    "ToleranceWarning",
    "Tuned",
    "Wendland",
    "apply_operator",
    "bounds",
    "div",
    "dot",
    "dt",
    "errors",
    "grad",
    "identity",
    "laplacian",
    "learn",
    "load",
    "matvec",
    "normal_component",
    "normal_derivative",
    "partial",
    "sym",
    "tangential_derivative",
    "trace",
    "transpose",
    "tune",
]


def __dir__() -> list[str]:
    """The public names, and nothing of the house."""
    return sorted([*__all__, "__version__"])
