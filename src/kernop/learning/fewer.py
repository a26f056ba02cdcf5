"""What solutions miss, by those of fewer functions at many other points: an estimate would take seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.collocation.ansatz import collocate
from kernop.collocation.data import Input
from kernop.collocation.probes import resolving
from kernop.collocation.sampling import interior, sample
from kernop.collocation.subdomains import holes_of
from kernop.collocation.units import Frame
from kernop.geometry import Points
from kernop.learning.heldout import data_columns
from kernop.methods import Factorisation, Setting, Subspace
from kernop.operators.operator import SolutionOperator

#: This part of the functions, so many points on a line, or for each function, and places where solutions are compared.
FEWER, ON_A_LINE, FOR_EACH, PLACES = 0.6, 4096, 3, 300
SEED = 7


def missed(operator: SolutionOperator, frame: Frame, inputs: Sequence[Input]) -> list[float]:
    """How far solutions in one space are from those of fewer functions, relative in L2, for each of some inputs.

    Points of the operator may all lie beside a spike, so the other has points of its own, more for each function.
    """
    problem, ansatz = operator.problem, operator.ansatz
    count = max(1, round(FEWER * len(operator.factorisation.expansion) / ansatz.width))
    points = sample(problem, ON_A_LINE if problem.dim == 1 else FOR_EACH * count, "halton", SEED)
    rows = collocate(problem, points, ansatz)
    setting = Setting(rows=rows, frame=resolving(frame, rows.blocks), ansatz=ansatz, holes=holes_of(problem))
    places = ansatz.evaluations(interior(problem, PLACES, SEED).x)

    def solved(by: Factorisation, at: Mapping[str, Points]) -> list[FloatArray]:
        data = data_columns(problem, inputs, at, rows.layouts)
        values = by.answer(np.hstack(data)).u.apply(places)
        return np.split(values, np.cumsum([own.shape[1] for own in data])[:-1], axis=1)

    pairs = zip(
        solved(operator.factorisation, operator.points),
        solved(Subspace(count).factorise(setting), points),
        strict=True,
    )
    return [float(np.linalg.norm(one - other) / (np.linalg.norm(one) or 1.0)) for one, other in pairs]
