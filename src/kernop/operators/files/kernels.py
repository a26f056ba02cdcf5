"""Kernels in a file. A new kernel needs an entry in the table below, and nothing else, to be stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.errors import ArgumentTypeError, describe, fail
from kernop.basics.parts import Reader, Writer
from kernop.kernels import CustomKernel, Gaussian, InverseMultiquadric, Kernel, Matern, Wendland
from kernop.kernels.base import Combination, KernelProduct, Multiple, Sum
from kernop.kernels.radial import Radial

#: Kernels smoother than that take longer to set up than anyone waits.
SMOOTHEST = 100


@dataclass(frozen=True)
class Kind:
    """How kernels of a class are written and read."""

    type: type[Kernel]
    write: Callable[[Writer, Any], None]
    read: Callable[[Reader], Kernel]


def write_kernel(file: Writer, kernel: Kernel) -> None:
    """The name of its class, and its numbers."""
    for name, kind in KINDS.items():
        if type(kernel) is kind.type:
            file["kind"] = name
            kind.write(file, kernel)
            return
    why = "is a function, and a file holds no code" if isinstance(kernel, CustomKernel) else "cannot be stored"
    remedy = "learn with one of kernop's kernels, or with a sum, product or multiple of them"
    raise fail(ArgumentTypeError, "kernel", f"{describe(kernel)}, which {why}", remedy)


def read_kernel(file: Reader) -> Kernel:
    """The kernel of that name, with those numbers."""
    return KINDS[file.word("kind", KINDS)].read(file)


def _write_radial(file: Writer, kernel: Radial) -> None:
    file["lengthscale"] = np.asarray(kernel.lengthscale).tolist()


def _lengthscale(file: Reader) -> Any:
    """A number, or one for each axis."""
    several = isinstance(file.value("lengthscale"), list)
    return file.numbers("lengthscale") if several else file.number("lengthscale", above=0.0)


def _write_matern(file: Writer, kernel: Matern) -> None:
    file["nu"] = kernel.nu
    _write_radial(file, kernel)


def _read_matern(file: Reader) -> Matern:
    if file.number("nu", above=0.0) > SMOOTHEST:
        raise file.wrong("nu", f"above {SMOOTHEST}")
    return Matern(file.number("nu"), _lengthscale(file))


def _write_wendland(file: Writer, kernel: Wendland) -> None:
    file["k"] = kernel.k
    _write_radial(file, kernel)


def _write_both(file: Writer, kernel: Combination) -> None:
    write_kernel(file.below("first"), kernel.first)
    write_kernel(file.below("second"), kernel.second)


def _write_multiple(file: Writer, kernel: Multiple) -> None:
    file["factor"] = float(kernel.factor)
    write_kernel(file.below("kernel"), kernel.kernel)


#: Every kind of kernel, by its name in a file.
KINDS: dict[str, Kind] = {
    "Gaussian": Kind(Gaussian, _write_radial, lambda file: Gaussian(_lengthscale(file))),
    "Matern": Kind(Matern, _write_matern, _read_matern),
    "InverseMultiquadric": Kind(
        InverseMultiquadric, _write_radial, lambda file: InverseMultiquadric(_lengthscale(file))
    ),
    "Wendland": Kind(
        Wendland, _write_wendland, lambda file: Wendland(file.integer("k", most=SMOOTHEST), _lengthscale(file))
    ),
    "sum": Kind(Sum, _write_both, lambda file: Sum(*_both(file))),
    "product": Kind(KernelProduct, _write_both, lambda file: KernelProduct(*_both(file))),
    "multiple": Kind(
        Multiple,
        _write_multiple,
        lambda file: Multiple(read_kernel(file.below("kernel")), file.number("factor", above=0.0)),
    ),
}


def _both(file: Reader) -> tuple[Kernel, Kernel]:
    return read_kernel(file.below("first")), read_kernel(file.below("second"))
