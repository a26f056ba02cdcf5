"""The HTTP interface as data: OpenAPI, and a page of it without scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from kernop.basics.storage import JsonObject
from kernop.basics.versions import VERSION
from kernop.serving.hosted import Hosted
from kernop.serving.named import KINDS
from kernop.serving.reading import BINARY, JSON, WANTED
from kernop.serving.refusal import Limits

_STRING, _INTEGER, _NUMBER = ({"type": name} for name in ("string", "integer", "number"))


def _list(items: JsonObject) -> JsonObject:
    return {"type": "array", "items": items}


def _object(properties: JsonObject, **more: object) -> JsonObject:
    return {"type": "object", **more, "properties": properties}


def _schema(name: str) -> JsonObject:
    """A reference to one of `_schemas`."""
    return {"schema": {"$ref": f"#/components/schemas/{name}"}}


_ERROR = {"description": "What was wrong, what came, what to do", "content": {JSON: _schema("Error")}}


def schema(hosted: Iterable[Hosted], limits: Limits) -> JsonObject:
    """The OpenAPI description of a server of these operators."""
    names = [own.name for own in hosted]
    operator = {"name": "operator", "in": "path", "required": True, "schema": {"type": "string", "enum": names}}
    condition = {"name": "condition", "in": "path", "required": True, "schema": _STRING}
    points = "Where T wants the data of a condition, if they are given as an array: (n, d)"
    found = "The points, as JSON or, if binary is accepted, as safetensors with x"
    what = "What an operator is: conditions, inputs, points, box, report"
    description = (
        "Learned solution operators of linear PDEs: data in, u out. No code is taken from outside. "
        f"Limits: {limits.body} bytes, {limits.points} points, {limits.inputs} inputs, {limits.values} values in "
        f"an answer, {limits.seconds:g} seconds."
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": "kernop", "version": VERSION, "description": description},
        "paths": {
            "/operators": _get("What is served", "A list of operators"),
            "/operators/{operator}": _get(what, "It", [operator], 404),
            "/operators/{operator}/points/{condition}": _get(points, found, [operator, condition], 404),
            "/operators/{operator}/solve": {"post": _solve(operator)},
            "/operators/{operator}/page": _get("The live page of an operator", "HTML", [operator], 404),
            "/health": _get("Is the server alive? Needs no token", "It is"),
            "/metrics": _get("Counts and times, as text for Prometheus", "Text"),
        },
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _get(summary: str, found: str, parameters: Sequence[JsonObject] = (), *errors: int) -> JsonObject:
    answers = {"200": {"description": found}, **{str(code): _ERROR for code in (401, *errors)}}
    return {"get": {"summary": summary, "parameters": list(parameters), "responses": answers}}


def _solve(operator: JsonObject) -> JsonObject:
    binary, arrays = (
        {"type": "string", "format": "binary"},
        "safetensors: float64 or float32 arrays by name, which the ",
    )
    arrays += 'question refers to as {"array": name}, and metadata {"request": the question as JSON}'
    example = {
        "inputs": {"f": {"kind": "gaussian", "center": [0.4, 0.6], "width": 0.1}, "g": 0.0},
        "at": {"points": [[0.5, 0.5], [0.25, 0.5]]},
        "want": list(WANTED),
    }
    asked = {
        JSON: {**_schema("Question"), "example": example},
        BINARY: {"schema": {**binary, "description": arrays}},
    }
    answer = {
        "description": "u, its gradient and its error, as they were asked for",
        "content": {JSON: _schema("Answer"), BINARY: {"schema": binary}},
    }
    errors = {str(code): _ERROR for code in (400, 401, 404, 408, 413, 415, 422, 429, 503)}
    return {
        "summary": "Solve for one input or many, and evaluate at points or on a grid",
        "parameters": [operator],
        "requestBody": {"required": True, "content": asked},
        "responses": {"200": answer, **errors},
    }


def _value() -> JsonObject:
    """The data of one input."""
    functions = [
        _object(
            {"kind": {"const": kind}, **{key: {} for key in sorted(wanted | optional)}},
            required=["kind", *sorted(wanted)],
            additionalProperties=False,
        )
        for kind, (_, wanted, optional) in KINDS.items()
    ]
    array = _object({"array": _STRING}, required=["array"])
    return {
        "description": "Data of one input: a number; values at the points of T, (n,) or (n, B); an array by its name; "
        "a function by its kind; a complex value by its parts",
        "anyOf": [_NUMBER, {"type": "array"}, array, {"type": "object", "required": ["real", "imag"]}, *functions],
    }


def _schemas() -> JsonObject:
    inputs = {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Value"}}
    numbers = _list(_NUMBER)
    grid = _object({"shape": _list(_INTEGER), "lower": numbers, "upper": numbers}, required=["shape"])
    points = {"anyOf": [_list(numbers), {"type": "object", "required": ["array"]}]}
    outside = {"enum": ["raise", "nan"], "description": "nan on a grid, raise at points, unless it is given"}
    question = {
        "inputs": {"anyOf": [inputs, _list(inputs)]},
        "at": _object({"points": points, "grid": grid}, maxProperties=1),
        "want": {"type": "array", "items": {"enum": list(WANTED)}, "default": ["u"]},
        "outside": outside,
    }
    answer = {
        "operator": _STRING,
        "inputs": {"type": ["integer", "null"], "description": "B, or null for one input"},
        "shape": _list(_INTEGER),
        "values": {"type": "object", "description": "u, or each unknown, and 'gradient of u'; null outside"},
        "misfit": {"description": "the part of the data that u leaves at the points of T; a number, or B"},
        "error": {"type": "object", "description": "relative_l2, relative_linf, l2, linf: estimates, not bounds"},
        "warnings": _list(_STRING),
    }
    error = {"status": _INTEGER, **dict.fromkeys(("argument", "got", "remedy", "message"), _STRING)}
    return {
        "Value": _value(),
        "Question": _object(question, required=["inputs"], additionalProperties=False),
        "Answer": _object(answer),
        "Error": _object({"error": _object(error)}),
    }


def schema_page(found: JsonObject) -> str:
    """The description as a page for people."""
    parts = [f"<p>{escape(found['info']['description'])}</p>"]
    for path, methods in found["paths"].items():
        for method, own in methods.items():
            parts.append(f"<h2><b>{method.upper()}</b> <code>{escape(path)}</code></h2>")
            parts.append(f"<p>{escape(own['summary'])}.</p>")
            for kind, body in own.get("requestBody", {}).get("content", {}).items():
                parts.append(f"<p>Body, <code>{kind}</code>: {escape(body['schema'].get('description', ''))}</p>")
                if "example" in body:
                    parts.append(f"<pre>{escape(json.dumps(body['example'], indent=2))}</pre>")
            parts.append(f"<p class=muted>Answers: {', '.join(own['responses'])}</p>")
    parts.append("<h2>Schemas</h2>")
    for name, own in found["components"]["schemas"].items():
        text = escape(json.dumps(own, indent=2))
        parts.append(f"<details><summary><code>{name}</code></summary><pre>{text}</pre></details>")
    return html_page("HTTP interface", "\n".join(parts))


def index_page(hosted: Iterable[Hosted]) -> str:
    """The first page of a server of several operators."""
    items: list[str] = []
    for own in hosted:
        problem = own.operator.problem
        what = f"({', '.join(problem.inputs)}) ↦ {', '.join(problem.unknowns.names)}, {problem.dim}-D"
        link = f'<a href="/operators/{own.name}/page">{escape(own.name)}</a>'
        items.append(f"<li><b>{link}</b> <span class=muted>{escape(what)}</span></li>")
    links = '<p><a href="/docs">HTTP interface</a> · <a href="/openapi.json">openapi.json</a></p>'
    return html_page("Operators", f"<ul>{''.join(items)}</ul>{links}")


def html_page(title: str, body: str) -> str:
    """A page in the style of the live one."""
    style = (files("kernop.serving") / "page" / "live.css").read_text(encoding="utf-8")
    more = "pre{overflow-x:auto;padding:12px;border-radius:10px;background:var(--card);border:1px solid var(--line)}"
    more += "h2{color:var(--ink);font-size:16px;margin-top:26px}li{margin:8px 0}"
    more += "body{max-width:860px}a{color:var(--accent)}"
    brand = '<p class="brand"><span class="mark"></span>kernop</p>'
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)} · kernop</title>'
    view = '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
    return f"{head}{view}<style>{style}{more}</style><body>{brand}<h1>{escape(title)}</h1>{body}</body></html>"
