"""Kernels: a profile and its derivatives each, and their algebra."""

from kernop.kernels.base import Kernel
from kernop.kernels.custom import CustomKernel
from kernop.kernels.gaussian import Gaussian
from kernop.kernels.matern import Matern
from kernop.kernels.multiquadric import InverseMultiquadric
from kernop.kernels.wendland import Wendland

__all__ = ["CustomKernel", "Gaussian", "InverseMultiquadric", "Kernel", "Matern", "Wendland"]
