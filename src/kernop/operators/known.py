"""What is left of a user's functions and operators when they come back from a file: their values at the points."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from jax.core import Tracer

from kernop.basics.errors import ArgumentError, FloatArray, IntArray, KernopError, MissingFunctionError, fail
from kernop.basics.fitting import REMEDY, check_shape
from kernop.basics.stored import ComplexArray, Numbers, stored
from kernop.collocation.ansatz import Ansatz, Tabulated, TermTable
from kernop.collocation.functionals import Block, Functionals
from kernop.geometry import Points
from kernop.geometry.lookup import Lookup
from kernop.language.calculus import normal_derivative, partial
from kernop.language.conditions import Mixed, Weighted
from kernop.language.fields import Field, MultiIndex, Term, VectorField
from kernop.language.ops import itself
from kernop.language.sides import Side
from kernop.language.unknowns import Operator, signature_of


@stored("values")
@dataclass(frozen=True, eq=False, repr=False)
class KnownFunction:
    """A function of x whose values at some points are known, and no others.

    Arguments:
        what: what it is, for messages.
        argument: the argument of `load` that brings it back.
        x: the points, (n, d).
        values: (n,), or (n, k) for vectors, and (…, B) for B functions.
    """

    what: str
    argument: str
    x: FloatArray
    values: FloatArray | ComplexArray

    def check(self) -> None:
        """Raise unless there is a value for each point."""
        check_shape("x", self.x, None, None)
        check_shape("values", self.values, len(self.x), *[None] * (min(self.values.ndim, 3) - 1))

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.x)

    def __call__(self, x: Any) -> Any:
        """The values at points that are known."""
        if isinstance(x, Tracer):
            raise missing(self.what, "its derivatives", self.argument)
        rows = self._lookup.rows(np.asarray(x))
        if np.any(rows < 0):
            raise missing(self.what, f"its value at x = {np.asarray(x)[np.argmax(rows < 0)]}", self.argument)
        return self.values[rows]

    def __repr__(self) -> str:
        return f"({self.what}, known at the stored points)"


@stored("constant")
@dataclass(frozen=True, eq=False, repr=False)
class ConstantOperator:
    """P = Σ_{k,α} c_{k,α} ∂^α u_k with numbers c_{k,α}, or a vector of such sums.

    Arguments:
        takes: the names of the unknowns, whose components k are counted through.
        terms: the A pairs (k, α).
        coefficients: the numbers, (A,), or (parts, A) for a vector; each sum and each pair has one that is not 0.
    """

    takes: tuple[str, ...]
    terms: tuple[Term, ...]
    coefficients: Numbers

    def __post_init__(self) -> None:
        numbers = np.asarray(self.coefficients)
        numbers = numbers.astype(np.complex128 if numbers.dtype.kind == "c" else np.float64)
        rows = np.atleast_2d(numbers)
        Block(np.zeros((1, len(self.terms[0][1]))), self.terms, np.ones((1, len(self.terms)))).check()
        check_shape("coefficients", rows, None, len(self.terms))
        if numbers.ndim > 2 or not np.all(np.any(rows, axis=0)) or not np.all(np.any(rows, axis=1)):
            raise fail(ArgumentError, "coefficients", "0 in part", "leave out what is 0")
        object.__setattr__(self, "coefficients", numbers)
        object.__setattr__(self, "__signature__", signature_of(self.takes))

    def __call__(self, *given: Any, **named: Any) -> Any:
        """The operator applied to fields, in their order or by name."""
        fields = given or tuple(named[name] for name in self.takes)
        parts = [part for own in fields for part in (own.parts if isinstance(own, VectorField) else (own,))]
        derivatives = [_derivative(parts[k], alpha) for k, alpha in self.terms]
        rows = [
            reduce(add, [c * own for c, own in zip(row, derivatives, strict=True) if c])
            for row in np.atleast_2d(self.coefficients).tolist()
        ]
        return rows[0] if self.coefficients.ndim == 1 else VectorField(tuple(rows))

    def __repr__(self) -> str:
        scalar = len(self.takes) == 1 and all(k == 0 for k, _ in self.terms)
        terms = [f"∂^{alpha} {self.takes[0] if scalar else f'u_{k}'}" for k, alpha in self.terms]
        sums = [
            " + ".join(f"{c:g} {term}" for c, term in zip(row, terms, strict=True) if c)
            for row in np.atleast_2d(self.coefficients)
        ]
        return sums[0] if self.coefficients.ndim == 1 else f"({', '.join(sums)})"


def _derivative(field: Field | VectorField, alpha: MultiIndex) -> Field | VectorField:
    for axis, times in enumerate(alpha):
        field = partial(field, axis, times)
    return field


@dataclass(frozen=True, eq=False, repr=False)
class _InFile(Tabulated):
    """An operator P by its coefficients φ_{k,α} at the points of its condition.

    Tables are functionals of the unknowns themselves, without scales; of complex coefficients the imaginary parts
    follow the real parts.

    Arguments:
        condition: its name, for messages.
        takes: the names of the unknowns.
        points: where it is known.
    """

    condition: str
    takes: tuple[str, ...]
    points: Points

    def __post_init__(self) -> None:
        object.__setattr__(self, "__signature__", signature_of(self.takes))

    def _check(self, name: str, tables: Sequence[Functionals]) -> None:
        """Raise unless tables are of one operator each, all of the same kind, at the points."""
        for table in tables:
            if len(table.layouts) != 1 or table.layouts != tables[0].layouts or table.summed:
                raise fail(ArgumentError, name, "functionals of several operators, or sums", REMEDY)
            if not all(np.array_equal(block.x, self.points.x) for block in table.blocks):
                raise fail(ArgumentError, "points", "others than those of the functionals", REMEDY)

    @abstractmethod
    def _missing(self, where: str) -> KernopError:
        """The error of what is not known."""

    def _rows(self, known: Lookup, places: FloatArray, x: FloatArray) -> IntArray:
        """The numbers of places among those that are known."""
        rows = known.rows(places)
        if np.any(rows < 0):
            raise self._missing(f"at x = {x[np.argmax(rows < 0)]}")
        return rows


@stored("table")
@dataclass(frozen=True, eq=False, repr=False)
class KnownOperator(_InFile):
    """P at the points of its condition.

    Arguments:
        condition, takes, points: see above.
        plain: P at the points, or P itself where it needs no function of the user.
        product: u ↦ P(ρ u) at the points, if there is an envelope ρ.
    """

    plain: Functionals | Operator
    product: Functionals | None = None

    def check(self) -> None:
        """Raise unless the functionals are those of one operator at the points."""
        tables = [table for table in (self.plain, self.product) if isinstance(table, Functionals)]
        if not tables:
            raise fail(ArgumentError, "plain, product", "no table", REMEDY)
        self._check("plain, product", tables)

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self._places(self.points))

    def _places(self, points: Points) -> FloatArray:
        """What the coefficients depend on: points (n, d), or with their normals (n, 2d)."""
        if self.points.normal is None:
            return points.x
        return np.hstack([points.x, np.full_like(points.x, np.nan) if points.normal is None else points.normal])

    def __call__(self, *given: Any, **named: Any) -> Any:
        if isinstance(self.plain, Functionals):
            raise self._missing("as a function")
        return self.plain(*given, **named)

    @property
    def components(self) -> int | None:
        table = self.plain if isinstance(self.plain, Functionals) else self.product
        assert table is not None
        return table.layouts[0].components

    def functionals(self, points: Points, ansatz: Ansatz, of: str | None, name: str) -> Functionals:
        if not isinstance(self.plain, Functionals) and not isinstance(ansatz.envelope, KnownFunction):
            return ansatz.functionals(self.plain, points, of=of, name=name)
        table = self.product if ansatz.envelope is not None else self.plain
        if not isinstance(table, Functionals):
            raise self._missing("with an envelope")
        rows = self._rows(self._lookup, self._places(points), points.x)
        return ansatz.split(points.x, _tables(table, rows), self.components is not None)

    def jumps(self, sides: tuple[Side, Side], ansatz: Ansatz, of: str | None, name: str) -> Functionals:
        if isinstance(self.plain, Functionals) or isinstance(ansatz.envelope, KnownFunction):
            raise self._missing("on the sides of a surface")
        return ansatz.jumps(self.plain, sides, of=of, name=name)

    def _missing(self, where: str) -> KernopError:
        plain = {"problem": f"operator of condition {self.condition!r}"} if isinstance(self.plain, Functionals) else {}
        what = plain | ({} if self.product is None else {"envelope": "envelope"})
        return missing(" and the ".join(what.values()), where, "=…, ".join(what))

    def __repr__(self) -> str:
        return f"({shown(self)})"


@stored("jump")
@dataclass(frozen=True, eq=False, repr=False)
class KnownJump(_InFile):
    """The jump of P u across a surface, by the coefficients of P at its points on either side.

    Arguments:
        condition, takes, points: see above.
        plus, minus: P at the points, or u ↦ P(ρ u) if there is an envelope ρ, as limits from the two sides.
    """

    plus: Functionals
    minus: Functionals

    def check(self) -> None:
        """Raise unless the functionals are those of one operator at the points."""
        self._check("plus, minus", (self.plus, self.minus))

    def __call__(self, *given: Any, **named: Any) -> Any:
        raise self._missing("as a function")

    @property
    def components(self) -> int | None:
        return self.plus.layouts[0].components

    def functionals(self, points: Points, ansatz: Ansatz, of: str | None, name: str) -> Functionals:
        raise self._missing("away from the interface")

    def jumps(self, sides: tuple[Side, Side], ansatz: Ansatz, of: str | None, name: str) -> Functionals:
        x = sides[0].points.x
        rows = self._rows(Lookup(self.points.x), x, x)
        plus, minus = (_tables(table, rows) for table in (self.plus, self.minus))
        return ansatz.difference(sides, plus, minus, self.components is not None)

    def _missing(self, where: str) -> KernopError:
        return missing(f"flux of condition {self.condition!r}", where, "problem")

    def __repr__(self) -> str:
        return f"(a jump of order {self.plus.order}, coefficients at the stored points)"


def _tables(table: Functionals, rows: IntArray) -> list[TermTable]:
    """Some rows of a table as coefficients (k, α) ↦ φ_{k,α}(x_i), for each component of the operator."""
    parts = [dict(zip(block.terms, block.coefficients[rows].T, strict=True)) for block in table.blocks]
    if not table.layouts[0].complex:
        return list(parts)
    half = len(parts) // 2
    return [
        {term: np.asarray(a.get(term, 0.0)) + 1j * np.asarray(b.get(term, 0.0)) for term in (*a, *b)}
        for a, b in zip(parts[:half], parts[half:], strict=True)
    ]


def shown(op: Operator) -> str:
    """The operator of a condition from a file, for a person."""
    plain = op.plain if isinstance(op, KnownOperator) else op
    if isinstance(plain, Mixed):
        return f"{plain.alpha:g} u + {plain.beta:g} ∂u/∂n"
    if isinstance(plain, Weighted):
        return f"{plain.weight:g} u"
    if isinstance(plain, Functionals):
        return f"order {plain.order}, coefficients at the stored points"
    return "u" if plain is itself else "∂u/∂n" if plain is normal_derivative else repr(plain)


def missing(what: str, where: str, argument: str) -> KernopError:
    """The error for a function that is needed and not there."""
    got = f"an operator from a file, which does not hold the {what} ({where})"
    return fail(MissingFunctionError, "T", got, f"load it with load(path, {argument}=…), or stay at T.points")
