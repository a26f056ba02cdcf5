"""Spaces in which solutions are written: kernel functions, polynomials, multipoles, layers, direct sums."""

from kernop.methods.spaces.kernel_functions import KernelFunctions
from kernop.methods.spaces.layers import Layers
from kernop.methods.spaces.multipoles import Multipoles
from kernop.methods.spaces.polynomials import Polynomials
from kernop.methods.spaces.sums import DirectSum

__all__ = ["DirectSum", "KernelFunctions", "Layers", "Multipoles", "Polynomials"]
