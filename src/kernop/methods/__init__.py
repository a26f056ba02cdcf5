"""Methods: from functionals to a factored solution operator."""

from kernop.methods.base import Answer, Factorisation, Method, Setting
from kernop.methods.expansion import Combination, Expansion
from kernop.methods.full import Full
from kernop.methods.lowrank import LowRank
from kernop.methods.parts.partition import Partition
from kernop.methods.subspace import Subspace

__all__ = [
    "Answer",
    "Combination",
    "Expansion",
    "Factorisation",
    "Full",
    "LowRank",
    "Method",
    "Partition",
    "Setting",
    "Subspace",
]
