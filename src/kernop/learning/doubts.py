"""What is doubtful of a problem whatever the data: found once, and again if its coefficients have changed.

It belongs to the problem, not to the method: operators made of parts are often learned again with other cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kernop.basics.frozen import Kept
from kernop.collocation.marks import coefficient_mark, rows_mark
from kernop.collocation.sampling import sample
from kernop.collocation.scales import fitted
from kernop.geometry import Points
from kernop.language.problem import Problem
from kernop.learning.task import Task
from kernop.operators.operator import SolutionOperator
from kernop.trust.diagnosis import Diagnosis

#: Points of each condition at which it is seen whether its coefficients are the same as before.
FEW = 64
#: At most so many evenly spread points show whether parts resolve the coefficients.
MANY = 100_000


@dataclass(frozen=True, eq=False)
class _Seen:
    """What was found, and by which coefficients: at a few points, and at those of the last operator."""

    few: Mapping[str, Points]
    mark: bytes
    found: Diagnosis
    rows: bytes = b""


#: By the way in which points are drawn, and their seed.
_seen: Kept[Problem, dict[tuple[str, int], _Seen]] = Kept()


def diagnosed(task: Task, operator: SolutionOperator) -> Diagnosis:
    """What is doubtful of the problem of a task, at evenly spread points: those of parts crowd at corners.

    Arguments:
        operator: made of parts; coefficients that a few points do not resolve are looked at by as many as it has.
    """
    seen, key = _seen.of(task.problem, dict[tuple[str, int], _Seen]), (task.sampling, task.seed)
    known, mark = seen.get(key), rows_mark(operator.collocated)
    if known is None or (known.rows != mark and known.mark != _mark(task.problem, known.few)):
        placed = sample(task.problem, None, task.sampling, task.seed)
        ansatz, rows = fitted(task.problem, placed, task.frame)
        found = Diagnosis(roughness=task.roughness(placed), stability=task.stability(rows, ansatz))
        few = {c.name: placed[c.name][:FEW] for c in task.problem.conditions if not (c.integral or c.across)}
        known = _Seen(few, _mark(task.problem, few), found)
    seen[key] = replace(known, rows=mark)
    rough = known.found.roughness
    if rough is None or not rough.unresolved:
        return known.found
    rough = task.roughness(sample(task.problem, min(operator.n_points, MANY), task.sampling, task.seed))
    return Diagnosis(known.found.stability, rough)


def _mark(problem: Problem, few: Mapping[str, Points]) -> bytes:
    """A digest of the coefficients of all conditions at a few points."""
    looks = [(c, few[c.name]) for c in problem.conditions if c.name in few]
    return coefficient_mark(looks, problem.unknowns)
