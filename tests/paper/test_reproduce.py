"""`kernop reproduce`: rows, files and tables. The experiments themselves are tested beside this file."""

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from kernop.paper import poisson3d, reproduce
from kernop.paper.experiment import Reported
from kernop.paper.reproduce import CHAPTERS, Chapter, Figures, GreenRow, Request, Row, write_json
from kernop.paper.tables import tables


@pytest.fixture(scope="module")
def chapter(tmp_path_factory):
    """Table 3 of the paper: 2000 points, the quickest in the plane."""
    order = Request(tmp_path_factory.mktemp("paper"))
    return order, CHAPTERS["schrodinger"](order)


def shown(chapters):
    text = StringIO()
    console = Console(file=text, width=160)
    for table in tables(chapters):
        console.print(table)
    return text.getvalue()


def test_every_table_and_figure_has_a_chapter():
    wanted = "darcy darcy-rough helmholtz helmholtz-smooth schrodinger heat poisson3d"
    assert list(CHAPTERS) == wanted.split()


def test_a_row_has_the_paper_s_settings_and_both_ways(chapter):
    (row,) = chapter[1].rows
    assert (row.experiment, row.points, row.eta, row.regularization) == ("Schrödinger", 2000, 0.08, 3e-3)
    assert row.paper == Reported(0.210, 4.549e-2, 7.480e-2)
    assert 0.2 < row.estimator.l2 / row.paper.l2 < 5.0
    assert row.default.l2 < 1e-4 * row.paper.l2
    assert row.estimator.learn > 0.0
    assert row.default.apply > 0.0


def test_figures_are_drawn(chapter):
    order, found = chapter
    assert [path.name for path in found.figures] == ["schrodinger-potential.png", "schrodinger.png"]
    assert all(path.parent == order.out and path.stat().st_size > 10_000 for path in found.figures)


def test_json_has_all_figures_and_the_machine(chapter):
    order, found = chapter
    content = json.loads(write_json(found, order).read_text())
    (row,) = content["rows"]
    assert row["paper"] == {"seconds": 0.210, "l2": 4.549e-2, "linf": 7.480e-2}
    assert row["default"]["l2"] == found.rows[0].default.l2
    assert content["about"]["processors"] >= 1
    assert content["figures"] == ["schrodinger-potential.png", "schrodinger.png"]
    assert content["seed"] == 0


def test_rough_data_is_measured_against_the_reference(tmp_path):
    found = CHAPTERS["darcy-rough"](Request(tmp_path))
    errors = found.more["errors"]
    assert errors["kernop by default"]["l2"] < 0.1 * errors["the paper's estimator"]["l2"]
    assert "8.7e-2" in shown([found])


def test_the_table_of_rows():
    row = Row(
        experiment="heat",
        points=5000,
        eta=0.08,
        regularization=1e-5,
        paper=Reported(3.61, 1.9e-3, 4e-3),
        estimator=Figures(1.0, 0.5, 2.4e-3, 5e-3),
        default=Figures(0.2, 0.1, 6.6e-10, 4e-9),
        compile=1.0,
    )
    text = shown([Chapter("heat", [row], [], {})])
    ours = ("1.00 + 0.50 s  2.4e-3", "0.20 + 0.10 s 6.6e-10")
    for word in ("heat", "5000 0.08 1.0e-5", "3.61 s  1.9e-3", *ours, "1.26", "3e+06"):
        assert word in text


def test_the_table_of_the_green_operator():
    paper = Reported(0.72 * 3600, 2.1e-2, 4.1e-2)
    rows = [
        GreenRow(experiment="Helmholtz 20", way=way, paper=paper, train=1.5, l2=2.5e-2, linf=8.7e-2, inside=1.6e-2)
        for way in ("500 epochs", "exact minimum")
    ]
    text = shown([Chapter("helmholtz", rows, [], {})])
    assert text.count("0.72 h") == 1
    assert text.count("1.50 s  2.5e-2  8.7e-2") == 2


def test_poisson3d_reads_what_was_computed(tmp_path, monkeypatch):
    monkeypatch.setattr(reproduce.poisson3d.Study, "errors", lambda *_: pytest.fail("computed again"))
    folder = tmp_path / "poisson3d"
    folder.mkdir()
    sizes = list(poisson3d.small("paper").sizes)
    for estimator, labels in (("paper", ("fixed", "adaptive")), ("default", ("default",))):
        law = {"l2": (np.asarray(sizes) ** -0.5).tolist(), "linf": (np.asarray(sizes) ** -0.25).tolist()}
        content = {"sizes": sizes, "seconds": 7.0, "errors": dict.fromkeys(labels, law)}
        for k in range(2):
            (folder / f"poisson3d-{estimator}-1000-{k}.json").write_text(json.dumps(content))
    found = CHAPTERS["poisson3d"](Request(tmp_path, quick=True))
    assert [path.name for path in found.figures] == [f"poisson3d-{k}.png" for k in ("fixed", "adaptive", "default")]
    text = shown([found])
    for word in ("0.50", "0.25", "0.38", "0.56", "7 s", "2 data sets"):
        assert word in text


def test_committed_results_of_the_full_study():
    """Slopes near the paper's, and a default that is a thousand times more accurate, in what the repository carries."""
    folder = Path(__file__).parents[2] / "docs" / "results" / "poisson3d"
    found = {
        e: poisson3d.summarised(list(poisson3d.run(poisson3d.Study(e), 5, folder, lambda _: None)))
        for e in ("paper", "default")
    }
    lines = found["paper"]["lines"]
    for label, slopes in poisson3d.PAPER_SLOPES.items():
        for norm, slope in zip(("l2", "linf"), slopes, strict=True):
            assert abs(lines[f"{label} {norm}"]["slope"] - slope) < 0.1
    assert lines["fixed l2"]["mean"][0] > 1e3 * found["default"]["lines"]["default l2"]["mean"][0]
