"""Spaces of functions in which solutions are written: kernel functions, polynomials, and direct sums of them."""

from kernop.methods.spaces.kernel_functions import KernelFunctions
from kernop.methods.spaces.polynomials import Polynomials
from kernop.methods.spaces.sums import DirectSum

__all__ = ["DirectSum", "KernelFunctions", "Polynomials"]
