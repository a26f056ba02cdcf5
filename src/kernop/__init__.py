"""kernop learns the solution operator of a linear PDE in closed form, with kernels, from the equation alone."""

from kernop import errors
from kernop.basics.errors import AccuracyWarning, IllPosedWarning
from kernop.basics.versions import VERSION
from kernop.collocation.batches import Batches
from kernop.geometry import Ball, Box, Interval, PointCloud, Points, Region, SpaceTime
from kernop.kernels import CustomKernel, Gaussian, InverseMultiquadric, Kernel, Matern, Wendland
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
    trace,
    transpose,
)
from kernop.language.ops import apply_operator
from kernop.language.problem import (
    Condition,
    Dirichlet,
    Equation,
    Initial,
    Integral,
    Mean,
    Neumann,
    Problem,
    Robin,
)
from kernop.learning.learn import learn
from kernop.learning.refine import Report, ToleranceWarning
from kernop.learning.streaming import Checkpoint
from kernop.learning.tuning import Tuned, tune
from kernop.methods import Full, LowRank, Subspace
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
    "Equation",
    "ErrorEstimate",
    "Evidence",
    "Full",
    "Gaussian",
    "GreenFunction",
    "IllPosedWarning",
    "Initial",
    "Integral",
    "Interval",
    "InverseMultiquadric",
    "Kernel",
    "LowRank",
    "Matern",
    "MaximumBound",
    "Mean",
    "Neumann",
    "PointCloud",
    "Points",
    "Problem",
    "Region",
    "Report",
    "Robin",
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
    "trace",
    "transpose",
    "tune",
]
