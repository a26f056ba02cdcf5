"""The HTTP interface: routes, who may enter, and errors as JSON."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import json
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import numpy as np
from safetensors.numpy import save as write_tensors
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kernop.basics.errors import KernopError
from kernop.operators.operator import SolutionOperator
from kernop.serving.export import script_hashes
from kernop.serving.hosted import Hosted
from kernop.serving.metrics import Metrics
from kernop.serving.reading import BINARY, JSON, Question, parsed, question
from kernop.serving.refusal import Limits, RefusalError, refusal_of, too_much
from kernop.serving.schema import index_page, schema, schema_page
from kernop.serving.together import Together
from kernop.serving.work import Threads
from kernop.serving.writing import as_json, as_tensors

#: Paths that need no token.
OPEN = frozenset({"/health"})
#: The most bytes of all headers of a request.
HEAD = 32 * 2**10
#: On every answer: it is what it says it is, and no other site may show it.
GUARDS = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"}
log = logging.getLogger("kernop.serving")


class Service:
    """Everything behind the routes: the operators, the threads, the counts."""

    def __init__(self, operators: Mapping[str, SolutionOperator], limits: Limits, threads: int | None) -> None:
        self.hosted = {name: Hosted(name, operator) for name, operator in operators.items()}
        self.limits, self.metrics, self.workers = limits, Metrics(), Threads(limits, threads)
        self.together = {name: Together(self.workers, own.answers) for name, own in self.hosted.items()}
        self.schema = schema(self.hosted.values(), limits)
        self.paths: dict[object, str] = {}

    def one(self, request: Request) -> Hosted:
        """The operator that a path names."""
        name = request.path_params["operator"]
        if name not in self.hosted:
            raise RefusalError(404, "operator", repr(name)[:80], f"choose one of {', '.join(self.hosted)}")
        return self.hosted[name]

    async def index(self, request: Request) -> Response:
        """The live page, or a list of them if there are several operators."""
        if len(self.hosted) > 1:
            return _shown(index_page(self.hosted.values()))
        return _shown(await self.workers.run(next(iter(self.hosted.values())).page))

    async def page(self, request: Request) -> Response:
        """The live page of one operator."""
        return _shown(await self.workers.run(self.one(request).page))

    async def docs(self, request: Request) -> Response:
        """The HTTP interface as a page for people."""
        return _shown(schema_page(self.schema))

    async def openapi(self, request: Request) -> Response:
        """The HTTP interface as OpenAPI, for programs."""
        return JSONResponse(self.schema)

    async def health(self, request: Request) -> Response:
        """The state of the server, for whoever watches over it: it answers, and how many operators it has."""
        return JSONResponse({"status": "ok", "operators": len(self.hosted)})

    async def measures(self, request: Request) -> Response:
        """Counts of requests and their times, as text for Prometheus."""
        return PlainTextResponse(self.metrics.text(self.workers.busy))

    async def operators(self, request: Request) -> Response:
        """The names of the operators."""
        return JSONResponse({"operators": list(self.hosted)})

    async def operator(self, request: Request) -> Response:
        """The conditions, inputs, points and report of one operator."""
        return JSONResponse(await self.workers.run(self.one(request).described))

    async def points(self, request: Request) -> Response:
        """The points of a condition."""
        operator, name = self.one(request).operator, request.path_params["condition"]
        if name not in operator.problem.names:
            raise RefusalError(404, "condition", repr(name)[:80], f"choose one of {', '.join(operator.problem.names)}")
        x = operator.points[name].x
        if _accepts(request) == BINARY:
            return Response(write_tensors({"x": np.ascontiguousarray(x)}), media_type=BINARY)
        return Response(await self.workers.run(lambda: json.dumps({"x": x.tolist()})), media_type=JSON)

    async def solve(self, request: Request) -> Response:
        """u, its gradient and its error for the data of a request."""
        hosted, kind = self.one(request), request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in (JSON, BINARY):
            raise RefusalError(415, "Content-Type", repr(kind)[:80], f"send {JSON} or {BINARY} (safetensors)")
        body, binary = await self._body(request), _accepts(request) == BINARY

        def read() -> tuple[Question, bytes | None]:
            given, tensors = parsed(body, kind)
            asked = question(given, tensors, hosted.operator, self.limits)
            return asked, hosted.key(asked)

        asked, key = await self.workers.run(read)
        alone = key is None
        answer = await (self.workers.run(hosted.answer, asked) if alone else self.together[hosted.name].ask(key, asked))
        content = await self.workers.run(as_tensors if binary else as_json, answer)
        self.metrics.solved += answer.facts["inputs"] or 1
        self.metrics.values += sum(own.size for own in answer.values.values())
        return Response(content, media_type=BINARY if binary else JSON)

    async def _body(self, request: Request) -> bytes:
        """The bytes of a request, if they are not too many and come in time."""
        most, length = self.limits.body, request.headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:20]) > most:
            raise too_much("body", int(length[:20]) if length.isdigit() else 0, most, "bytes")
        parts, size = list[bytes](), 0
        try:
            async with asyncio.timeout(self.limits.arriving):
                async for part in request.stream():
                    size += len(part)
                    if size > most:
                        raise too_much("body", size, most, "bytes")
                    parts.append(part)
        except TimeoutError as error:
            got = f"{size} bytes in {self.limits.arriving:g} s, and no end"
            raise RefusalError(408, "body", got, "send it faster", {"Connection": "close"}) from error
        return b"".join(parts)


class Gate:
    """Around all routes: the host and the token, too many requests of one client, errors, counts."""

    def __init__(self, app: ASGIApp, service: Service, token: str | None, hosts: frozenset[str] | None) -> None:
        self.app, self.service, self.token, self.hosts = app, service, token, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        metrics, begun, status = self.service.metrics, time.perf_counter(), [500]

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
                message["headers"] += [(k.lower().encode(), v.encode()) for k, v in GUARDS.items()]
            await send(message)

        metrics.running += 1
        try:
            await self._entered(scope, receive, sending)
        finally:
            metrics.running -= 1
            route = self.service.paths.get(scope.get("endpoint"), "none")
            metrics.served(route, status[0], time.perf_counter() - begun)

    async def _entered(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            self._check(request)
            with self.service.workers.client(request.client.host if request.client else ""):
                await self.app(scope, receive, send)
        except RefusalError as error:
            await refused(error)(scope, receive, send)

    def _check(self, request: Request) -> None:
        size = sum(len(name) + len(value) for name, value in request.headers.raw)
        if size > HEAD:
            raise RefusalError(431, "headers", f"{size} bytes", f"send at most {HEAD}", {"Connection": "close"})
        if self.hosts is not None and request.url.hostname not in self.hosts:
            # A page of another site whose name was made to point here would read what it likes.
            got, remedy = repr(request.headers.get("host"))[:80], f"ask {' or '.join(sorted(self.hosts))}"
            raise RefusalError(421, "Host", got, remedy)
        if self.token is None or request.url.path in OPEN:
            return
        given = _token(request.headers.get("authorization", ""))
        if given is None or not hmac.compare_digest(given.encode(), self.token.encode()):
            got = "none" if given is None else "a wrong one"
            remedy = "send Authorization: Bearer <token>, or the token as the password of HTTP Basic"
            raise RefusalError(401, "token", got, remedy, {"WWW-Authenticate": 'Basic realm="kernop", Bearer'})


def application(
    operators: Mapping[str, SolutionOperator],
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: frozenset[str] | None = None,
    threads: int | None = None,
) -> ASGIApp:
    """The ASGI application that serves operators by name.

    Arguments:
        limits: on sizes and times.
        token: what clients must send; None lets everyone in.
        hosts: the names under which the server may be asked; None for any.
        threads: for the numerical work; one for each core by default.
    """
    service = Service(operators, limits or Limits(), threads)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        yield
        await asyncio.to_thread(service.workers.close)

    one = "/operators/{operator}"
    gets: dict[str, Callable[[Request], Awaitable[Response]]] = {
        "/": service.index,
        "/docs": service.docs,
        "/openapi.json": service.openapi,
        "/health": service.health,
        "/metrics": service.measures,
        "/operators": service.operators,
        one: service.operator,
        f"{one}/page": service.page,
        f"{one}/points/{{condition}}": service.points,
    }
    routes = [Route(path, endpoint) for path, endpoint in gets.items()]
    routes.append(Route(f"{one}/solve", service.solve, methods=["POST"]))
    service.paths |= {route.endpoint: route.path for route in routes}
    handlers = {RefusalError: _refusal, KernopError: _refusal, HTTPException: _refusal, Exception: _failure}
    handlers[ClientDisconnect] = _gone
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)  # pyright: ignore[reportArgumentType]
    return Gate(app, service, token, hosts)


def refused(error: RefusalError) -> Response:
    """A refusal as an answer."""
    return JSONResponse(error.content(), error.status, headers=error.headers)


def _refusal(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        got, remedy = f"{request.method} {request.url.path}"[:120], "see /docs for what there is"
        error = RefusalError(error.status_code, "path", got, remedy, dict(error.headers or {}))
    return refused(refusal_of(error) if isinstance(error, KernopError) else error)  # pyright: ignore[reportArgumentType]


def _failure(request: Request, error: Exception) -> Response:
    """Our own fault: the client learns that, and nothing of the inside."""
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return refused(RefusalError(500, "server", "an error of its own", "report it, with the request"))


def _gone(request: Request, error: Exception) -> Response:
    """The client left before its request was whole: nobody reads this."""
    return Response(status_code=400)


def _shown(page: str) -> HTMLResponse:
    scripts = script_hashes(page) or "'none'"
    policy = f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:"
    return HTMLResponse(page, headers={"Content-Security-Policy": policy})


def _accepts(request: Request) -> str:
    return BINARY if BINARY in request.headers.get("accept", "") else JSON


def _token(header: str) -> str | None:
    """The token of an Authorization header: Bearer, or the password of Basic."""
    kind, _, rest = header.partition(" ")
    if kind.lower() == "bearer":
        return rest.strip()
    if kind.lower() != "basic":
        return None
    try:
        return base64.b64decode(rest, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return None
