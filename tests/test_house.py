"""What holds for all of the source: how constructors are called, and what CONTRIBUTING says of rooms and steps."""

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import kernop

#: A constructor of more than MANY arguments takes at most LEADING of them by position.
MANY, LEADING = 5, 3


def classes() -> Iterator[type]:
    """Every class that kernop defines, once."""
    for found in pkgutil.walk_packages(kernop.__path__, "kernop."):
        if found.name == "kernop.__main__":  # importing it runs the command line
            continue
        module = importlib.import_module(found.name)
        yield from (own for own in vars(module).values() if inspect.isclass(own) and own.__module__ == found.name)


def positional(constructor: type) -> tuple[int, int]:
    """How many arguments a constructor takes by position, and how many in all."""
    _, *arguments = inspect.signature(constructor.__init__).parameters.values()
    kinds = [own.kind for own in arguments]
    by_position = kinds.count(inspect.Parameter.POSITIONAL_ONLY) + kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return by_position, by_position + kinds.count(inspect.Parameter.KEYWORD_ONLY)


class Long:
    def __init__(self, a: int, b: int, c: int, d: int, *, e: int, f: int) -> None: ...


class Led:
    def __init__(self, a: int, b: int, c: int, *, d: int, e: int, f: int) -> None: ...


def too_many(constructor: type) -> bool:
    by_position, all_of_them = positional(constructor)
    return all_of_them > MANY and by_position > LEADING


def test_the_rule_tells_long_constructors_from_others() -> None:
    assert too_many(Long)
    assert not too_many(Led)


def test_constructors_with_many_arguments_take_them_by_name() -> None:
    seen = [own for own in classes() if not issubclass(own, BaseException)]
    assert len(seen) > 200
    assert [f"{own.__module__}.{own.__qualname__}" for own in seen if too_many(own)] == []


ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
ROOMS = dict(re.findall(r"^\| `([\w/]+)/` \|[^|]*\|([^|]*)\|$", TEXT, re.MULTILINE))


def test_the_map_has_every_room():
    source = ROOT / "src" / "kernop"
    top = {room for room in ROOMS if "/" not in room}
    assert top == {path.name for path in source.iterdir() if (path / "__init__.py").exists()}


@pytest.mark.parametrize("room", ROOMS)
def test_the_map_has_every_file_of_a_room_and_no_other(room):
    folder = ROOT / "src" / "kernop" / room
    named = {word.removesuffix("/") for word in re.findall(r"`([\w/]+)`", ROOMS[room])}
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    folders = {path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("__")}
    with_lines_of_their_own = {name for name in folders if f"{room}/{name}" in ROOMS}
    assert named == files | folders - with_lines_of_their_own


#: The steps of one call: a function, and the class of what it returns, in each phase in their order.
STEPS = {
    "learn": [
        (2, "sample", "dict"),
        (3, "collocate", "Functionals"),
        (3, "fitted", "tuple"),
        (4, "stability", "Stability"),
        (4, "roughness", "Roughness"),
        (4, "Task.examined", "Diagnosis"),
        (5, "Subspace.factorise", "QRFactorisation"),
        (6, "Task.factorised", "SolutionOperator"),
        (1, "learn", "SolutionOperator"),
    ],
    "T(f, g)": [
        (7, "all_values", "ndarray"),
        (7, "QRFactorisation.answer_again", "Answer"),
        (7, "answered", "Solution"),
    ],
    "u(x)": [
        (8, "Ansatz.evaluations", "Functionals"),
        (8, "Combination.apply", "ndarray"),
        (8, "values_of", "ndarray"),
    ],
    "error_estimate": [
        (9, "from_fresh_points", "Fresh"),
        (10, "concentrated", "ndarray"),
        (10, "error_estimate", "ErrorEstimate"),
    ],
}
LINES = {int(number): line for number, line in re.findall(r"^(\d+)\. (.*)$", TEXT, re.MULTILINE)}


def returns_of(run: Callable[[], object]) -> tuple[object, list[tuple[str, str]]]:
    """The result, and all functions of kernop that returned meanwhile, each with the class of what it returned."""
    seen: list[tuple[str, str]] = []

    def note(frame, event, value):
        if event == "return" and frame.f_globals.get("__name__", "").startswith("kernop."):
            seen.append((frame.f_code.co_qualname, type(value).__name__))

    sys.setprofile(note)
    try:
        return run(), seen
    finally:
        sys.setprofile(None)


def in_order(wanted: list[tuple[str, str]], seen: list[tuple[str, str]]) -> bool:
    """Is the one a subsequence of the other?"""
    rest = iter(seen)
    return all(step in rest for step in wanted)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_one_call_step_by_step():
    square = kernop.Box([0, 0], [1, 1])
    f = kernop.Equation(lambda u: -kernop.laplacian(u), on=square, name="f")
    problem = kernop.Problem(f, kernop.Dirichlet(on=square.boundary, name="g"))
    seen = dict[str, list[tuple[str, str]]]()
    operator, seen["learn"] = returns_of(lambda: kernop.learn(problem, method=kernop.Subspace(60)))
    u, seen["T(f, g)"] = returns_of(lambda: operator(1.0, 0.0))
    _, seen["u(x)"] = returns_of(lambda: u(np.array([[0.5, 0.5]])))
    _, seen["error_estimate"] = returns_of(u.error_estimate)
    for phase, steps in STEPS.items():
        assert in_order([(name, found) for _, name, found in steps], seen[phase]), phase
    assert not in_order([("answered", "Solution"), ("all_values", "ndarray")], seen["T(f, g)"])
    assert sorted({number for steps in STEPS.values() for number, _, _ in steps}) == list(range(1, 11)) == sorted(LINES)
    for number, name, _ in (step for steps in STEPS.values() for step in steps):
        assert re.search(rf"`{re.escape(name)}[`(]", LINES[number]), f"step {number} does not name {name}"
