"""The live page: one HTML file with the matrices of an operator in it, which needs no server and no network."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path

import numpy as np

from kernop.basics.checks import check_kind
from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.storage import JsonObject
from kernop.basics.versions import VERSION
from kernop.operators.known import shown
from kernop.operators.operator import SolutionOperator
from kernop.serving.error_table import Asked, estimated, sources_asked
from kernop.serving.family import Channel, Mode, channels, modes
from kernop.serving.reduced import SLOPES, SOLVED, Reduced, Responses, fields, reduced
from kernop.serving.stage import Stage, stage_of

#: The parts of the page, in the order in which they are put into it.
SCRIPTS = ("numbers.js", "operator.js", "colours.js", "picture.js", "curve.js", "controls.js", "saving.js", "live.js")
#: Sources of strength 1 have solutions of very different sizes; sliders have strengths that make u about 1.
NICE = (1.0, 2.0, 5.0)


@dataclass
class Arrays:
    """Arrays of a page as one block of bytes, and where each of them is."""

    parts: list[bytes] = field(default_factory=list[bytes])
    length: int = 0

    def add(self, values: object, kind: str = "<f4") -> JsonObject:
        """Append an array; its place in the block, for the script."""
        array = np.ascontiguousarray(values, dtype=kind)
        raw = array.tobytes()
        place = {"at": self.length, "type": kind[1:], "shape": list(array.shape)}
        self.parts.append(raw + b"\0" * (-len(raw) % 8))
        self.length += len(self.parts[-1])
        return place


def page(operator: SolutionOperator, title: str = "", *, nodes: int | None = None, sources: int = SOLVED) -> str:
    """The live page of an operator as HTML: drag sources, move sliders, see u, its gradient and its error.

    Arguments:
        title: what stands above; the inputs and the unknown if it is empty.
        nodes: of the grid along its longest side; more give a finer picture and a larger file.
        sources: how many are solved in advance to find the matrices of the page.
    """
    check_kind("T", operator, SolutionOperator, "give an operator that learn or load returned")
    stage, arrays = stage_of(operator.problem, nodes), Arrays()
    if operator.ansatz.envelope is not None:  # derivatives are by the product rule, which no fixed matrix knows
        stage = replace(stage, arrows=stage.arrows[:0])
    model = _model(operator, stage, arrays, sources)
    model["title"] = title
    return _html(model, b"".join(arrays.parts), title or model["map"])


def write_page(operator: SolutionOperator, path: str | os.PathLike[str], title: str = "") -> Path:
    """Write the live page of an operator to an HTML file."""
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(page(operator, title), encoding="utf-8")
    return place


def script_hashes(html: str) -> str:
    """The sources of scripts that a browser may run on a page, for its Content-Security-Policy."""
    found = [part.split("</script>", 1)[0] for part in html.split("<script>")[1:]]
    digests = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in found]
    return " ".join(f"'sha256-{digest}'" for digest in digests)


def _model(operator: SolutionOperator, stage: Stage, arrays: Arrays, sources: int) -> JsonObject:
    taken, rest = channels(operator)
    if not taken and not rest:
        raise fail(ArgumentError, "T", "an operator without inputs", "leave the data of a condition open: data=None")
    responses = Responses(operator, stage)
    found = [reduced(responses, channel, sources) for channel in taken]
    sliders = [(c, m) for c in (*taken, *rest) for m in modes(operator, c, stage, c in taken)]
    asked = [sources_asked(own.channel, own.widths, stage) for own in found]
    shapes = [Asked(c, m.columns(stage), (1,)) for c, m in sliders]
    errors, how = estimated(operator, [*asked, *shapes])
    tables = [e.reshape(own.shape) for own, e in zip(asked, errors, strict=False)]
    # Strengths are such that a source in the middle gives u of size 1, to one digit.
    strengths = {own.channel: _nice(1.0 / own.size) for own in found}
    problem = operator.problem
    return {
        "map": f"({', '.join(problem.inputs)}) ↦ {', '.join(problem.unknowns.names)}",
        "low": stage.low.tolist(),
        "high": stage.high.tolist(),
        "inputs": list(problem.inputs),
        "shown": stage.shown,
        "space": stage.space,
        "shape": list(stage.shape),
        "frames": stage.frames.tolist(),
        "timed": stage.timed,
        "slopeUnit": SLOPES * stage.side,
        "fields": fields(operator),
        "nodes": arrays.add(stage.nodes, "<u4"),
        "arrows": arrays.add(stage.arrows, "<u4"),
        "mask": arrays.add(np.packbits(stage.mask), "|u1") | {"bits": list(stage.mask.shape)},
        "offset": arrays.add(responses.offset) if np.any(responses.offset) else None,
        "channels": [_channel(*own, strengths, arrays) for own in zip(found, tables, strict=True)],
        "modes": [
            _slider(m, own, responses(own.channel, _values(operator, own)), e, strengths, arrays)
            for (_, m), own, e in zip(sliders, shapes, errors[len(asked) :], strict=True)
        ],
        "notes": _notes(operator, found, how),
        "version": VERSION,
    }


def _channel(own: Reduced, errors: FloatArray, strengths: dict[Channel, float], arrays: Arrays) -> JsonObject:
    return {
        "label": own.channel.label,
        "widths": list(own.widths),
        "strength": strengths[own.channel],
        "lost": own.lost.tolist(),
        "points": arrays.add(own.points, "<f8"),
        "left": arrays.add(own.left),
        "right": arrays.add(own.right),
        "errors": arrays.add(errors, "<f8"),
    }


def _slider(
    mode: Mode, own: Asked, u: FloatArray, errors: FloatArray, strengths: dict[Channel, float], arrays: Arrays
) -> JsonObject:
    """A shape of data that a slider controls: u for strength 1, and its error."""
    return {
        "label": mode.name,
        "powers": list(mode.powers),
        "group": own.channel.label,
        "source": own.channel in strengths,
        "range": strengths.get(own.channel, 1.0),
        "column": arrays.add(u[:, 0]),
        "error": arrays.add(errors, "<f8"),
    }


def _values(operator: SolutionOperator, own: Asked) -> FloatArray:
    """The data of one shape at the points of T, (n, 1)."""
    condition = operator.problem[own.channel.condition]
    x = operator.points[condition.name].x
    return own.columns(x[:1] if condition.integral else x)


def _notes(operator: SolutionOperator, found: list[Reduced], how: str) -> JsonObject:
    """What stands below the picture, for who wants to know."""
    report, diagnosis = operator.report, operator.diagnosis
    return {
        "conditions": [
            {"name": c.name, "operator": shown(c.op), "region": repr(c.on), "points": len(operator.points[c.name])}
            for c in operator.problem.conditions
        ],
        "space": operator.space,
        "report": "" if report is None else str(report).splitlines()[0],
        "stability": operator.stability,
        "doubts": [str(part) for part in (diagnosis.stability,) if diagnosis.ill_posed],
        "ranks": [own.left.shape[1] for own in found],
        "leftOut": max((own.left_out for own in found), default=0.0),
        "estimates": how,
    }


def _nice(value: float) -> float:
    """The next number of 1, 2, 5 · 10^k above."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(next((n * power for n in NICE if n * power >= value), 10.0 * power))


def _html(model: JsonObject, data: bytes, title: str) -> str:
    """The parts of the page in one text; what comes from a file is data, and never markup."""
    folder = files("kernop.serving") / "page"

    def part(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    text = json.dumps(model, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    script = "\n".join(part(name) for name in SCRIPTS)
    pieces = {
        "{{title}}": title.replace("&", "&amp;").replace("<", "&lt;"),
        "{{style}}": part("live.css"),
        "{{model}}": text,
        "{{data}}": base64.b64encode(data).decode(),
        "{{script}}": script,
    }
    return re.sub("|".join(map(re.escape, pieces)), lambda found: pieces[found[0]], part("live.html"))
