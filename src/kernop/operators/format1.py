"""Files of format 1, which had a layout of their own: their header is rewritten as the codec writes it today.

Nothing is checked here: what is wrong or missing makes an error now, or is found by the classes and the codec later.
What they do not know, such as the name of an old key, they leave alone.
"""

from __future__ import annotations

import json

import numpy as np

from kernop.basics.codec import ARRAY, CLASS
from kernop.basics.linalg import blocked
from kernop.basics.storage import Array, JsonObject
from kernop.basics.stored import LOWER, UPPER

#: The number beyond which a problem was called ill-posed.
LIMIT = 500.0
#: How arrays of a factorisation were stored that are triangles.
FORMS = {"triangle": LOWER, "upper": UPPER, "factor": LOWER, "square": LOWER}


def upgraded(old: JsonObject, arrays: dict[str, Array]) -> JsonObject:
    """The header of an operator as format 2 has it; arrays that were stored otherwise are replaced."""

    def renamed(part: JsonObject) -> JsonObject:
        return {CLASS if key == "kind" else key: value for key, value in part.items()}

    return _Upgrade(json.loads(json.dumps(old), object_hook=renamed), arrays).operator()


class _Upgrade:
    def __init__(self, old: JsonObject, arrays: dict[str, Array]) -> None:
        self.old, self.arrays = old, arrays
        self.conditions: list[JsonObject] = [old[f"condition {k}"] for k in range(old["conditions"])]
        self.envelope = self._envelope() if old["envelope"] else None
        self.method = {**old["method"], "envelope": self.envelope}
        if self._has("method/centers"):
            self.method["centers"] = self._at("method/centers")

    def operator(self) -> JsonObject:
        old, about, diagnosis = self.old, dict(self.old["learned"]), JsonObject({CLASS: "diagnosis"})
        if "stability" in about and "unseen" in about:
            number, unseen = about.pop("stability"), about.pop("unseen")
            diagnosis["stability"] = {CLASS: "stability", "number": number, "unseen": unseen, "limit": LIMIT}
        if "roughness" in about and "roughest" in about:
            part, where = about.pop("roughness"), about.pop("roughest")
            diagnosis["roughness"] = {CLASS: "roughness", "part": part, "where": where}
        conditions = [self._condition(f"condition {k}", own) for k, own in enumerate(self.conditions)]
        return {
            CLASS: "operator",
            "problem": {CLASS: "problem", "conditions": conditions},
            "points": {own["name"]: self._points(f"condition {k}", own) for k, own in enumerate(self.conditions)},
            "method": self.method,
            "factorisation": self._factorisation(old["factorisation"]),
            "stats": old["seconds"],
            "report": None if old.get("report") is None else _report(old["report"]),
            "noise": old.get("noise"),
            "about": {**about, "written": old["written"]},
            "diagnosis": diagnosis,
        }

    def _has(self, name: str) -> bool:
        return name in self.arrays or f"{name}.T" in self.arrays

    def _at(self, name: str, form: str = ARRAY) -> JsonObject:
        """A reference to an array, or to a triangle, by rows or by columns."""
        return {form: f"{name}.T" if f"{name}.T" in self.arrays else name}

    def _envelope(self) -> JsonObject:
        parts = [f"condition {k}" for k in range(len(self.conditions))]
        x = [self.arrays[f"{k}/x"] if f"{k}/x" in self.arrays else self.arrays[f"{k}/x.T"].T for k in parts]
        self.arrays["envelope/x"] = np.concatenate(x)
        self.arrays["envelope/values"] = np.concatenate([self.arrays.pop(f"{k}/envelope") for k in parts])
        return self._values("envelope", "envelope", "envelope/x", "envelope/values")

    def _values(self, what: str, argument: str, x: str, values: str) -> JsonObject:
        return {CLASS: "values", "what": what, "argument": argument, "x": self._at(x), "values": self._at(values)}

    def _points(self, place: str, old: JsonObject) -> JsonObject:
        """Those of a condition, or of a region that is made of points."""
        normal = self._at(f"{place}/normal") if old["normals"] else None
        return {CLASS: "points", "x": self._at(f"{place}/x"), "normal": normal, "timed": _timed(old.get("region", old))}

    def _condition(self, place: str, old: JsonObject) -> JsonObject:
        data, points = old.get("data"), self._points(place, old)
        if self._has(f"{place}/data"):
            data = self._values(f"data of condition {old['name']!r}", "problem", f"{place}/x", f"{place}/data")
        on, op = self._region(old["region"], f"{place}/region", points), self._op(old, place, points)
        return {CLASS: "condition", "op": op, "on": on, "name": old["name"], "data": data}

    def _op(self, old: JsonObject, place: str, points: JsonObject) -> JsonObject:
        plain, product = old["operator"], None
        if self.envelope is not None:
            product = _functionals([self._block(plain["with envelope"], place, "operator/with envelope/")])
        if plain[CLASS] == "constant":
            plain = {**plain, "takes": ["u"], "terms": [[0, alpha] for alpha in plain["alphas"]]}
        if plain[CLASS] == "table":
            plain = _functionals([self._block(plain, place, "operator/")])
        elif product is None:
            return plain
        known = {CLASS: "table", "condition": old["name"], "takes": ["u"], "points": points}
        return {**known, "plain": plain, "product": product}

    def _block(self, old: JsonObject, place: str, below: str = "") -> JsonObject:
        terms, coefficients = [[0, alpha] for alpha in old["alphas"]], self._at(f"{place}/{below}coefficients")
        return {CLASS: "block", "x": self._at(f"{place}/x"), "terms": terms, "coefficients": coefficients}

    def _region(self, old: JsonObject, place: str, points: JsonObject) -> JsonObject:
        inner = [name for name, part in old.items() if isinstance(part, dict) and CLASS in part]
        found = {**old, **{name: self._region(old[name], f"{place}/{name}", points) for name in inner}}
        if old[CLASS] == "interval":
            return {CLASS: "interval", "a": old["lo"][0], "b": old["hi"][0]}
        if old[CLASS] == "faces":
            return {**found, "faces": [[int(name[1:-1]), "-+".index(name[-1])] for name in old["faces"]]}
        if old[CLASS] == "part":
            return {**found, "points": points}
        if old[CLASS] == "points":
            own, intrinsic = self._points(place, old), old["intrinsic dimension"]
            return {CLASS: "point set", "points": own, "intrinsic_dim": intrinsic, "label": old["label"]}
        if old[CLASS] == "cloud":
            found["normals"] = self._at(f"{place}/boundary/normal") if old["boundary"]["normals"] else None
            sets = {name: self._at(f"{place}/{name}/x") for name in ("interior", "boundary")}
            return {**found, **sets, "timed": _timed(old)}
        return found

    def _expansion(self) -> JsonObject:
        old, ansatz = self.old["expansion"], {CLASS: "ansatz", "envelope": self.envelope}
        numbers = range(min(old["blocks"], len(self.arrays)))
        functionals = _functionals([self._block(old[f"block {k}"], f"expansion/block {k}") for k in numbers])
        return {CLASS: "expansion", "kernel": self.old["kernel"], "functionals": functionals, "ansatz": ansatz}

    def _factorisation(self, old: JsonObject) -> JsonObject:
        shared = {key: self.old[key] for key in ("regularization", "weights")}
        found = {**old, **shared, "expansion": self._expansion(), "method": self.method}
        for place, _, name in (key.removesuffix(".T").rpartition("/") for key in list(self.arrays)):
            if place == "factorisation":
                found[name] = self._at(f"{place}/{name}", FORMS.get(name, ARRAY))
        for name in {"factor", "square"} & found.keys():
            found[name] = {CLASS: "cholesky", "lower": found[name]}
        if old[CLASS] == "qr":
            found["factor"] = self._orthogonal(old, "factorisation")
        if old[CLASS] == "stream":
            found["solutions"] = [self._solution(f"solution {k}") for k in range(self.old["solutions"])]
            n, runner = int(self.arrays["starts"][-1].sum()), {CLASS: "passes"}
            found |= {"starts": self._at("starts"), "n": n, "runner": runner}
        return found

    def _orthogonal(self, old: JsonObject, place: str) -> JsonObject:
        if self._has(f"{place}/tau"):  # the first of these files held the scalars of the reflectors alone
            tau = self.arrays.pop(f"{place}/tau")
            self.arrays[f"{place}/t.T"] = blocked(self.arrays[f"{place}/packed.T"].T, tau).t.T
        first = {CLASS: "orthogonal", "packed": self._at(f"{place}/packed"), "t": self._at(f"{place}/t")}
        if "chain" not in old:
            return first
        pairs = [
            (self._at(f"{place}/chain/reflectors {k}"), self._at(f"{place}/chain/t {k}"))
            for k in range(min(old["chain"]["rotations"], len(self.arrays)))
        ]
        rotations = [{CLASS: "rotation", "reflectors": reflectors, "t": t} for reflectors, t in pairs]
        upper, order = self._at(f"{place}/chain/upper", UPPER), self._at(f"{place}/chain/order")
        return {CLASS: "chain", "first": first, "rotations": rotations, "upper": upper, "order": order}

    def _solution(self, place: str) -> JsonObject:
        found = {CLASS: "solution of a stream", "single": self.old[place]["single"], "paired": False}
        if self._has(f"{place}/coefficients"):  # the first of these files held R⁻¹ y, and no misfit
            return {**found, "y": self._at(f"{place}/coefficients"), "misfit": None}
        return {**found, "y": self._at(f"{place}/y"), "misfit": self._at(f"{place}/misfit")}


def _functionals(blocks: list[JsonObject]) -> JsonObject:
    return {CLASS: "functionals", "blocks": blocks}


def _timed(region: JsonObject) -> bool:
    """Is the last coordinate of a region time?"""
    if region[CLASS] == "part":
        return _timed(region["base"])
    return region[CLASS] in ("space-time", "cylinder") or region.get("timed", False)


def _report(old: JsonObject) -> JsonObject:
    levels = [{CLASS: "level", **level} for level in old["levels"]]
    for level in levels:
        error = level.get("error", level.get("residual"))
        level["error"] = {"number": "inf"} if error is None else error
    return {CLASS: "report", **old, "levels": levels}
