"""Files of format 1, which had a layout of their own: their header is rewritten as the codec writes it today.

Nothing is checked here: what is wrong or missing makes an error now, or is found by the classes and the codec later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernop.basics.codec import ARRAY, CLASS
from kernop.basics.linalg import blocked
from kernop.basics.storage import Array
from kernop.basics.stored import LOWER, UPPER

Header = dict[str, Any]

#: One scalar, which was all there was.
UNKNOWNS: Header = {"kind": "unknowns", "sizes": [["u", 1]]}
LAYOUT: Header = {"kind": "layout", "components": None, "complex": False}
#: The number beyond which a problem was called ill-posed.
LIMIT = 500.0


def upgraded(old: Header, arrays: dict[str, Array]) -> Header:
    """The header of an operator as format 2 has it; arrays that were stored otherwise are replaced."""
    return _renamed(_Upgrade(old, arrays).operator())


class _Upgrade:
    def __init__(self, old: Header, arrays: dict[str, Array]) -> None:
        self.old, self.arrays = old, arrays
        self.conditions: list[Header] = [old[f"condition {k}"] for k in range(old["conditions"])]
        self.envelope = self._envelope() if old["envelope"] else None
        self.method = self._method(old["method"])

    def operator(self) -> Header:
        old = self.old
        learned, names = dict(old["learned"]), [condition["name"] for condition in self.conditions]
        stability = _finding("stability", learned, number="stability", unseen="unseen")
        if stability is not None:
            stability["limit"] = LIMIT
        roughness = _finding("roughness", learned, part="roughness", where="roughest")
        return {
            "kind": "operator",
            "problem": {
                "kind": "problem",
                "conditions": [self._condition(k) for k in range(len(names))],
                "unknowns": UNKNOWNS,
            },
            "points": {name: self._points(f"condition {k}", self.conditions[k]) for k, name in enumerate(names)},
            "method": self.method,
            "factorisation": self._factorisation(old["factorisation"]),
            "stats": old["seconds"],
            "report": None if old.get("report") is None else _report(old["report"]),
            "noise": old.get("noise"),
            "about": {**learned, "written": old["written"]},
            "diagnosis": {"kind": "diagnosis", "stability": stability, "roughness": roughness},
            "functionals": None,
            "solutions": [],
        }

    def at(self, name: str, form: str = ARRAY) -> Header:
        """A reference to an array, or to a triangle, by rows or by columns."""
        return {form: f"{name}.T" if f"{name}.T" in self.arrays else name}

    def _array(self, name: str) -> Array:
        return self.arrays[name] if name in self.arrays else self.arrays[f"{name}.T"].T

    def has(self, name: str) -> bool:
        return name in self.arrays or f"{name}.T" in self.arrays

    def _envelope(self) -> Header:
        parts = range(len(self.conditions))
        self.arrays["envelope/x"] = np.concatenate([self._array(f"condition {k}/x") for k in parts])
        self.arrays["envelope/values"] = np.concatenate([self.arrays.pop(f"condition {k}/envelope") for k in parts])
        return self._values("envelope", "envelope", "envelope/x", "envelope/values")

    def _values(self, what: str, argument: str, x: str, values: str) -> Header:
        return {"kind": "values", "what": what, "argument": argument, "x": self.at(x), "values": self.at(values)}

    def _points(self, place: str, old: Header, timed: bool | None = None) -> Header:
        normal = self.at(f"{place}/normal") if old["normals"] else None
        if timed is None:
            timed = _timed(old["region"])
        return {"kind": "points", "x": self.at(f"{place}/x"), "normal": normal, "timed": timed, "weight": None}

    def _condition(self, k: int) -> Header:
        old, place = self.conditions[k], f"condition {k}"
        data = old.get("data")
        if self.has(f"{place}/data"):
            data = self._values(f"data of condition {old['name']!r}", "problem", f"{place}/x", f"{place}/data")
        region = self._region(old["region"], f"{place}/region", self._points(place, old))
        op = self._op(old, old["operator"], place)
        whole = {"kind": "condition", "op": op, "on": region, "name": old["name"], "data": data}
        return {**whole, "of": None, "integral": False}

    def _op(self, old: Header, op: Header, place: str) -> Header:
        product = None
        if self.envelope is not None:
            product = self._form(op["with envelope"], f"{place}/x", f"{place}/operator/with envelope")
        if op["kind"] == "constant":
            terms = [[0, alpha] for alpha in op["alphas"]]
            op = {"kind": "constant", "takes": ["u"], "terms": terms, "coefficients": op["coefficients"]}
        if op["kind"] != "table" and product is None:
            return op
        plain = self._form(op, f"{place}/x", f"{place}/operator") if op["kind"] == "table" else op
        known = {"kind": "table", "condition": old["name"], "takes": ["u"], "points": self._points(place, old)}
        return {**known, "plain": plain, "product": product}

    def _form(self, old: Header, x: str, place: str) -> Header:
        return _functionals([self._block(old, x, place)])

    def _block(self, old: Header, x: str, place: str) -> Header:
        terms, coefficients = [[0, alpha] for alpha in old["alphas"]], self.at(f"{place}/coefficients")
        return {"kind": "block", "x": self.at(x), "terms": terms, "coefficients": coefficients, "starts": None}

    def _region(self, old: Header, place: str, points: Header) -> Header:
        kind = old["kind"]
        inner = {
            name: self._region(old[name], f"{place}/{name}", points)
            for name in ("box", "ball", "space", "spacetime", "base")
            if name in old
        }
        if kind == "interval":
            return {"kind": kind, "a": old["lo"][0], "b": old["hi"][0]}
        if kind == "faces":
            faces = [[int(name[1:-1]), "-+".index(name[-1])] for name in old["faces"]]
            return {"kind": kind, "faces": faces, **inner}
        if kind == "part":
            return {"kind": kind, "points": points, "measure": old["measure"], **inner}
        if kind == "points":
            own = self._points(place, old, old.get("timed", False))
            intrinsic = old["intrinsic dimension"]
            return {"kind": "point set", "points": own, "intrinsic_dim": intrinsic, "label": old["label"]}
        if kind == "cloud":
            normals = self.at(f"{place}/boundary/normal") if old["boundary"]["normals"] else None
            boundary, timed = self.at(f"{place}/boundary/x"), old.get("timed", False)
            interior = self.at(f"{place}/interior/x")
            return {"kind": kind, "interior": interior, "boundary": boundary, "normals": normals, "timed": timed}
        return {**old, **inner}

    def _method(self, old: Header) -> Header:
        if old["kind"] != "Subspace":
            return old
        centers = self.at("method/centers") if self.has("method/centers") else old["centers"]
        return {**old, "centers": centers, "envelope": self.envelope}

    def _expansion(self) -> Header:
        old = self.old["expansion"]
        places = [f"expansion/block {k}" for k in range(min(old["blocks"], len(self.arrays)))]
        blocks = [self._block(old[f"block {k}"], f"{place}/x", place) for k, place in enumerate(places)]
        ansatz = {"kind": "ansatz", "unknowns": UNKNOWNS, "envelope": self.envelope, "scales": [], "complex": False}
        kernel = self.old["kernel"]
        return {"kind": "expansion", "kernel": kernel, "functionals": _functionals(blocks), "ansatz": ansatz}

    def _factorisation(self, old: Header) -> Header:
        place = "factorisation"
        found = {
            **old,
            "expansion": self._expansion(),
            "regularization": self.old["regularization"],
            "weights": self.old["weights"],
            "method": self.method,
        }
        for name in ("scales", "order", "columns", "left", "roots", "design", "q", "penalty", "triangle", "upper"):
            if self.has(f"{place}/{name}"):
                found[name] = self.at(f"{place}/{name}", {"triangle": LOWER, "upper": UPPER}.get(name, ARRAY))
        for name in ("factor", "square"):
            if self.has(f"{place}/{name}"):
                found[name] = {"kind": "cholesky", "lower": self.at(f"{place}/{name}", LOWER)}
        if old["kind"] == "qr":
            found["factor"] = self._orthogonal(old)
        if old["kind"] == "stream":
            solutions = [self._solution(k) for k in range(self.old["solutions"])]
            runner, n = {"kind": "passes", "client": None, "checkpoint": None}, int(self.arrays["starts"][-1].sum())
            found |= {"starts": self.at("starts"), "solutions": solutions, "n": n, "runner": runner}
        return found

    def _orthogonal(self, old: Header) -> Header:
        place = "factorisation"
        if self.has(f"{place}/tau"):  # the first of these files held the scalars of the reflectors alone
            tau = self.arrays.pop(f"{place}/tau")
            self.arrays[f"{place}/t.T"] = blocked(self.arrays[f"{place}/packed.T"].T, tau).t.T
        first = {"kind": "orthogonal", "packed": self.at(f"{place}/packed"), "t": self.at(f"{place}/t")}
        if "chain" not in old:
            return first
        place = f"{place}/chain"
        rotations = [
            {"kind": "rotation", "reflectors": self.at(f"{place}/reflectors {k}"), "t": self.at(f"{place}/t {k}")}
            for k in range(min(old["chain"]["rotations"], len(self.arrays)))
        ]
        upper, order = self.at(f"{place}/upper", UPPER), self.at(f"{place}/order")
        return {"kind": "chain", "first": first, "rotations": rotations, "upper": upper, "order": order}

    def _solution(self, k: int) -> Header:
        place, single = f"solution {k}", self.old[f"solution {k}"]["single"]
        first = self.has(f"{place}/coefficients")  # the first of these files held R⁻¹ y, and no misfit
        y = self.at(f"{place}/coefficients" if first else f"{place}/y")
        misfit = None if first else self.at(f"{place}/misfit")
        return {"kind": "solution of a stream", "single": single, "y": y, "misfit": misfit, "paired": False}


def _functionals(blocks: list[Header]) -> Header:
    return {"kind": "functionals", "blocks": blocks, "layouts": [LAYOUT for _ in blocks]}


def _timed(region: Header) -> bool:
    """Is the last coordinate of a region time?"""
    if region["kind"] == "part":
        return _timed(region["base"])
    return region["kind"] in ("space-time", "cylinder") or region.get("timed", False)


def _finding(kind: str, learned: Header, **names: str) -> Header | None:
    """What was found about an operator, if it was looked at."""
    if not all(name in learned for name in names.values()):
        return None
    return {"kind": kind} | {argument: learned.pop(name) for argument, name in names.items()}


def _report(old: Header) -> Header:
    levels = [{"changes": None, "misfit": 0.0, "roughness": 0.0, **level, "kind": "level"} for level in old["levels"]]
    for level in levels:
        error = level.get("error", level.get("residual"))
        level["error"] = {"number": "inf"} if error is None else error
    return {"measured": "", "followed": [], "estimates": None, **old, "kind": "report", "levels": levels}


def _renamed(value: Any) -> Any:
    """With the name of a class under the key that it has today."""
    if isinstance(value, list):
        return [_renamed(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {CLASS if key == "kind" and isinstance(part, str) else key: _renamed(part) for key, part in value.items()}
