"""What a figure was measured with."""

import json

import numpy as np

import kernop
from kernop.environment import environment


def test_versions_and_machine():
    found = environment()
    assert found["kernop"] == kernop.__version__
    assert found["numpy"] == np.__version__
    assert found["processors"] >= 1
    assert found["free memory, GiB"] > 0
    assert any("threads" in blas for blas in found["BLAS"])
    assert json.loads(json.dumps(found)) == found


def test_a_package_that_is_missing(monkeypatch):
    monkeypatch.setattr("kernop.environment.PACKAGES", ("no-such-package",))
    assert environment()["no-such-package"] == "not installed"
