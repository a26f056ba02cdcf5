"""Counts of the house: lines by room, layers, public names that mean two things, uses of Any, collocations in a learn.

Usage: python tools/house.py [path of a source tree]
"""

from __future__ import annotations

import ast
import sys
import tomllib
import warnings
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))  # the tree that is counted is the one that is imported


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
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "src")
