"""A streamed operator that comes back from a file."""

from __future__ import annotations

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.collocation.batches import StreamPoints, recorded
from kernop.collocation.rows import StreamedRows
from kernop.learning.streaming.passes import Passes
from kernop.methods import Combination, Subspace
from kernop.methods.accumulators import Penalty
from kernop.methods.regression import Regression
from kernop.methods.streamed import StreamedFactorisation
from kernop.operators.files import Contents, Reader
from kernop.operators.files.streams import read_starts
from kernop.operators.operator import SolutionOperator
from kernop.operators.solution import Solution


def read_streamed(file: Reader, contents: Contents) -> SolutionOperator:
    """The operator, whose passes run in this process; ``T.with_client(client)`` gives it workers again."""
    common, part = contents.common, file.below("factorisation")
    if not isinstance(common.method, Subspace) or common.method.batch is None:
        raise part.wrong("kind", "not of the method")
    stream = recorded(contents.problem, contents.points, read_starts(file, [len(p) for p in contents.points.values()]))
    rows = StreamedRows(stream, common.expansion.ansatz)
    upper = part.triangle("upper", common.count, lower=False)
    noise, penalty = part.number("noise", least=0.0), _penalty(part, common.count)
    regression = Regression(rows, common.expansion, common.weights, common.method.solver == "qr")
    factorisation = StreamedFactorisation(
        *common.base, noise, common.method, regression, upper, penalty, common.n, Passes()
    )
    solutions = tuple(_solution(file.below(f"solution {k}"), contents, upper) for k in range(file.integer("solutions")))
    return SolutionOperator(
        contents.problem,
        StreamPoints(stream),
        common.method,
        factorisation,
        contents.stats,
        noise=contents.noise,
        about=contents.about,
        solutions=solutions,
    )


def _penalty(file: Reader, count: int) -> Penalty:
    if file.has_array("penalty"):
        return file.floats("penalty", (count, count))
    return file.number("penalty", least=0.0)


def _solution(file: Reader, contents: Contents, upper: FloatArray) -> Solution:
    single, count = file.flag("single"), contents.common.count
    old = file.has_array("coefficients")  # files of kernop 0.1 held R⁻¹ y
    name = "coefficients" if old else "y"
    y: FloatArray = file.floats(name, (count, 1 if single else None))
    if not np.all(y.shape):
        raise file.wrong(name, "empty")
    misfit = None if old else file.floats("misfit", (y.shape[1],))
    u = Combination(contents.common.expansion, y, None if old else upper)
    return Solution(contents.problem, u, single, misfits=misfit)
