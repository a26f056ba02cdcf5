"""Kernels in files: every kind comes back with the same numbers."""

import numpy as np
import pytest
from through_files import returned

import kernop as ko
from kernop.basics.codec import Decoder, Encoder
from kernop.basics.errors import ArgumentTypeError, FileError, fail
from kernop.basics.stored import KINDS
from kernop.kernels import Kernel

KERNELS = [
    ko.Gaussian(1.0 / 3.0),
    ko.Gaussian([0.1, 2.0 / 3.0]),
    ko.Matern(3.5, [1.0, 2.0]),
    ko.InverseMultiquadric(0.7),
    ko.Wendland(2, 1.1),
    ko.Gaussian(0.5) + ko.Matern(1.5, 1.0) + ko.Wendland(1, 2.0),
    ko.Gaussian([1.0, 2.0]) * ko.InverseMultiquadric(1.0),
    0.1 * (ko.Gaussian(1.0) + 2.0 * ko.Matern(2.5, 0.3)),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_kernel_comes_back(kernel):
    found = returned(kernel, Kernel)
    assert found == kernel
    assert found != ko.Gaussian(7.0)
    assert type(found) is type(kernel)
    assert repr(found) == repr(kernel)
    x, y = np.random.default_rng(0).random((2, 5, 2))
    np.testing.assert_array_equal(found(x, y), kernel(x, y))


def test_every_kind_is_tried():
    known = {kind for kind in KINDS.values() if isinstance(kind, type) and issubclass(kind, Kernel)}
    assert known == {type(kernel) for kernel in KERNELS}


@pytest.mark.parametrize("wrap", [lambda k: k, lambda k: k + ko.Gaussian(1.0), lambda k: 2.0 * k])
def test_a_function_is_refused_wherever_it_is(wrap):
    with pytest.raises(ArgumentTypeError, match=r"kernel: got CustomKernel.*and no code"):
        Encoder().encode(wrap(ko.CustomKernel(lambda x, y: 1.0)), "kernel", Kernel)


@pytest.mark.parametrize(
    "header",
    [
        {"class": "Gaussian"},
        {"class": "Gaussian", "lengthscale": 0.0},
        {"class": "Gaussian", "lengthscale": []},
        {"class": "Gaussian", "lengthscale": [[1.0]]},
        {"class": "Gaussian", "lengthscale": "1"},
        {"class": "Matern", "nu": 2.0, "lengthscale": 1.0},
        {"class": "Matern", "nu": 1e15 + 0.5, "lengthscale": 1.0},
        {"class": "Wendland", "k": 10**9, "lengthscale": 1.0},
        {"class": "sum", "first": {"class": "Gaussian", "lengthscale": 1.0}},
        {"class": "multiple", "factor": -1.0, "kernel": {"class": "Gaussian", "lengthscale": 1.0}},
        {"class": "CustomKernel", "function": "lambda x, y: 1"},
    ],
)
def test_what_is_no_kernel_is_refused(header):
    with pytest.raises(FileError, match="whose kernel"):
        Decoder({}, lambda got: fail(FileError, "path", got, "")).decode(Kernel, header, "kernel")
