"""The command line."""

import dataclasses
import runpy

import pytest
from rich.table import Table

import kernop as ko
import kernop.cli as cli
from kernop.paper import darcy


def small(case, *, seed=0):
    return dataclasses.replace(darcy(case, nets=5, seed=seed), points={"f": 200, "g": 100})


def test_demo_prints_the_table_draws_the_figure_and_opens_the_page_if_asked(tmp_path, capsys, monkeypatch):
    opened = []
    monkeypatch.setattr(cli, "darcy", small)
    monkeypatch.setattr(cli.webbrowser, "open", opened.append)
    monkeypatch.setattr(cli, "write_page", lambda operator, path, title: path)
    cli.app(["demo", "--out", str(tmp_path / "new"), "--live"], result_action="return_value")
    assert opened == [(tmp_path / "new" / "demo.html").as_uri()]
    printed = capsys.readouterr().out
    assert "paper, as printed" in printed
    assert "4.5e-03" in printed
    assert "kernop by default" in printed
    assert (tmp_path / "new" / "demo.png").stat().st_size > 10_000


def test_errors_of_kernop_are_one_line_and_exit_1(capsys, monkeypatch):
    def fails(case, *, seed=0):
        raise cli.KernopError("points: got 0; give more.")

    monkeypatch.setattr(cli, "darcy", fails)
    monkeypatch.setattr("sys.argv", ["kernop", "demo"])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 1
    assert "points: got 0; give more." in capsys.readouterr().out


def test_reproduce_runs_what_is_named_and_writes_it_down(tmp_path, capsys, monkeypatch):
    ran = []

    def chapter(name):
        def run(order):
            ran.append((name, order.quick, order.seed, order.datasets))
            return cli.Chapter(name, [], [order.out / f"{name}.png"], {"errors": {}})

        return run

    monkeypatch.setattr(cli, "CHAPTERS", {name: chapter(name) for name in ("heat", "darcy")})
    cli.app(["reproduce", "heat", "--quick", "--out", str(tmp_path), "--seed", "3"], result_action="return_value")
    assert ran == [("heat", True, 3, None)]
    assert (tmp_path / "heat.json").exists()
    assert "heat.png" in capsys.readouterr().out
    ran.clear()
    cli.app(["reproduce", "all", "--out", str(tmp_path), "--datasets", "7"], result_action="return_value")
    assert ran == [("heat", False, 0, 7), ("darcy", False, 0, 7)]


def test_reproduce_offers_every_chapter():
    names = cli.Choice.__args__
    assert set(names) == {*cli.CHAPTERS, "all"}


def test_info_tells_versions_and_threads(capsys):
    cli.app(["info"], result_action="return_value")
    printed = capsys.readouterr().out
    for word in ("kernop", "jax", "processors", "threads", "cpu"):
        assert word in printed


def test_help_names_the_commands(capsys):
    cli.app(["--help"], result_action="return_value")
    printed = capsys.readouterr().out
    for word in ("demo", "reproduce", "info", "solution operator"):
        assert word in printed


def test_info_of_a_file(tmp_path, capsys, monkeypatch):
    line = ko.Interval(0.0, 1.0)
    problem = ko.Problem(ko.Equation(lambda u: u, on=line, name="f"), ko.Dirichlet(on=line.boundary, name="g"))
    ko.learn(problem, points=20, method=ko.Subspace(4)).save(tmp_path / "small.kernop")
    cli.app(["info", str(tmp_path / "small.kernop")], result_action="return_value")
    printed = capsys.readouterr().out
    assert "(f, g) ↦ u" in printed
    assert "Gaussian(lengthscale=[" in printed
    (tmp_path / "[bold]small.kernop").write_bytes(b"no file of kernop")
    monkeypatch.setattr("sys.argv", ["kernop", "info", str(tmp_path / "[bold]small.kernop")])
    with pytest.raises(SystemExit):
        cli.main()
    assert "damaged or not of kernop" in capsys.readouterr().out.replace("\n", " ")


def test_tables_are_not_cut(capsys):
    table = Table(*(f"column {k}" for k in range(40)))
    table.add_row(*(f"{k}.00000000001e-10" for k in range(40)))
    cli._whole(table)
    printed = capsys.readouterr().out
    assert "…" not in printed
    assert all(f"{k}.00000000001e-10" in printed for k in range(40))


def test_the_module_is_the_command(capsys, monkeypatch):
    """As ``python -m kernop --version`` does, in this process."""
    monkeypatch.setattr("sys.argv", ["kernop", "--version"])
    with pytest.raises(SystemExit) as caught:
        runpy.run_module("kernop", run_name="__main__", alter_sys=True)
    assert not caught.value.code
    assert capsys.readouterr().out.strip() == ko.__version__


@pytest.fixture
def saved(tmp_path):
    D = ko.Interval(0, 1)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=D), ko.Dirichlet(on=D.boundary))
    path = tmp_path / "line.kernop"
    ko.learn(problem, method=ko.Subspace(centers=20), points={"f": 50, "g": 2}).save(path)
    return path


def test_page_writes_one_file_beside_that_of_the_operator(saved, capsys):
    cli.app(["page", str(saved)], result_action="return_value")
    assert "line.html" in capsys.readouterr().out.replace("\n", "")
    html = saved.with_suffix(".html").read_text()
    assert '"title": "line"' in html
    assert "class LivePage" in html


def test_serve_takes_files_of_different_names_and_hands_on_its_limits(saved, monkeypatch):
    called = []
    monkeypatch.setattr(
        "kernop.serving.server.serve", lambda operators, **settings: called.append((operators, settings))
    )
    cli.app(["serve", str(saved), "--port", "1234", "--points", "7"], result_action="return_value")
    operators, settings = called[0]
    assert list(operators) == ["line"]
    assert settings["port"] == 1234
    assert settings["host"] == "127.0.0.1"
    assert settings["limits"].points == 7
    for files in ([], [str(saved), str(saved)]):
        with pytest.raises(cli.KernopError, match="different names"):
            cli.app(["serve", *files], result_action="return_value")
