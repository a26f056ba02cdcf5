"""A server as a process: it serves the page and the interface, is not held up by the slow, and ends when told to."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import jax
import numpy as np
import pytest
from browser import Browser, chromium

START = """
import sys, time
from functools import partial
import kernop as ko
from kernop.serving import error_table, hosted, reduced
from kernop.serving.refusal import Limits
from kernop.serving.server import serve
reduced.NARROW, reduced.WIDE, error_table.CENTRES = {2: 0.2}, 0.5, {2: 2}
hosted.page = partial(hosted.page, nodes=17, sources=100)
answer = hosted.Hosted.answer
def slowly(self, asked):
    time.sleep(1.0 if asked.count == 3 else 0.0)
    return answer(self, asked)
hosted.Hosted.answer = slowly
serve({"disk": ko.load(sys.argv[1])}, port=int(sys.argv[2]), limits=Limits(arriving=1.0))
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(operator, folder):
    """The port of a server, and its process."""
    path, port = folder / "disk.kernop", free_port()
    operator.save(path)
    kept = {"JAX_COMPILATION_CACHE_DIR": str(jax.config.jax_compilation_cache_dir or "")}  # as in conftest.py
    kept |= {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
    process = subprocess.Popen([sys.executable, "-c", START, str(path), str(port)], env=os.environ | kept)
    try:
        for _ in range(600):
            try:
                assert ask(port, "GET", "/health")[0] == 200
                break
            except OSError:
                assert process.poll() is None
                time.sleep(0.1)
        yield port, process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


@pytest.fixture(scope="module")
def served(operator, tmp_path_factory):
    with running(operator, tmp_path_factory.mktemp("served")) as found:
        yield found


def ask(port, method, path, told=None):
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    link.request(method, path, None if told is None else json.dumps(told), {"content-type": "application/json"})
    found = link.getresponse()
    body = found.read()
    link.close()
    return found.status, body


def asked(count):
    return {"inputs": [{"f": 1.0, "g": 0.0}] * count, "at": {"points": [[0.3, 0.3]]}}


def test_the_slow_are_sent_away_while_others_are_served(served):
    port, _ = served
    head = b"POST /operators/disk/solve HTTP/1.1\r\nhost: localhost\r\n"
    rest = b"content-type: application/json\r\ncontent-length: 1000\r\n\r\n{"
    links = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
    for k, link in enumerate(links):
        link.sendall((b"", head, head + rest)[k % 3])
    begun = time.monotonic()
    assert ask(port, "POST", "/operators/disk/solve", asked(1))[0] == 200
    for k, link in enumerate(links):
        link.settimeout(10)
        said = link.recv(10_000)
        assert said.startswith(b"HTTP/1.1 408") if k % 3 == 2 else said == b""
        link.close()
    assert time.monotonic() - begun < 8


def test_heads_that_are_too_long_are_refused(served):
    port, _ = served
    with socket.create_connection(("127.0.0.1", port)) as link:
        link.sendall(b"GET /health HTTP/1.1\r\nx: " + b"a" * 100_000 + b"\r\n\r\n")
        link.settimeout(10)
        with contextlib.suppress(ConnectionResetError):
            assert link.recv(12).split()[1] in (b"400", b"431")
    assert ask(port, "GET", "/health")[0] == 200


def test_the_loop_answers_while_threads_work(served):
    port, _ = served
    worker = threading.Thread(target=ask, args=(port, "POST", "/operators/disk/solve", asked(3)))
    worker.start()
    time.sleep(0.2)
    begun = time.monotonic()
    assert ask(port, "GET", "/health")[0] == 200
    assert time.monotonic() - begun < 0.7
    worker.join()


@pytest.mark.skipif(chromium() is None, reason="BROWSER TEST SKIPPED: there is no Chromium here")
def test_the_page_runs_under_its_policy(served):
    port, _ = served
    with Browser() as browser:
        browser.open(f"http://127.0.0.1:{port}/", "window.kernop && window.kernop.range")
        browser.settle()
        assert browser.complaints() == []
        assert np.isfinite(browser.run("kernop.value()"))
        assert len(browser.requests()) == 1


def test_sigterm_finishes_what_is_under_way(operator, tmp_path):
    with running(operator, tmp_path) as (port, process):
        stopped(port, process)


def stopped(port, process):
    found = []
    worker = threading.Thread(target=lambda: found.append(ask(port, "POST", "/operators/disk/solve", asked(3))))
    worker.start()
    time.sleep(0.4)
    os.kill(process.pid, signal.SIGTERM)
    worker.join()
    status, body = found[0]
    assert status == 200
    assert len(json.loads(body)["values"]["u"][0]) == 3
    process.wait(20)
    with pytest.raises(OSError, match="refused"):
        ask(port, "GET", "/health")
