"""``kernop serve`` on loopback: requests per second beside bare T.on, and ten thousand requests that mean no good.

The server is a process of its own; the clients are threads of this one, on the same machine. Where other work runs too,
the processor time that the server takes for a request is the figure to look at.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from common import console, save, table
from safetensors.numpy import load as read_tensors
from safetensors.numpy import save as tensors
from threadpoolctl import threadpool_limits

import kernop as ko
from kernop.paper.darcy import darcy_problem, exponential

#: Seconds of each measurement, bad requests, threads that send them, connections that are held open.
SECONDS, BAD, SENDERS, HELD = 4.0, 10_000, 16, 200
CLIENTS = (1, 8, 32)
PATH = "/operators/darcy/solve"
JSON, BINARY = "application/json", "application/octet-stream"


@contextmanager
def served(path: Path, port: int) -> Generator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "kernop", "serve", str(path), "--port", str(port), "--body", "4000000"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        while True:
            with contextlib.suppress(OSError):
                if asked(port, "GET", "/health")[0] == 200:
                    break
            assert process.poll() is None
            time.sleep(0.2)
        yield process
    finally:
        process.terminate()
        process.wait(60)


def asked(port: int, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        link.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        found = link.getresponse()
        return found.status, found.read()
    finally:
        link.close()


def resident(process: subprocess.Popen[bytes]) -> float:
    """MB of the server."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def processor(process: subprocess.Popen[bytes]) -> float:
    """Seconds that the server has computed."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(port: int, clients: int, body: bytes, kind: str) -> list[float]:
    """Seconds of each request of some clients, each of which asks as soon as it is answered."""
    times: list[float] = []
    ends = time.perf_counter() + SECONDS

    def client() -> None:
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        while time.perf_counter() < ends:
            begun = time.perf_counter()
            link.request("POST", PATH, body, {"Content-Type": kind, "Accept": kind})
            found = link.getresponse()
            found.read()
            assert found.status == 200
            times.append(time.perf_counter() - begun)
        link.close()

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


def bare(job: Callable[[], object]) -> list[float]:
    """Seconds of each call in this process, with one thread of BLAS as the server has."""
    times: list[float] = []
    ends = time.perf_counter() + SECONDS / 2
    with threadpool_limits(1, user_api="blas"):
        while time.perf_counter() < ends:
            begun = time.perf_counter()
            job()
            times.append(time.perf_counter() - begun)
    return times


def speed(operator: ko.SolutionOperator, port: int, process: subprocess.Popen[bytes]) -> list[dict[str, object]]:
    rng, x = np.random.default_rng(0), operator.points["f"].x
    few, h = rng.random((100, 2)), np.sin(3.0 * x[:, 0]) * x[:, 1]
    grid = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, 61)], indexing="ij"), axis=-1).reshape(-1, 2)
    source = {"kind": "gaussian", "center": [0.4, 0.6], "width": 0.2}

    def gaussian(x: np.ndarray) -> np.ndarray:
        return np.exp(-np.sum((x - np.array([0.4, 0.6])) ** 2, axis=-1) / 0.08)

    points = json.dumps({"inputs": {"f": source, "g": 0.0}, "at": {"points": few.tolist()}}).encode()
    told = json.dumps({"inputs": {"f": {"array": "f"}, "g": 0.0}, "at": {"grid": {"shape": [61, 61]}}})
    one, many = tensors({"f": h}, {"request": told}), tensors({"f": np.outer(h, np.ones(100))}, {"request": told})
    S, G = operator.on(few), operator.on(grid)
    columns = np.outer(h, np.ones(100))
    cases = {
        "a named source at 100 points, JSON": (points, JSON, lambda: S(f=gaussian, g=0.0), 1),
        "an array onto a 61 × 61 grid, binary": (one, BINARY, lambda: G(f=h, g=0.0), 1),
        "100 arrays onto a 61 × 61 grid, binary": (many, BINARY, lambda: G(f=columns, g=0.0), 100),
    }
    rows: list[dict[str, object]] = []
    for name, (body, kind, job, inputs) in cases.items():
        for _ in range(3):
            status, answer = asked(port, "POST", PATH, body, content_type=kind, accept=kind)
            assert status == 200, answer[:300]
        shown = np.array(json.loads(answer)["values"]["u"]) if kind == JSON else read_tensors(answer)["u"]
        assert np.allclose(shown.ravel(), np.asarray(job()).ravel(), rtol=1e-9, atol=1e-14)
        for clients in (0, *CLIENTS):
            started, begun = time.perf_counter(), processor(process) if clients else time.process_time()
            times = load(port, clients, body, kind) if clients else bare(job)
            computed = (processor(process) if clients else time.process_time()) - begun
            seconds, ms = time.perf_counter() - started, 1e3 * np.percentile(times, [50, 99])
            who = f"{clients} client{'s'[: clients > 1]}" if clients else "bare T.on"
            rows.append({"what": name, "who": who, "per second": len(times) / seconds, "p50": ms[0], "p99": ms[1],
                         "inputs per second": inputs * len(times) / seconds,
                         "processor": 1e3 * computed / len(times)})  # fmt: skip
    return rows


def bad_requests(n: int) -> dict[str, Callable[[random.Random], bytes]]:
    """Raw requests that must be refused, by kind."""
    head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {{}}\r\nContent-Length: {{}}\r\n{{}}\r\n"
    at = b'"at": {"points": [[0.5, 0.5]]}'

    def post(body: bytes, kind: str = JSON, length: int | None = None, more: str = "") -> bytes:
        return head.format(kind, len(body) if length is None else length, more).encode() + body

    def inputs(f: bytes) -> bytes:
        return post(b'{"inputs": {"f": ' + f + b', "g": 0}, ' + at + b"}")

    def noise(rng: random.Random) -> bytes:
        return rng.randbytes(rng.randrange(1, 2000))

    return {
        "no HTTP": lambda rng: noise(rng) + b"\r\n\r\n",
        "no JSON": lambda rng: post(noise(rng)),
        "deep JSON": lambda rng: post(b'{"inputs": ' * rng.randrange(1000, 20_000)),
        "NaN and infinity": lambda rng: inputs(rng.choice([b"NaN", b"Infinity", b"1e999", b"1e300"])),
        "wrong shapes": lambda rng: inputs(json.dumps([1.0] * rng.randrange(0, n)).encode()),
        "wrong kinds": lambda rng: inputs(rng.choice([b'"x"', b"null", b"true", b"{}", b'{"kind": "eval"}', b"[[]]"])),
        "points outside": lambda rng: post(b'{"inputs": {"f": 1, "g": 0}, "at": {"points": [[2, 3]]}}'),
        "endless grids": lambda rng: post(b'{"inputs": {"f": 1, "g": 0}, "at": {"grid": {"shape": [99999, 99999]}}}'),
        "integers in binary": lambda rng: post(
            tensors({"f": np.ones(n, dtype=np.int32)}, {"request": '{"inputs": {"f": {"array": "f"}, "g": 0}}'}), BINARY
        ),
        "damaged binary": lambda rng: post(noise(rng), BINARY),
        "said to be huge": lambda rng: post(b"{", length=10 ** rng.randrange(7, 30)),
        "a body cut short": lambda rng: post(b'{"inputs"', length=500),
        "a long head": lambda rng: post(b"{}", more="x: " + "a" * rng.randrange(40_000, 80_000) + "\r\n"),
    }


def sent(port: int, raw: bytes, cut: bool) -> str:
    """The status of the answer to a raw request; "closed" if there is none."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as link:
            link.sendall(raw)
            if cut:
                link.shutdown(socket.SHUT_WR)
            said = link.recv(2000)
    except OSError:
        return "closed"
    return said[9:12].decode() if said.startswith(b"HTTP/1.1 ") else "closed"


class Witness(threading.Thread):
    """A client that means well, all the while: its answers, and how long they took."""

    def __init__(self, port: int, body: bytes, truth: np.ndarray) -> None:
        super().__init__()
        self.port, self.body, self.truth = port, body, truth
        self.over, self.times, self.wrong = threading.Event(), list[float](), 0

    def run(self) -> None:
        """Ask again and again until it is over."""
        while not self.over.wait(0.01):
            begun = time.perf_counter()
            status, answer = asked(self.port, "POST", PATH, self.body, content_type=JSON)
            self.times.append(time.perf_counter() - begun)
            right = status == 200 and np.allclose(json.loads(answer)["values"]["u"], self.truth, rtol=1e-9)
            self.wrong += not right


def abuse(operator: ko.SolutionOperator, port: int, process: subprocess.Popen[bytes]) -> dict[str, object]:
    kinds = bad_requests(operator.points["f"].x.shape[0])
    x = [[0.3, 0.4], [0.6, 0.2]]
    body = json.dumps({"inputs": {"f": 1.0, "g": 0.0}, "at": {"points": x}}).encode()
    for _ in range(3):
        asked(port, "POST", PATH, body, content_type=JSON)
    counts: Counter[tuple[str, str]] = Counter()

    def sender(seed: int, number: int) -> None:
        rng = random.Random(seed)
        for _ in range(number):
            kind = rng.choice(list(kinds))
            counts[kind, sent(port, kinds[kind](rng), kind == "a body cut short")] += 1

    def wave(number: int) -> None:
        threads = [threading.Thread(target=sender, args=(k, number // SENDERS)) for k in range(SENDERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    wave(BAD // 5)  # what is allocated once is allocated now
    counts.clear()
    before, begun = resident(process), time.perf_counter()
    witness = Witness(port, body, operator.answer({"f": 1.0, "g": 0.0})(x))
    witness.start()
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(HELD)]
    for k, link in enumerate(held):
        link.sendall(b"POST /operators HTTP/1.1\r\n" if k % 2 else b"G")
    wave(BAD)
    seconds, after = time.perf_counter() - begun, resident(process)
    witness.over.set()
    witness.join()
    time.sleep(max(0.0, 11.0 - seconds))
    closed = sum(_closed(link) for link in held)
    statuses: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    for (kind, status), count in counts.items():
        statuses[kind][status] += count
    return {
        "requests": sum(counts.values()),
        "seconds": seconds,
        "statuses": statuses,
        "answered 2xx or 500": sum(n for (_, status), n in counts.items() if status[0] == "2" or status == "500"),
        "server alive": process.poll() is None,
        "resident before, MB": before,
        "resident after, MB": after,
        "answers to the witness": len(witness.times),
        "wrong or refused": witness.wrong,
        "its p50, p99 in ms": (1e3 * np.percentile(witness.times, [50, 99])).round(1).tolist(),
        "slow connections held, closed by the server": [HELD, closed],
    }


def _closed(link: socket.socket) -> bool:
    link.settimeout(0.2)
    try:
        return link.recv(10) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    finally:
        link.close()


def main() -> None:
    operator = ko.learn(darcy_problem(exponential), tol=1e-8, method=ko.Subspace())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "darcy.kernop"
        operator.save(path)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with served(path, port) as process:
            rows = speed(operator, port, process)
            found = abuse(operator, port, process)
    table(
        f"Darcy a2, {operator.n_points} points, {len(operator.factorisation.expansion)} functions, on loopback",
        ("", "", "requests / s", "inputs / s", "p50, ms", "p99, ms", "processor, ms a request"),
        [
            (
                str(r["what"]),
                str(r["who"]),
                *(f"{r[k]:.0f}" for k in ("per second", "inputs per second")),
                *(f"{r[k]:.2f}" for k in ("p50", "p99", "processor")),
            )
            for r in rows
        ],
    )
    statuses = found.pop("statuses")
    assert isinstance(statuses, dict)
    shown = [(kind, ", ".join(f"{s} × {n}" for s, n in sorted(own.items()))) for kind, own in statuses.items()]
    table("Requests that mean no good", ("kind", "answers"), shown)
    for name, value in found.items():
        console.print(f"{name}: {value:.1f}" if isinstance(value, float) else f"{name}: {value}")
    save("serve", {"speed": rows, "abuse": found, "statuses": {k: dict(v) for k, v in statuses.items()}})
    assert found["server alive"]
    assert found["wrong or refused"] == 0
    assert found["answered 2xx or 500"] == 0


if __name__ == "__main__":
    main()
