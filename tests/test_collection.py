"""The problems of benchmarks/collection.py: are their truths true, and are the halves fit for use?"""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from collection_problems import ENTRIES, by_hand
from collection_problems.entry import Entry, Published, relative
from collection_problems.hand import Hand
from collection_problems.measure import Line, Run, Summary, run
from honesty_problems.check import misfits

import kernop as ko

KNOWN = {entry.name: entry for entry in ENTRIES}
EASY = KNOWN["Trefethen p13, u″ = e⁴ˣ"]
COMPLEX = ("plane wave with an impedance, k = 20", "free Schrödinger packet")
#: Peaks are a small part of the domain: few points see them.
MANY, FEW = 400, 30


@pytest.mark.parametrize("name", [name for name in KNOWN if name not in COMPLEX])
def test_truths_fit_the_conditions(name: str) -> None:
    """Finite differences of the true solution, put into every condition, at random points."""
    entry = KNOWN[name]
    found = misfits(entry, MANY if entry.family == "local features" else FEW)
    assert all(np.quantile(misfit, 0.9) < 1e-6 and np.max(misfit) < 1e-4 for misfit in found.values()), found


def test_a_wrong_truth_does_not_fit() -> None:
    wrong = replace(EASY, truth=lambda x: EASY.truth(x) + 0.1 * x[..., 0] ** 2)
    assert np.max(misfits(wrong, FEW)["f"]) > 1e-3


def test_plane_wave() -> None:
    """−Δu − k²u = 0, and ∂u/∂n − iku on the sides, by differences."""
    entry, k, step = KNOWN[COMPLEX[0]], 20.0, 1e-3
    rng = np.random.default_rng(0)
    x = 0.1 + 0.8 * rng.random((20, 2))
    ring = sum(entry.truth(x + step * e) for e in np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]))
    np.testing.assert_allclose(-(ring - 4 * entry.truth(x)) / step**2, k**2 * entry.truth(x), atol=0.02)
    rim = ko.Box([0, 0], [1, 1]).boundary.sample(40, "uniform", seed=1)
    slope = (entry.truth(rim.x + step * rim.normal) - entry.truth(rim.x - step * rim.normal)) / (2 * step)
    np.testing.assert_allclose(slope - 1j * k * entry.truth(rim.x), entry.inputs["g"](rim.x), atol=2e-3)


def test_packet() -> None:
    """iu_t + u_xx = 0 by differences, and |u| keeps its norm."""
    entry, step = KNOWN[COMPLEX[1]], 1e-3
    x = np.stack([np.linspace(-3, 5, 30), np.linspace(0.1, 0.9, 30)], axis=1)
    across, later = np.array([step, 0]), np.array([0, step])
    u = entry.truth
    bend = (u(x + across) - 2 * u(x) + u(x - across)) / step**2
    np.testing.assert_allclose(1j * (u(x + later) - u(x - later)) / (2 * step) + bend, 0.0, atol=1e-4)
    line = np.linspace(-30, 40, 20001)
    norms = [np.sum(np.abs(u(np.stack([line, np.full_like(line, t)], axis=1))) ** 2) for t in (0.0, 1.0)]
    assert norms[0] == pytest.approx(norms[1], rel=1e-9)


# The halves


def test_halves_and_families() -> None:
    assert len(KNOWN) == len(ENTRIES) >= 66
    halves = Counter(entry.half for entry in ENTRIES)
    assert set(halves) == {"tuning", "held-out"}
    assert min(halves.values()) >= 25
    families = {entry.family for entry in ENTRIES}
    assert len(families) >= 10
    assert {(entry.family, entry.half) for entry in ENTRIES} == {(f, h) for f in families for h in halves}


def test_the_split_is_fixed() -> None:
    """By the names alone: these two stay where they are."""
    assert KNOWN["Poisson, sin πx sin πy"].half == "tuning"
    assert replace(EASY, name="Rice 1, exponential coefficients").half == KNOWN["Rice 1, exponential coefficients"].half
    assert all(entry.source for entry in ENTRIES)


def test_settings_by_hand_belong_to_problems() -> None:
    assert set(by_hand.BY_HAND) <= set(KNOWN)
    assert all(hand.centers <= 3000 and np.isfinite(hand.error) for hand in by_hand.BY_HAND.values())


# Settings, runs and summaries


def test_settings_fill_the_box() -> None:
    problem = KNOWN["wave of speed 10"].problem()
    settings = Hand(600, ratio=2.0, boundary=0.3, width=3.0, resolution=(1.0, 4.0)).settings(problem)
    z, (across, later) = settings["method"].centers, settings["kernel"].lengthscale
    assert z.shape == (600, 2)
    assert across == pytest.approx(4 * later)
    assert settings["points"] == {"f": 840, "g": 120, "u0": 120, "v0": 120}
    inside = np.mean(np.all((z >= 0) & (z <= 1), axis=1))
    cells = 9 / (across * later)
    assert inside * 600 == pytest.approx(cells, rel=0.05)


def test_a_run_measures_the_truth() -> None:
    settings = Hand(40, ratio=3.0, width=4.0).settings(EASY.problem())
    good = run(EASY, twice=False, **settings)
    wrong = run(replace(EASY, truth=lambda x: 1.01 * EASY.truth(x)), twice=False, **settings)
    assert good.error < 1e-8
    assert wrong.error == pytest.approx(0.01 / 1.01, rel=1e-3)


def test_a_refusal_is_told() -> None:
    found = run(replace(EASY, inputs={"f": np.nan, "g": 0.0}), twice=False, points=50)
    assert found.error == np.inf
    assert found.told


def test_summary() -> None:
    rival = replace(EASY, published=Published(1e-3, "somebody"))

    def line(entry: Entry, default: float, hand: float) -> Line:
        return Line(entry, Run(1.0, default), None, None, None, Hand(40, error=hand))

    said = str(Summary([line(rival, 1e-4, 1e-6), line(rival, 1e-2, 2e-3), line(EASY, 1e-11, 1e-14)]))
    assert "on 2 of 3" in said
    assert f"published figure on 1 of 2; those that are not: {EASY.name}" in said


def test_relative_error() -> None:
    assert relative(np.array([1.0, 2.0]), np.array([1.0, 1.0])) == pytest.approx(1 / np.sqrt(2))
