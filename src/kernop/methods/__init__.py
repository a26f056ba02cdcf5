"""Methods: from functionals to a factored solution operator."""

from kernop.methods.base import Expansion, Factorisation, Method
from kernop.methods.full import Full

__all__ = ["Expansion", "Factorisation", "Full", "Method"]
