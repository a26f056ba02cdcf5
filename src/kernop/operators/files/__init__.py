"""Operators in files: numbers, words and arrays, and no code.

    SolutionOperator ─ write ─► Writer (header, arrays) ─ storage ─► file ─ storage ─► Reader ─ read ─► SolutionOperator

What users write as functions cannot be stored. Their values at the points are, and what needs no more goes on to work.
"""

from kernop.basics.parts import Reader, Writer
from kernop.operators.files.factorisations import read_factorisation, write_factorisation
from kernop.operators.files.operator import KIND, Contents, check_format, read_operator, write_operator, write_story

__all__ = [
    "KIND",
    "Contents",
    "Reader",
    "Writer",
    "check_format",
    "read_factorisation",
    "read_operator",
    "write_factorisation",
    "write_operator",
    "write_story",
]
