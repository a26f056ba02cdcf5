"""Counts of the house: lines by room, layers, public names that mean two things, uses of Any, collocations in a learn.

Usage: python tools/house.py [path of a source tree]
       python tools/house.py --since [path of the source tree of commit ba2b9c9]
"""

from __future__ import annotations

import ast
import sys
import tomllib
import warnings
from collections import Counter, defaultdict
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))  # the tree that is counted is the one that is imported


#: What existed at ba2b9c9: the files of each area then, and those that serve it now. A file that has learned something
#: since, such as several unknowns or complex values, counts whole.
AREAS = {
    "files": (
        "files/* io agreement storage replacing mapped streaming/recorded streaming/restored",
        "basics/codec basics/stored basics/fitting basics/storage basics/replacing basics/mapped "
        "operators/load operators/closing operators/known operators/records",
    ),
    "streams": (
        "streaming/* batches methods/accumulators methods/materialized",
        "learning/streaming/* collocation/batches collocation/stream collocation/rows methods/accumulators "
        "methods/streamed methods/regression basics/matrix_file",
    ),
    "domains": (
        "domains/*",
        "geometry/__init__ geometry/box geometry/ball geometry/cloud geometry/lookup geometry/points geometry/patch "
        "geometry/region geometry/remembered geometry/sequences geometry/spacetime",
    ),
    "language": (
        "fields operators coefficients functions problem",
        "language/calculus language/coefficients language/conditions language/fields language/functions language/ops "
        "language/problem",
    ),
    "kernels": ("kernels/* derivatives", "kernels/[!s]*"),
    "collocation": (
        "collocation gram sampling frame data inputs changes probes",
        "collocation/ansatz collocation/assembly collocation/changes collocation/data collocation/functionals "
        "collocation/probes collocation/sampling collocation/units",
    ),
    "methods": (
        "methods/* linalg",
        "methods/__init__ methods/base methods/centres methods/chain methods/expansion methods/full "
        "methods/leastsquares methods/lowrank methods/posterior methods/subspace methods/weights "
        "methods/spaces/__init__ methods/spaces/kernel_functions basics/linalg/*",
    ),
    "trust": (
        "estimates/* bounds/* evidence criteria diagnosis metrics resolution wellposed",
        "trust/estimates/[!cfp]* trust/estimates/coverings trust/estimates/peaks trust/bounds/* trust/evidence "
        "trust/criteria trust/diagnosis trust/metrics trust/resolution trust/wellposed",
    ),
    "operators": (
        "solution solution_operator",
        "operators/answering operators/evaluated operators/fixed operators/operator operators/solution",
    ),
    "learning": (
        "learn refine heldout search tuning",
        "learning/learn learning/task learning/refine learning/heldout learning/tuning operators/report",
    ),
    "paper": ("experiments/* plotting", "paper/* plotting"),
    "basics": (
        "errors frozen memory precision progress",
        "basics/errors basics/frozen basics/memory basics/precision basics/progress",
    ),
}


def lines_by_area(tree: Path, side: int) -> dict[str, int]:
    """Lines of the files of each area, then (0) or now (1); a file counts in the first area that has it."""
    files = {
        str(path.relative_to(tree / "kernop"))[:-3]: len(path.read_text().splitlines())
        for path in (tree / "kernop").rglob("*.py")
    }
    found: dict[str, int] = {}
    for area, patterns in AREAS.items():
        own = [name for name in files if any(fnmatch(name, pattern) for pattern in patterns[side].split())]
        found[area] = sum(files.pop(name) for name in own)
    return found


def since(then: Path) -> None:
    """What existed at ba2b9c9: lines then, and lines of the files that serve it now."""
    before, after = lines_by_area(then, 0), lines_by_area(ROOT / "src", 1)
    for area in AREAS:
        print(f"{area:12s} {before[area]:6d} lines then, {after[area]:6d} now: {after[area] - before[area]:+d}")
    total = sum(before.values()), sum(after.values())
    print(f"{'all':12s} {total[0]:6d} lines then, {total[1]:6d} now: {total[1] - total[0]:+d}")


def modules(tree: Path) -> dict[str, ast.Module]:
    """Every module of the package by its path below it."""
    files = sorted((tree / "kernop").rglob("*.py"))
    return {str(path.relative_to(tree / "kernop")): ast.parse(path.read_text()) for path in files}


def lines_by_room(tree: Path) -> Counter[str]:
    """Lines of source in each folder at the top, and of the files beside them."""
    found: Counter[str] = Counter()
    for path in (tree / "kernop").rglob("*.py"):
        parts = path.relative_to(tree / "kernop").parts
        found[parts[0] if len(parts) > 1 else "(top)"] += len(path.read_text().splitlines())
    return found


def defined(module: ast.Module) -> set[str]:
    """Classes, functions and type aliases that a module defines at its top, and that others may use."""
    names: set[str] = set()
    for node in module.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign) and not _type_variable(node.value):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def _type_variable(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "TypeVar"


def twice(found: dict[str, ast.Module]) -> dict[str, list[str]]:
    """Names that are defined in more than one module.

    Constants in capitals and type variables belong to their files; the command line is named after what it calls.
    """
    owners: dict[str, list[str]] = defaultdict(list)
    for path, module in found.items():
        for name in defined(module) if path != "cli.py" else ():
            owners[name].append(path)
    return {name: paths for name, paths in owners.items() if len(paths) > 1 and not name.isupper()}


def uses_of_any(found: dict[str, ast.Module]) -> int:
    """How often `Any` stands in an annotation or a type."""
    return sum(isinstance(n, ast.Name) and n.id == "Any" for module in found.values() for n in ast.walk(module))


def layers() -> int:
    """Layers of all contracts of import-linter."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return sum(len(contract["layers"]) for contract in contracts)


def collocations() -> tuple[int, int]:
    """Evaluations of operators at points in a warm ``learn(tol=1e-8)`` of the paper's Darcy a2, and distinct ones."""
    import kernop as ko
    from kernop.collocation import ansatz
    from kernop.paper.darcy import darcy_problem, exponential

    problem, calls, plain = darcy_problem(exponential), [], ansatz.Ansatz.functionals

    def counted(self: ansatz.Ansatz, op: object, points: ko.Points, **named: object) -> object:
        calls.append((named.get("name"), points.x.tobytes()))
        return plain(self, op, points, **named)  # pyright: ignore[reportArgumentType]

    with warnings.catch_warnings(action="ignore"):
        ko.learn(problem, tol=1e-8)
        ansatz.Ansatz.functionals = counted  # pyright: ignore[reportAttributeAccessIssue]
        ko.learn(problem, tol=1e-8)
        ansatz.Ansatz.functionals = plain
    return len(calls), len(set(calls))


def main(tree: Path) -> None:
    """Print all counts."""
    found, rooms = modules(tree), lines_by_room(tree)
    for room, count in sorted(rooms.items()):
        print(f"{room:12s} {count:6d} lines")
    print(f"{'all':12s} {sum(rooms.values()):6d} lines in {len(found)} files")
    double = twice(found)
    print(f"{len(double)} names are defined in two modules: {', '.join(sorted(double))}")
    print(f"{uses_of_any(found)} uses of Any; {layers()} layers in the contracts")
    if tree == ROOT / "src":
        calls, distinct = collocations()
        print(f"{calls} collocations in a warm learn(tol=1e-8), {distinct} of them distinct")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--since"]:
        since(Path(sys.argv[2]).resolve())
        sys.exit()
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "src")
