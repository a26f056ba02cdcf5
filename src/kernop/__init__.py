"""kernop learns the solution operator of a linear PDE in closed form, with kernels, from the equation alone."""

from kernop import bounds, errors
from kernop.batches import Batches
from kernop.domains import Ball, Box, Interval, PointCloud, Points, Region, SpaceTime
from kernop.errors import AccuracyWarning, IllPosedWarning
from kernop.estimates import ErrorEstimate, MaximumBound
from kernop.evidence import Evidence
from kernop.fields import div, dot, dt, grad, laplacian, matvec, normal_derivative, partial
from kernop.io import load
from kernop.kernels import CustomKernel, Gaussian, InverseMultiquadric, Kernel, Matern, Wendland
from kernop.learn import learn
from kernop.methods import Full, LowRank, Subspace
from kernop.operators import apply_operator
from kernop.problem import Condition, Dirichlet, Equation, Initial, Neumann, Problem, Robin
from kernop.refine import Report, ToleranceWarning
from kernop.solution import Solution
from kernop.solution_operator import SolutionOperator
from kernop.streaming import Checkpoint, StreamedOperator
from kernop.tuning import Tuned, tune

__version__ = "0.1.0"

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
    "IllPosedWarning",
    "Initial",
    "Interval",
    "InverseMultiquadric",
    "Kernel",
    "LowRank",
    "Matern",
    "MaximumBound",
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
    "StreamedOperator",
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
    "laplacian",
    "learn",
    "load",
    "matvec",
    "normal_derivative",
    "partial",
    "tune",
]
