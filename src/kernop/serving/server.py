"""``kernop serve``: uvicorn around the application, with a clock for requests that never end, and a graceful stop."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import h11
import uvicorn
from threadpoolctl import threadpool_limits
from uvicorn.protocols.http.h11_impl import H11Protocol

from kernop.operators.load import load
from kernop.operators.operator import SolutionOperator
from kernop.serving.app import HEAD, application
from kernop.serving.fleet import fleet
from kernop.serving.refusal import Limits
from kernop.serving.work import cores

#: Open connections, and seconds for which an idle one is kept.
CONNECTIONS, IDLE = 1000, 10


class Punctual(H11Protocol):
    """A connection that is closed if the head of a request does not come in time."""

    arriving = Limits().arriving
    _clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self._clock = self.loop.call_later(self.arriving, self._late)

    def data_received(self, data: bytes) -> None:
        if self._clock is None:
            self._clock = self.loop.call_later(self.arriving, self._late)
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _late(self) -> None:
        self._clock = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.abort()


def server(
    operators: Mapping[str, SolutionOperator],
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    limits: Limits | None = None,
    threads: int | None = None,
) -> uvicorn.Server:
    """A server of operators, not yet running: ``server(…).run()`` ends after SIGTERM or SIGINT.

    It then takes no new request, and finishes those that are under way. Without a token it answers on this machine
    only to names of this machine.
    """
    limits = limits or Limits()
    hosts = frozenset({"localhost", "127.0.0.1", "::1", host}) if token is None and _local(host) else None
    app = application(operators, limits=limits, token=token, hosts=hosts, threads=threads)
    protocol = type("Protocol", (Punctual,), {"arriving": limits.arriving})
    settings: dict[str, Any] = {"host": host, "port": port, "http": protocol, "ws": "none", "lifespan": "on"}
    settings |= {"log_level": "error", "access_log": False, "server_header": False, "proxy_headers": False}
    settings |= {"h11_max_incomplete_event_size": HEAD, "limit_concurrency": CONNECTIONS, "timeout_keep_alive": IDLE}
    return uvicorn.Server(uvicorn.Config(app, timeout_graceful_shutdown=int(limits.seconds) + 1, **settings))


def serve(operators: Mapping[str, SolutionOperator], **settings: Any) -> None:
    """Serve operators until the process is asked to stop; one thread of BLAS for each request."""
    with threadpool_limits(1, user_api="blas"):
        server(operators, **settings).run()


def serve_together(
    files: Mapping[str, Path], workers: int, *, host: str, port: int, threads: int | None, **settings: object
) -> None:
    """Serve the operators of files from several processes, each of which loads them, until asked to stop."""
    each = threads or max(1, cores() // workers)
    job = partial(_serve_at, dict(files), {"host": host, "port": port, "threads": each, **settings})
    fleet(job, workers, host, port)


def _serve_at(files: dict[str, Path], settings: dict[str, Any], listening: socket.socket) -> None:
    operators = {name: load(file) for name, file in files.items()}
    with threadpool_limits(1, user_api="blas"):
        server(operators, **settings).run(sockets=[listening])


def _local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
