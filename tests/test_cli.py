"""The command line."""

import dataclasses

import pytest

import kernop.cli as cli
from kernop.experiments import darcy


def small(case, *, seed=0):
    return dataclasses.replace(darcy(case, nets=5, seed=seed), points={"f": 200, "g": 100})


def test_demo_prints_the_table_and_draws_the_figure(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cli, "darcy", small)
    cli.app(["demo", "--out", str(tmp_path / "new")], result_action="return_value")
    printed = capsys.readouterr().out
    assert "paper, as printed" in printed
    assert "4.5e-03" in printed
    assert "kernop's default" in printed
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
