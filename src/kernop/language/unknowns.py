"""The unknowns of a problem: their names, how many components each has, and how operators take them."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any

from kernop.basics.checks import check_integer, check_kind
from kernop.basics.errors import ArgumentError, OperatorError, describe, fail
from kernop.basics.frozen import Kept
from kernop.basics.stored import stored
from kernop.language.fields import Field, VectorField

#: An operator as the user writes it: a function of fields that returns a field.
Operator = Callable[..., Any]


@stored("unknowns")
@dataclass(frozen=True)
class Unknowns:
    """Names and numbers of components, in order; components of all unknowns are counted through.

    Arguments:
        sizes: (name, number of components) of each unknown; one component makes a scalar field.
    """

    sizes: tuple[tuple[str, int], ...] = (("u", 1),)

    def __post_init__(self) -> None:
        remedy = "give unknowns={name: number of components}, such as {'u': 2, 'p': 1}"
        for name, size in self.sizes:
            if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name[0] == "_":
                raise fail(ArgumentError, "unknowns", f"the name {describe(name)}", remedy)
            check_integer(f"unknowns[{name!r}]", size, least=1)
        if not self.sizes or len(dict(self.sizes)) < len(self.sizes):
            raise fail(ArgumentError, "unknowns", "no names, or one of them twice", remedy)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the unknowns, in order."""
        return tuple(name for name, _ in self.sizes)

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Which components belong to each unknown, by name."""
        found, start = dict[str, slice](), 0
        for name, size in self.sizes:
            found[name] = slice(start, start + size)
            start += size
        return found

    @property
    def total(self) -> int:
        """The number m of components of all unknowns together."""
        return sum(size for _, size in self.sizes)

    @property
    def single(self) -> str | None:
        """The name of the unknown if there is only one."""
        return self.sizes[0][0] if len(self.sizes) == 1 else None

    @property
    def components(self) -> int | None:
        """The number of values of all unknowns at a point; None for a single scalar, whose value is a number."""
        return None if self.sizes == ((self.sizes[0][0], 1),) else self.total

    def fields(self, component: Callable[[int], Field]) -> dict[str, Field | VectorField]:
        """A field for each unknown by name, made of a scalar field for each component."""
        parts = {name: tuple(map(component, range(own.start, own.stop))) for name, own in self.slices.items()}
        return {name: own[0] if len(own) == 1 else VectorField(own) for name, own in parts.items()}

    def apply(self, op: Operator, of: str | None, fields: Mapping[str, Field | VectorField], name: str) -> Any:
        """op(fields): those that its parameters name, or the one that ``of`` names."""
        chosen = self.arguments(op, of, name)
        return op(fields[chosen]) if isinstance(chosen, str) else op(**{own: fields[own] for own in chosen})

    def arguments(self, op: Operator, of: str | None, name: str) -> str | tuple[str, ...]:
        """The one unknown that ``op`` takes, or the names of several that it takes by keyword; an error if neither."""
        known = ", ".join(self.names)
        check_kind(name, op, Callable, "give a function of a field, such as lambda u: -laplacian(u)")
        if of is not None:
            if of not in self.slices:
                raise fail(OperatorError, name, f"of={describe(of)}", f"name one of the unknowns: {known}")
            return of
        taken = _parameters(op)
        if self.single is not None:
            if taken is not None and len(taken) > 1:
                got = f"an operator of {len(taken)} fields, ({', '.join(taken)})"
                remedy = f"the unknown is {known} alone; name others in Problem(…, unknowns={{name: components}})"
                raise fail(OperatorError, name, got, remedy)
            return self.single
        if taken and all(parameter in self.slices for parameter in taken):
            return taken
        wanted = f"the unknowns are {known}"
        if taken is not None and any(parameter in self.slices for parameter in taken):
            strange = next(parameter for parameter in taken if parameter not in self.slices)
            raise fail(OperatorError, name, f"an operator with a parameter {strange!r}", f"{wanted}; take some of them")
        remedy = f"{wanted}; name the parameters of the operator after them, or say which one is meant by of="
        raise fail(OperatorError, name, "an operator that does not say which unknowns it takes", remedy)


_parameters_of: Kept[Operator, tuple[str, ...] | None] = Kept()


def _parameters(op: Operator) -> tuple[str, ...] | None:
    """The names of the parameters that have no default; None if they cannot be known."""
    op = inspect.unwrap(op, stop=lambda own: hasattr(own, "__signature__"))  # as `inspect.signature` does
    return _parameters_of.of(op, lambda: _looked_up(op)) if isinstance(op, FunctionType) else _looked_up(op)


def _looked_up(op: Operator) -> tuple[str, ...] | None:
    try:
        parameters = inspect.signature(op).parameters.values()
    except (TypeError, ValueError):
        return None
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return tuple(p.name for p in parameters if p.kind in plain and p.default is inspect.Parameter.empty)


def signature_of(names: Iterable[str]) -> inspect.Signature:
    """That of a function of these unknowns: by its parameters a problem knows which of them an operator takes."""
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])


def read_unknowns(value: Any) -> Unknowns:
    """The user's ``unknowns``: a dictionary from names to numbers of components; None for one scalar, u."""
    if value is None:
        return Unknowns()
    if isinstance(value, Unknowns):
        return value
    remedy = "give a dictionary from names to numbers of components, such as {'u': 2, 'p': 1}"
    check_kind("unknowns", value, Mapping, remedy)
    return Unknowns(tuple((name, size) for name, size in value.items()))
