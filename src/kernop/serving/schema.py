"""The HTTP interface as data: OpenAPI, and a page of it without scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from typing import Any

from kernop.basics.storage import JsonObject
from kernop.basics.versions import VERSION
from kernop.serving.hosted import Hosted
from kernop.serving.named import KINDS
from kernop.serving.reading import BINARY, JSON, WANTED
from kernop.serving.refusal import Limits

_ERROR = {
    "description": "What was wrong, what came, what to do",
    "content": {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}},
}
_NUMBERS = {"type": "array", "items": {"type": "number"}}


def schema(hosted: Iterable[Hosted], limits: Limits) -> JsonObject:
    """The OpenAPI description of a server of these operators."""
    names = [own.name for own in hosted]
    operator = {"name": "operator", "in": "path", "required": True, "schema": {"type": "string", "enum": names}}
    condition = {"name": "condition", "in": "path", "required": True, "schema": {"type": "string"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kernop",
            "version": VERSION,
            "description": "Learned solution operators of linear PDEs: data in, u out. No code is taken from outside. "
            f"Limits: {limits.body} bytes, {limits.points} points, {limits.inputs} inputs, {limits.values} values in "
            f"an answer, {limits.seconds:g} seconds.",
        },
        "paths": {
            "/operators": {"get": _get("What is served", "A list of operators")},
            "/operators/{operator}": {
                "get": _get("What an operator is: conditions, inputs, points, box, report", "It", [operator], 404)
            },
            "/operators/{operator}/points/{condition}": {
                "get": _get(
                    "Where T wants the data of a condition, if they are given as an array: (n, d)",
                    "The points, as JSON or, if binary is accepted, as safetensors with x",
                    [operator, condition],
                    404,
                )
            },
            "/operators/{operator}/solve": {"post": _solve(operator)},
            "/operators/{operator}/page": {"get": _get("The live page of an operator", "HTML", [operator], 404)},
            "/health": {"get": _get("Is the server alive? Needs no token", "It is")},
            "/metrics": {"get": _get("Counts and times, as text for Prometheus", "Text")},
        },
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _get(summary: str, found: str, parameters: list[Any] | None = None, *errors: int) -> JsonObject:
    answers = {"200": {"description": found}, **{str(code): _ERROR for code in (401, *errors)}}
    return {"summary": summary, "parameters": parameters or [], "responses": answers}


def _solve(operator: JsonObject) -> JsonObject:
    answers = {str(code): _ERROR for code in (400, 401, 404, 408, 413, 415, 422, 429, 503)}
    answers["200"] = {
        "description": "u, its gradient and its error, as they were asked for",
        "content": {
            JSON: {"schema": {"$ref": "#/components/schemas/Answer"}},
            BINARY: {"schema": {"type": "string", "format": "binary"}},
        },
    }
    asked = {
        JSON: {
            "schema": {"$ref": "#/components/schemas/Question"},
            "example": {
                "inputs": {"f": {"kind": "gaussian", "center": [0.4, 0.6], "width": 0.1}, "g": 0.0},
                "at": {"points": [[0.5, 0.5], [0.25, 0.5]]},
                "want": ["u", "gradient", "error"],
            },
        },
        BINARY: {
            "schema": {
                "type": "string",
                "format": "binary",
                "description": "safetensors: float64 or float32 arrays by name, which the question refers to as "
                '{"array": name}, and metadata {"request": the question as JSON}',
            }
        },
    }
    return {
        "summary": "Solve for one input or many, and evaluate at points or on a grid",
        "parameters": [operator],
        "requestBody": {"required": True, "content": asked},
        "responses": dict(sorted(answers.items())),
    }


_ANSWER = {
    "type": "object",
    "properties": {
        "operator": {"type": "string"},
        "inputs": {"type": ["integer", "null"], "description": "B, or null for one input"},
        "shape": {"type": "array", "items": {"type": "integer"}},
        "values": {"type": "object", "description": "u, or each unknown, and 'gradient of u'; null outside"},
        "misfit": {"description": "the part of the data that u leaves at the points of T; a number, or B"},
        "error": {
            "type": "object",
            "description": "relative_l2, relative_linf, l2, linf: estimates, not bounds",
        },
        "warnings": {"type": "array", "items": {"type": "string"}},
    },
}
_REFUSAL = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "status": {"type": "integer"},
                **{key: {"type": "string"} for key in ("argument", "got", "remedy", "message")},
            },
        }
    },
}


def _value() -> JsonObject:
    """The data of one input."""
    functions = [
        {
            "type": "object",
            "required": ["kind", *sorted(wanted)],
            "properties": {"kind": {"const": kind}, **{key: {} for key in sorted(wanted | optional)}},
            "additionalProperties": False,
        }
        for kind, (_, wanted, optional) in KINDS.items()
    ]
    return {
        "description": "Data of one input: a number; values at the points of T, (n,) or (n, B); an array by its name; "
        "a function by its kind; a complex value by its parts",
        "anyOf": [
            {"type": "number"},
            {"type": "array"},
            {"type": "object", "required": ["array"], "properties": {"array": {"type": "string"}}},
            {"type": "object", "required": ["real", "imag"]},
            *functions,
        ],
    }


def _schemas() -> JsonObject:
    inputs = {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Value"}}
    grid = {
        "type": "object",
        "required": ["shape"],
        "properties": {"shape": {"type": "array", "items": {"type": "integer"}}, "lower": _NUMBERS, "upper": _NUMBERS},
    }
    points = {"anyOf": [{"type": "array", "items": _NUMBERS}, {"type": "object", "required": ["array"]}]}
    return {
        "Value": _value(),
        "Question": {
            "type": "object",
            "required": ["inputs"],
            "additionalProperties": False,
            "properties": {
                "inputs": {"anyOf": [inputs, {"type": "array", "items": inputs}]},
                "at": {"type": "object", "properties": {"points": points, "grid": grid}, "maxProperties": 1},
                "want": {"type": "array", "items": {"enum": list(WANTED)}, "default": ["u"]},
                "outside": {
                    "enum": ["raise", "nan"],
                    "description": "nan on a grid, raise at points, unless it is told",
                },
            },
        },
        "Answer": _ANSWER,
        "Error": _REFUSAL,
    }


def schema_page(found: JsonObject) -> str:
    """The description as a page for people."""
    parts = [f"<p>{escape(found['info']['description'])}</p>"]
    for path, methods in found["paths"].items():
        for method, told in methods.items():
            answers = ", ".join(told["responses"])
            parts.append(f"<h2><b>{method.upper()}</b> <code>{escape(path)}</code></h2>")
            parts.append(f"<p>{escape(told['summary'])}.</p>")
            for kind, body in told.get("requestBody", {}).get("content", {}).items():
                parts.append(f"<p>Body, <code>{kind}</code>: {escape(body['schema'].get('description', ''))}</p>")
                if "example" in body:
                    parts.append(f"<pre>{escape(json.dumps(body['example'], indent=2))}</pre>")
            parts.append(f"<p class=muted>Answers: {answers}</p>")
    parts.append("<h2>Schemas</h2>")
    for name, told in found["components"]["schemas"].items():
        parts.append(
            f"<details><summary><code>{name}</code></summary><pre>{escape(json.dumps(told, indent=2))}</pre></details>"
        )
    return html_page("HTTP interface", "\n".join(parts))


def index_page(hosted: Iterable[Hosted]) -> str:
    """The first page of a server of several operators."""
    items: list[str] = []
    for own in hosted:
        told = own.operator.problem
        inputs, outputs = ", ".join(told.inputs), ", ".join(told.unknowns.names)
        link = f'<a href="/operators/{own.name}/page">{escape(own.name)}</a>'
        items.append(
            f"<li><b>{link}</b> <span class=muted>({escape(inputs)}) ↦ {escape(outputs)}, {told.dim}-D</span></li>"
        )
    links = '<p><a href="/docs">HTTP interface</a> · <a href="/openapi.json">openapi.json</a></p>'
    return html_page("Operators", f"<ul>{''.join(items)}</ul>{links}")


def html_page(title: str, body: str) -> str:
    """A page in the style of the live one."""
    style = (files("kernop.serving") / "page" / "live.css").read_text(encoding="utf-8")
    more = "pre{overflow-x:auto;padding:12px;border-radius:10px;background:var(--card);border:1px solid var(--line)}"
    more += (
        "h2{color:var(--ink);font-size:16px;margin-top:26px}li{margin:8px 0}body{max-width:860px}a{color:var(--accent)}"
    )
    brand = '<p class="brand"><span class="mark"></span>kernop</p>'
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)} · kernop</title>'
    view = '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
    return f"{head}{view}<style>{style}{more}</style><body>{brand}<h1>{escape(title)}</h1>{body}</body></html>"
