"""A few hundred damaged and rewritten files; ``benchmarks/fuzz_files.py`` makes ten thousand by the same rules."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def fuzz():
    sys.path.insert(0, str(FOLDER))  # for what the benchmarks share
    try:
        spec = importlib.util.spec_from_file_location("fuzz_files", FOLDER / "fuzz_files.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["fuzz_files"] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


WAYS = ["cut", "bits flipped", "bytes inserted", "bytes deleted", "sizes in the table"]
WAYS += [f"{what} edited, fresh digest" for what in ("header", "array", "text of the header", "comment")]


@pytest.mark.parametrize("name", ["QR, updated twice", "polynomials", "stream", "disk, parts, sum of kernels"])
@pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")
def test_a_mutated_file_is_refused_or_harmless(fuzz, made, path, name):
    assert list(fuzz.WAYS) == WAYS
    operator, inputs = made(name).operator, made(name).inputs

    def ask(found):
        u = found(**inputs)
        return [u.coefficients, u.residual("f", operator.points["f"])]

    operator.save(path)
    case, rng = fuzz.Case(path.read_bytes(), ask, ask(operator)), np.random.default_rng(7)
    for _ in range(12):
        for way, change in fuzz.WAYS.items():
            path.write_bytes(change(rng, case.contents))
            found = fuzz.outcome(case, path)
            assert fuzz.good(found), (way, found)
            assert found == "same answers" or way != "comment edited, fresh digest"


@pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")
def test_the_judge_is_not_blind(fuzz, made, path):
    """Another operator behind a right digest is seen to give other answers."""
    operator = made("QR").operator
    operator.save(path)
    case = fuzz.Case(path.read_bytes(), lambda T: [T(f=1.0).coefficients], [operator(f=1.0).coefficients])
    header, arrays = fuzz.unpacked(case.contents)
    arrays["factorisation/roots"] *= 1.5
    path.write_bytes(fuzz.packed(fuzz.json.dumps(header), arrays))
    assert fuzz.outcome(case, path) == "OTHER ANSWERS"
    assert not fuzz.good("OTHER ANSWERS")
