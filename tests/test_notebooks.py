"""The notebooks of docs/notebooks: their code runs with all that it asserts; they are stored with their outputs."""

import json
from pathlib import Path

import jax
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))
pyplot = pytest.importorskip("matplotlib.pyplot")


def cells(path, kind):
    found = json.loads(path.read_text())["cells"]
    return [cell for cell in found if cell["cell_type"] == kind]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_code_runs(path, recwarn):
    namespace = {"__name__": "notebook"}
    pyplot.switch_backend("Agg")
    try:
        for number, cell in enumerate(cells(path, "code")):
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), namespace)
    finally:
        jax.config.update("jax_enable_x64", False)
        pyplot.close("all")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_stored_with_its_outputs(path):
    code = cells(path, "code")
    assert all(cell["execution_count"] == number + 1 for number, cell in enumerate(code))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert not any(output["output_type"] == "error" or output.get("name") == "stderr" for output in outputs)
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert path.stat().st_size < 200_000


def test_there_are_three():
    assert len(NOTEBOOKS) == 3
