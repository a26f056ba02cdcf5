"""Methods in files."""

import numpy as np
import pytest
from through_files import returned

import kernop as ko
from kernop.basics.codec import Decoder, Encoder
from kernop.basics.errors import ArgumentTypeError, FileError, fail
from kernop.basics.stored import KINDS
from kernop.methods import Method

METHODS = [
    ko.Full(),
    ko.Partition(cells=3, degree=9, levels=2),
    ko.LowRank(),
    ko.LowRank(rank=7, tol=1e-3, block=5, seed=2),
    ko.Subspace(),
    ko.Subspace(30, basis="representers", solver="normal", penalty="rkhs", batch=9),
    ko.Subspace(np.arange(6.0).reshape(3, 2)),
]


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_method_comes_back(method):
    found = returned(method, Method)
    assert found == method
    assert type(found) is type(method)
    assert repr(found) == repr(method)


def test_every_kind_is_tried():
    known = {kind for kind in KINDS.values() if isinstance(kind, type) and issubclass(kind, Method)}
    assert known == {type(method) for method in METHODS}


def test_methods_with_other_settings_differ():
    assert ko.Subspace(np.zeros((1, 2))) != ko.Subspace(np.ones((1, 2)))
    assert ko.Subspace(3) != ko.Subspace(4)


def test_a_method_of_the_user_is_refused():
    class Mine(ko.Full):
        pass

    with pytest.raises(ArgumentTypeError, match=r"method: got .*which cannot be stored"):
        Encoder().encode(Mine(), "method", Method)


@pytest.mark.parametrize(
    "header",
    [
        {"class": "Subspace"},
        {"class": "Subspace", "centers": 0, "basis": "translates", "solver": "qr", "penalty": "coefficients"},
        {"class": "Subspace", "centers": 5, "basis": "splines", "solver": "qr", "penalty": "coefficients"},
        {"class": "LowRank", "tol": 0.0, "block": 1, "seed": 0},
        {"class": "Method"},
    ],
)
def test_what_is_no_method_is_refused(header):
    with pytest.raises(FileError, match="whose method"):
        Decoder({}, lambda got: fail(FileError, "path", got, "")).decode(Method, header, "method")
