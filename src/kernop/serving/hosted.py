"""An operator that is served: what it is, its answers, and the matrices of places that are asked for again."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from kernop.basics.errors import FloatArray, KernopError, MissingFunctionError, NumberArray
from kernop.basics.storage import JsonObject
from kernop.collocation.data import values_at
from kernop.operators.fixed import FixedOperator
from kernop.operators.known import shown
from kernop.operators.operator import SolutionOperator
from kernop.operators.solution import Solution
from kernop.serving.export import page
from kernop.serving.reading import Question, RequestValue

#: Bytes of matrices that are kept for all places together, and places whose digests are remembered.
KEPT, SEEN = 256 * 2**20, 512


@dataclass(frozen=True, eq=False)
class Answered:
    """The answer of an operator to one request.

    Arguments:
        values: arrays by name: u, or each unknown; ∇u as "gradient of u".
        facts: the rest, for JSON.
    """

    values: dict[str, NumberArray]
    facts: JsonObject


class Hosted:
    """One operator of a server. All methods may be called from several threads."""

    def __init__(self, name: str, operator: SolutionOperator) -> None:
        self.name, self.operator = name, operator
        self._lock, self._seen, self._page = Lock(), OrderedDict[bytes, None](), None
        self._kept: OrderedDict[bytes, FixedOperator] = OrderedDict()
        self._page_lock = Lock()

    def described(self) -> JsonObject:
        """What the operator is, for JSON."""
        operator, problem = self.operator, self.operator.problem
        low, high = problem.bounds
        conditions = [
            {
                "name": c.name,
                "input": c.data is None,
                "operator": shown(c.op),
                "region": repr(c.on),
                "points": len(operator.points[c.name]),
                "values": 1 if c.integral else len(operator.points[c.name]),
                "components": operator.named_layouts[c.name].components,
            }
            for c in problem.conditions
        ]
        return {
            "name": self.name,
            "inputs": list(problem.inputs),
            "unknowns": dict(problem.unknowns.sizes),
            "complex": operator.ansatz.complex,
            "coordinates": problem.dim,
            "timed": problem.timed,
            "lower": low.tolist(),
            "upper": high.tolist(),
            "conditions": conditions,
            "space": operator.space,
            "method": operator.how,
            "report": None if operator.report is None else str(operator.report),
            "stability": operator.stability,
            "promise": operator.promise,
            "warnings": self._warnings(None, single=True),
        }

    def page(self) -> str:
        """The live page, made when it is first asked for."""
        with self._page_lock:
            if self._page is None:
                self._page = page(self.operator, self.name)
            return self._page

    def key(self, asked: Question) -> bytes | None:
        """Of single inputs at the same places, which can be answered together; None for what must be answered alone."""
        if asked.count is not None or asked.x is None or asked.want != {"u"}:
            return None
        return _digest(asked.x, asked.outside)

    def answers(self, asked: Sequence[Question]) -> list[Answered | Exception]:
        """The answers to questions of the same `key`, as `answer` has them to rounding, in one product."""
        if len(asked) > 1:
            with suppress(Exception):  # what is wrong with one of them concerns that one: each is answered alone
                return list(self._together(asked))
        found: list[Answered | Exception] = []
        for own in asked:
            try:
                found.append(self.answer(own))
            except Exception as error:
                found.append(error)
        return found

    def _together(self, asked: Sequence[Question]) -> list[Answered]:
        single = [{name: self._at_points(name, value) for name, value in own.inputs.items()} for own in asked]
        if len({any(map(np.iscomplexobj, own.values())) for own in single}) > 1:
            raise TypeError  # beside complex data real ones would have complex answers
        data = {name: np.stack([np.atleast_1d(own[name]) for own in single], axis=-1) for name in single[0]}
        u, count = self.operator.answer(data), range(len(asked))
        values = self._values(u, data, asked[0])
        misfits = [None] * len(asked) if u.misfits is None else [u.misfits[k : k + 1] for k in count]
        return [
            self._answered(own, {name: v[..., k] for name, v in values.items()}, misfits[k])
            for k, own in enumerate(asked)
        ]

    def answer(self, asked: Question) -> Answered:
        """u, its gradient and its error, as they are asked for."""
        data = {name: self._at_points(name, value) for name, value in asked.inputs.items()}
        u = self.operator.answer(data)
        values: dict[str, NumberArray] = {}
        if asked.x is not None and "u" in asked.want:
            values |= self._values(u, data, asked)
        if asked.x is not None and "gradient" in asked.want:
            for name in self.operator.problem.unknowns.names:
                values[f"gradient of {name}"] = u[name].grad(asked.x, outside=asked.outside)
        found = self._answered(asked, values, u.misfits)
        if "error" in asked.want:
            found.facts["error"] = self._error(u, asked)
        return found

    def _answered(self, asked: Question, values: dict[str, NumberArray], misfits: FloatArray | None) -> Answered:
        """Values at the places that were asked for, with what the data leave, (B,)."""
        shaped = {name: own.reshape(*asked.shape, *own.shape[1:]) for name, own in values.items()}
        facts: JsonObject = {"operator": self.name, "inputs": asked.count, "shape": list(asked.shape)}
        single = asked.count is None
        facts["misfit"] = None if misfits is None else misfits.tolist()[0] if single else misfits.tolist()
        facts["warnings"] = self._warnings(misfits, single)
        return Answered(shaped, facts)

    def _values(self, u: Solution, data: Mapping[str, RequestValue], asked: Question) -> dict[str, NumberArray]:
        assert asked.x is not None
        names, kept = self.operator.problem.unknowns.names, self._matrix(asked.x, asked.outside)
        if kept is None:
            found = u(asked.x, outside=asked.outside)
        else:
            found = kept(**data)
            if asked.outside == "nan":
                beyond = ~self.operator.problem.contains(asked.x)
                parts = found if isinstance(found, tuple) else (found,)
                for part in parts:
                    part[beyond] = np.nan
        return dict(zip(names, found if isinstance(found, tuple) else (found,), strict=True))

    def _matrix(self, x: FloatArray, outside: str) -> FixedOperator | None:
        """T.on(x) if these places were asked for before: the second time it is made, then it is kept for a while."""
        key = _digest(x, outside)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            if key not in self._seen:
                self._seen[key] = None
                while len(self._seen) > SEEN:
                    self._seen.popitem(last=False)
                return None
        try:
            made = self.operator.on(x, outside=outside)
        except KernopError:  # outside, or of a stream, or too large: u itself says what there is to say
            return None
        size = _bytes(made)
        with self._lock:
            if size <= KEPT:
                self._kept[key] = made
            while sum(map(_bytes, self._kept.values())) > KEPT:
                self._kept.popitem(last=False)
        return made

    def _warnings(self, misfits: FloatArray | None, single: bool) -> list[str]:
        """What a client must know of these answers, whose data leave so much, (B,)."""
        found = [str(self.operator.diagnosis.stability)] if self.operator.diagnosis.ill_posed else []
        promise = self.operator.promise
        over = [] if misfits is None else np.flatnonzero(misfits > promise).tolist()
        if misfits is not None and over:
            which = "the solution leaves" if single else f"{len(over)} of {len(misfits)} solutions leave up to"
            found.append(
                f"{which} {np.nanmax(misfits):.1e} of the data unsatisfied, more than the {promise:.1e} that the "
                "operator promises: it does not resolve this input; ask for the error"
            )
        return found

    def _error(self, u: Solution, asked: Question) -> JsonObject:
        """The estimate of the error of u, for JSON; infinite figures are null.

        From fresh points if the inputs are known there. If the file of the operator does not hold what they need, from
        leave-one-out residuals at its own.
        """
        try:
            found = self.operator.answer(asked.inputs).error_estimate(covering=None, search=None)
        except MissingFunctionError:
            found = u.error_estimate(covering=None, search=None)

        def figure(value: float | FloatArray) -> float | list[float | None] | None:
            values = [v if np.isfinite(v) else None for v in np.atleast_1d(value).tolist()]
            return values[0] if u.single else values

        figures = {name: figure(getattr(found, name)) for name in ("relative_l2", "relative_linf", "l2", "linf")}
        return {**figures, "source": found.source, "points": found.points}

    def _at_points(self, name: str, value: RequestValue) -> Any:
        """Data of one condition as values at the points of T."""
        operator, condition = self.operator, self.operator.problem[name]
        if condition.integral:
            return value
        return values_at(condition, value, operator.points[name], operator.named_layouts[name])


def _digest(x: FloatArray, outside: str) -> bytes:
    """Places, and what is done with those outside, in a few bytes."""
    return hashlib.blake2b(np.ascontiguousarray(x).tobytes() + outside.encode(), digest_size=16).digest()


def _bytes(made: FixedOperator) -> int:
    return sum(matrix.nbytes for matrix in made.matrices)
