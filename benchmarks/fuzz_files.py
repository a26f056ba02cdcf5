"""Files of operators, damaged and rewritten at random: each loads to the same answers, or is refused by kernop.errors.

Bytes are cut, flipped, inserted and deleted; and headers and arrays are edited and given a fresh digest, as someone
would do on purpose. For every file: outcome, seconds, and the peak of memory that Python and NumPy allocate.

``python benchmarks/fuzz_files.py [number] [seed]``
"""

from __future__ import annotations

import json
import struct
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from common import console, save, table

import kernop as ko
from kernop.basics import storage
from kernop.basics.errors import KernopError

#: Seconds, and bytes beyond a few times the size of the file, after which a file counts as a hang or as a bomb.
LONGEST, ROOM, TIMES = 5.0, 4e6, 6


@dataclass(frozen=True)
class Case:
    """A file, what is asked of the operator in it, and the answers."""

    contents: bytes
    ask: Callable[[ko.SolutionOperator], Any]
    answers: Any


def cases(folder: Path) -> dict[str, Case]:
    """Small operators of every kind."""
    line, disk = ko.Interval(0.0, 1.0), ko.Ball([0.0, 0.0], 1.0)
    poisson = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) + (lambda x: jnp.exp(x[..., 0])) * u, on=line, name="f"),
        ko.Dirichlet(on=line.boundary, name="g", data=lambda x: x[..., 0]),
    )
    held = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=line, name="f"))
    round_ = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=disk, name="f"),
        ko.Neumann(on=disk.boundary.where(lambda x: x[..., 0] < 0), name="q", data=0.5),
        ko.Robin(1.0, 2.0, on=disk.boundary.where(lambda x: x[..., 0] >= 0), name="r", data=0.0),
    )
    smooth = {"kernel": ko.Gaussian(0.5), "regularization": 1e-8}
    mixed = {"kernel": ko.Gaussian([1.0, 0.8]) + 0.5 * (ko.Matern(4.5, 1.0) * ko.Wendland(3, 3.0))}

    def rho(x: Any) -> Any:
        return x[..., 0] * (1.0 - x[..., 0])

    qr = ko.learn(poisson, points=60, method=ko.Subspace(24))  # 21 translates, 3 polynomials
    stream = ko.learn(poisson, points=40, method=ko.Subspace(16, batch=15), inputs=[(1.0,)])
    learned = {
        "Full": ko.learn(poisson, points=30, method=ko.Full(), **smooth),
        "LowRank": ko.learn(poisson, points=40, method=ko.LowRank(), **smooth),
        "QR, updated": qr.update({"f": [[0.35]]}).update({"f": [[0.65], [0.15]]}),
        "polynomials": ko.learn(poisson, points=40, method=ko.Subspace(10, basis="polynomials")),
        "normal equations": ko.learn(poisson, points=40, method=ko.Subspace(10, solver="normal")),
        "to a tolerance": ko.learn(poisson, tol=1e-3),
        "stream": stream,
        "stream, materialised": stream.materialize(),
        "envelope": ko.learn(held, points=40, method=ko.Subspace(10, envelope=rho)),
        "disk, parts, sum of kernels": ko.learn(round_, points=60, method=ko.Full(), regularization=1e-6, **mixed),
    }
    return {name: _case(T, folder / "good.kernop", name == "envelope") for name, T in learned.items()}


def _case(operator: ko.SolutionOperator, path: Path, envelope: bool) -> Case:
    inner = operator.points["f"]

    def ask(found: ko.SolutionOperator) -> Any:
        u = found(f=1.0)
        values = [] if envelope else [u(inner.x[:7] * 0.9), u.grad(inner.x[:7])]
        return [u.coefficients, *values, u.residual("f", inner)]

    operator.save(path)
    return Case(path.read_bytes(), ask, ask(operator))


# Damage: the digest does not know of it.


def cut(rng: np.random.Generator, data: bytes) -> bytes:
    return data[: rng.integers(len(data))]


def flipped(rng: np.random.Generator, data: bytes) -> bytes:
    changed = bytearray(data)
    for place in rng.integers(len(data), size=rng.integers(1, 5)):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def inserted(rng: np.random.Generator, data: bytes) -> bytes:
    place = int(rng.integers(len(data) + 1))
    return data[:place] + rng.bytes(int(rng.integers(1, 40))) + data[place:]


def deleted(rng: np.random.Generator, data: bytes) -> bytes:
    place = int(rng.integers(len(data)))
    return data[:place] + data[place + int(rng.integers(1, 40)) :]


def resized(rng: np.random.Generator, data: bytes) -> bytes:
    """Another length of the table of arrays, or another length of an array in it."""
    if rng.random() < 0.5:
        return struct.pack("<Q", int(rng.integers(2 ** int(rng.integers(1, 63))))) + data[8:]
    size = struct.unpack("<Q", data[:8])[0]
    contents = json.loads(data[8 : 8 + size])
    entry = contents[rng.choice([name for name in contents if name != "__metadata__"])]
    place = int(rng.integers(len(entry["data_offsets"])))
    entry[("shape", "data_offsets")[int(rng.integers(2))]][place - 1 :] = [int(2 ** rng.integers(1, 62))]
    text = json.dumps(contents).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + size :]


# Rewriting: a fresh digest, and contents that do not fit each other.

Contents = tuple[Any, dict[str, Any]]
DEEP = "[" * 5000 + "]" * 5000


def unpacked(data: bytes) -> Contents:
    """Header and arrays."""
    size = struct.unpack("<Q", data[:8])[0]
    contents, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    header = json.loads(contents.pop("__metadata__")["header"])
    kinds = {"F64": np.float64, "I64": np.int64}
    return header, {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], kinds[entry["dtype"]]).reshape(entry["shape"]).copy()
        for name, entry in contents.items()
    }


def packed(text: str, arrays: dict[str, Any]) -> bytes:
    """A file with a right digest."""
    about = {"program": "kernop", "kind": "operator", "version": str(storage.VERSION), "header": text}
    about["sha256"] = storage._digest(about, arrays)  # pyright: ignore[reportPrivateUsage]
    names = {"float64": "F64", "int64": "I64", "float32": "F32", "uint8": "U8"}
    contents: dict[str, Any] = {"__metadata__": about}
    body = b""
    for name, array in arrays.items():
        piece = np.ascontiguousarray(array).tobytes()
        place = [len(body), len(body) + len(piece)]
        contents[name] = {"dtype": names[str(array.dtype)], "shape": list(array.shape), "data_offsets": place}
        body += piece
    head = json.dumps(contents).encode()
    return struct.pack("<Q", len(head)) + head + body


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a header, objects and lists included."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, part in inner for found in leaves(part, (*path, key)))]


def edited_header(rng: np.random.Generator, data: bytes) -> bytes:
    """A value of a wrong type, out of range, unknown, missing, NaN, or nested deeply."""
    header, arrays = unpacked(data)
    paths = leaves(header)[1:]
    path = paths[int(rng.integers(len(paths)))]
    holder = header
    for key in path[:-1]:
        holder = holder[key]
    old = holder[path[-1]]
    wrong: list[Any] = [[], {}, "no such word", ["a"], {"a": 1}, "@NAN", "@DEEP", "@HUGE", "@INF", [[[]]]]
    wrong += [10**30, -(10**30), 2**62] if isinstance(old, int) and not isinstance(old, bool) else []
    wrong += [True, 1.5] if not isinstance(old, int | float) else []
    choice = int(rng.integers(len(wrong) + 1))
    if choice == len(wrong):
        del holder[path[-1]]
    else:
        holder[path[-1]] = wrong[choice]
    text = json.dumps(header)
    for mark, instead in {"@NAN": "NaN", "@DEEP": DEEP, "@HUGE": "9" * 5000, "@INF": "1e999"}.items():
        text = text.replace(f'"{mark}"', instead)
    return packed(text, arrays)


def edited_array(rng: np.random.Generator, data: bytes) -> bytes:
    """An array that is missing, of another size or type, or with values that it cannot have; or one too many."""
    header, arrays = unpacked(data)
    name = sorted(arrays)[int(rng.integers(len(arrays)))]
    array = arrays[name]
    way = int(rng.integers(7))
    if way == 0:
        del arrays[name]
    elif way == 1:
        arrays[name + "x"] = arrays.pop(name)
    elif way == 2:
        arrays["another"] = np.zeros(3)
    elif way == 3:
        arrays[name] = array[: int(rng.integers(len(array)))]
    elif way == 4:
        arrays[name] = array[None] if rng.random() < 0.5 else np.concatenate([array, array])
    elif way == 5:
        arrays[name] = array.astype(np.float32 if rng.random() < 0.5 else np.uint8)
    else:
        bad = [np.nan, np.inf, -np.inf] if array.dtype == np.float64 else [-1, 2**40, -(2**63)]
        array.reshape(-1)[int(rng.integers(array.size))] = bad[int(rng.integers(3))]
    return packed(json.dumps(header), arrays)


def edited_comment(rng: np.random.Generator, data: bytes) -> bytes:
    """What only a person reads: this must load."""
    header, arrays = unpacked(data)
    header[str(rng.choice(["note", "β", "comment"]))] = {"by": "someone", "n": int(rng.integers(100))}
    header["about"]["written"]["when"] = f"day {rng.integers(1000)}"
    return packed(json.dumps(header), arrays)


def edited_text(rng: np.random.Generator, data: bytes) -> bytes:
    """Signs set into the text of the header before the digest is made."""
    header, arrays = unpacked(data)
    text = json.dumps(header)
    place = int(rng.integers(len(text)))
    signs = rng.choice(list('{}[],:"x\\ '), size=int(rng.integers(1, 4)))
    return packed(text[:place] + "".join(signs) + text[place:], arrays)


WAYS: dict[str, Callable[[np.random.Generator, bytes], bytes]] = {
    "cut": cut,
    "bits flipped": flipped,
    "bytes inserted": inserted,
    "bytes deleted": deleted,
    "sizes in the table": resized,
    "header edited, fresh digest": edited_header,
    "array edited, fresh digest": edited_array,
    "text of the header edited, fresh digest": edited_text,
    "comment edited, fresh digest": edited_comment,
}


def outcome(case: Case, path: Path) -> str:
    """The class of the error, "same answers", or what went wrong."""
    try:
        found = case.ask(ko.load(path))
    except KernopError as error:
        return type(error).__name__
    except BaseException as error:
        return f"CRASH {type(error).__name__}: {error}"
    same = all(np.array_equal(a, b) for a, b in zip(found, case.answers, strict=True))
    return "same answers" if same else "OTHER ANSWERS"


def good(found: str) -> bool:
    return not found.startswith(("CRASH", "OTHER", "SLOW", "LARGE"))


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    rng = np.random.default_rng(seed)
    counts: dict[str, Counter[str]] = {way: Counter() for way in WAYS}
    slowest, largest = 0.0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        known, path = cases(Path(folder)), Path(folder) / "file.kernop"
        for case in known.values():  # compiles
            path.write_bytes(case.contents)
            assert outcome(case, path) == "same answers"
        tracemalloc.start()
        for k in range(number):
            way, (name, case) = list(WAYS)[k % len(WAYS)], list(known.items())[int(rng.integers(len(known)))]
            changed = WAYS[way](rng, case.contents)
            path.write_bytes(changed)
            tracemalloc.reset_peak()
            before, started = tracemalloc.get_traced_memory()[0], time.perf_counter()
            found = outcome(case, path)
            seconds, peak = time.perf_counter() - started, tracemalloc.get_traced_memory()[1] - before
            slowest, largest = max(slowest, seconds), max(largest, peak)
            if seconds > LONGEST:
                found = f"SLOW {seconds:.1f} s"
            if peak > ROOM + TIMES * len(changed):
                found = f"LARGE {peak / 1e6:.1f} MB"
            counts[way][found] += 1
            if not good(found):
                kept = Path("out") / f"fuzz-{k}.kernop"
                kept.parent.mkdir(exist_ok=True)
                kept.write_bytes(changed)
                console.print(f"{name}, {way}: {found} ({kept})", markup=False)
    kinds = sorted({kind for found in counts.values() for kind in found})
    rows = [[way, *(str(found[kind] or "") for kind in kinds)] for way, found in counts.items()]
    table(f"{number} files, seed {seed}", ["", *kinds], rows)
    bad = sum(n for found in counts.values() for kind, n in found.items() if not good(kind))
    console.print(f"slowest {slowest:.2f} s, largest peak {largest / 1e6:.1f} MB; {bad} that should not be")
    save("fuzz_files", {"outcomes": counts, "slowest, s": slowest, "largest peak, bytes": largest, "bad": bad})
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
