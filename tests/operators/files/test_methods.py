"""Methods in files."""

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentTypeError, FileError, KernopError, fail
from kernop.operators.files import Reader, Writer
from kernop.operators.files.methods import KINDS, read_method, write_method

METHODS = [
    ko.Full(),
    ko.LowRank(),
    ko.LowRank(rank=7, tol=1e-3, block=5, seed=2),
    ko.Subspace(),
    ko.Subspace(30, basis="representers", solver="normal", penalty="rkhs", batch=9),
    ko.Subspace(np.arange(6.0).reshape(3, 2)),
]


def returned(method, dim=2, envelope=None):
    file = Writer()
    write_method(file, method)
    return read_method(Reader(file.header, file.arrays, lambda got: fail(FileError, "path", got, "")), dim, envelope)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_method_comes_back(method):
    found = returned(method)
    assert type(found) is type(method)
    assert repr(found) == repr(method)


def test_every_kind_is_tried():
    assert {kind.type for kind in KINDS.values()} == {type(method) for method in METHODS}


def test_the_envelope_is_given_back():
    envelope = lambda x: x[..., 0]
    assert returned(ko.Subspace(envelope=envelope), envelope=envelope).envelope is envelope


def test_a_method_of_the_user_is_refused():
    class Mine(ko.Full):
        pass

    with pytest.raises(ArgumentTypeError, match=r"method: got .*which cannot be stored"):
        write_method(Writer(), Mine())


@pytest.mark.parametrize(
    "header",
    [
        {"kind": "Subspace"},
        {"kind": "Subspace", "centers": 0, "basis": "translates", "solver": "qr", "penalty": "coefficients"},
        {"kind": "Subspace", "centers": 5, "basis": "splines", "solver": "qr", "penalty": "coefficients"},
        {"kind": "LowRank", "tol": 0.0, "block": 1, "seed": 0},
        {"kind": "Method"},
    ],
)
def test_what_is_no_method_is_refused(header):
    with pytest.raises(KernopError):
        read_method(Reader(header, {}, lambda got: fail(FileError, "path", got, "")), 1, None)
