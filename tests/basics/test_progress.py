"""Stages: seconds always, a bar when asked for, or after a while where somebody looks on."""

import threading
import time

import pytest

from kernop.basics import progress
from kernop.basics.progress import Stages


class Recorder:
    """Stands in for rich's bar and writes down what it is told."""

    def __init__(self, *columns):
        self.tasks, self.updates, self.notes, self.running = [], [], [], False

    def start(self):
        self.running = True

    def stop(self):
        self.running = False

    def add_task(self, name, total, note):
        self.tasks.append((name, total))
        return len(self.tasks) - 1

    def update(self, task, completed=None, note=None):
        if completed is not None:
            self.updates.append((self.tasks[task][0], completed))
        if note is not None:
            self.notes.append((self.tasks[task][0], note))


@pytest.fixture
def bar(monkeypatch):
    recorder = Recorder()
    monkeypatch.setattr(progress, "Progress", lambda *columns, **style: recorder)
    return recorder


def test_seconds_are_measured_and_add_up():
    with Stages(False) as stages:
        for _ in range(2):
            with stages("slow"):
                time.sleep(0.03)
        with stages("fast"):
            pass
    assert list(stages.seconds) == ["slow", "fast"]
    assert 0.06 <= stages.seconds["slow"] < 0.5
    assert 0.0 <= stages.seconds["fast"] < 0.02


def test_seconds_do_not_overlap():
    started = time.perf_counter()
    with Stages(False) as stages:
        for name in "abc":
            with stages(name):
                time.sleep(0.01)
    assert sum(stages.seconds.values()) <= time.perf_counter() - started


def test_ticks_reach_the_bar_and_the_end_is_reported(bar):
    with Stages(True) as stages:
        assert bar.running
        with stages("assemble") as tick:
            tick(0.25)
            tick(0.5)
        with stages("solve"):
            pass
    assert not bar.running
    assert bar.tasks == [("assemble", 1.0), ("solve", 1.0)]
    assert bar.updates == [("assemble", 0.25), ("assemble", 0.5), ("assemble", 1.0), ("solve", 1.0)]


def test_a_stage_that_comes_again_has_one_line(bar):
    with Stages(True) as stages:
        for _ in range(3):
            with stages("solve"):
                pass
    assert len(bar.tasks) == 1


def test_the_bar_stops_when_work_fails(bar):
    with pytest.raises(RuntimeError), Stages(True) as stages, stages("solve"):
        raise RuntimeError
    assert not bar.running


def test_nothing_is_shown_unless_asked_for(capsys):
    with Stages(False) as stages:
        stages.say("a line")
        with stages("solve") as tick:
            tick(0.5)
    assert capsys.readouterr() == ("", "")


def test_lines_above_the_bar(capsys):
    with Stages(True) as stages:
        stages.say("a line")
        with stages("solve"):
            pass
    out = capsys.readouterr().out
    assert "a line" in out
    assert "solve" in out


def test_a_note_stands_beside_the_bar_until_the_next(bar):
    with Stages(True) as stages, stages("stream") as tick:
        tick(0.25, "3 rows per second")
        tick(0.5)
        tick(0.75, "2 rows per second")
    assert bar.notes == [("stream", "3 rows per second"), ("stream", "2 rows per second")]


class Screen:
    """Stands in for a console that is a terminal, or is not."""

    def __init__(self, terminal, jupyter=False):
        self.is_terminal, self.is_jupyter = terminal, jupyter


def looking(monkeypatch, terminal, jupyter=False, patience=0.05):
    monkeypatch.setattr(progress, "Console", lambda **style: Screen(terminal, jupyter))
    monkeypatch.setattr(progress, "PATIENCE", patience)


@pytest.mark.parametrize(("terminal", "jupyter"), [(True, False), (False, True)])
def test_a_bar_appears_by_itself_where_somebody_looks_on_and_work_is_long(bar, monkeypatch, terminal, jupyter):
    looking(monkeypatch, terminal, jupyter)
    with Stages(None) as stages, stages("solve"):
        assert not bar.running
        time.sleep(0.3)
        assert bar.running
    assert not bar.running


def test_short_work_and_files_see_no_bar(bar, monkeypatch):
    looking(monkeypatch, True, patience=60.0)
    with Stages(None) as stages, stages("solve"):
        pass
    assert threading.active_count() < 50
    looking(monkeypatch, False, patience=0.0)
    with Stages(None) as stages, stages("solve"):
        time.sleep(0.05)
        assert not bar.running
    assert bar.updates == [("solve", 1.0)]  # of the first: the second has no bar at all


def test_stages_within_stages_and_in_other_threads_say_nothing_of_their_own(bar, monkeypatch):
    looking(monkeypatch, True, patience=60.0)
    with Stages(None) as outer, outer("outer"):
        with Stages(True) as inner, inner("inner"):
            pass
        other = threading.Thread(target=lambda: Stages(None).__enter__().__exit__(None, None, None))
        other.start()
        other.join()
    assert [name for name, _ in bar.tasks] == ["outer"]
    with Stages(True) as later, later("later"):
        assert bar.running


def test_the_rest_is_told_from_what_is_done():
    class Done:
        elapsed, percentage, finished = 30.0, 25.0, False

    assert progress.Remaining().render(Done()).plain == "1:30 left"
    Done.percentage = 1.0
    assert progress.Remaining().render(Done()).plain == ""
