"""The box around a problem and its natural units, against hand-computed values."""

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.ansatz import normal_form
from kernop.collocation.units import evolving_fineness, frame_of


def identity(u):
    return u


def test_space_has_one_unit():
    box = ko.Box([0, -1], [10, 1])
    frame = frame_of(ko.Problem(ko.Equation(identity, on=box), ko.Dirichlet(on=box.boundary)))
    np.testing.assert_array_equal([frame.low, frame.high, frame.units], [[0, -1], [10, 1], [10, 10]])
    np.testing.assert_array_equal(frame.shortest, [2, 2])
    assert frame.measure(box) == pytest.approx(20 / 100)
    assert frame.measure(box.boundary) == pytest.approx(24 / 10)


def test_time_has_its_own():
    cylinder = ko.SpaceTime(ko.Ball([0, 0], 3), (2, 52))
    frame = frame_of(ko.Problem(ko.Equation(identity, on=cylinder), ko.Initial(on=cylinder.initial)))
    np.testing.assert_array_equal(frame.units, [6, 6, 50])
    np.testing.assert_array_equal(frame.shortest, [6, 6, 50])
    assert frame.measure(cylinder) == pytest.approx(np.pi * 9 / 36)
    assert frame.measure(cylinder.walls) == pytest.approx(6 * np.pi / 6)
    assert frame.measure(cylinder.initial) == pytest.approx(np.pi * 9 / 36)


def test_an_instant_has_the_unit_of_space():
    cylinder = ko.SpaceTime(ko.Interval(0, 3), (2, 52))
    frame = frame_of(ko.Problem(ko.Initial(on=cylinder.initial)))
    np.testing.assert_array_equal([frame.low, frame.high, frame.units], [[0, 2], [3, 2], [3, 3]])


class TestPart:
    """What a region measures, as a part of the box around the problem or of its faces."""

    def test_of_a_box(self):
        box = ko.Box([0, -1], [10, 1])
        frame = frame_of(ko.Problem(ko.Equation(identity, on=box), ko.Dirichlet(on=box.boundary)))
        assert frame.part(box) == pytest.approx(1.0)
        assert frame.part(box.boundary) == pytest.approx(1.0)
        assert frame.part(box.face("left")) == pytest.approx(2.0 / 24.0)
        assert frame.part(box.where(lambda x: x[..., 0] < 2.5)) == pytest.approx(0.25, abs=1e-3)

    def test_of_a_ball(self):
        ball = ko.Ball([1, 2, 3], 5.0)
        frame = frame_of(ko.Problem(ko.Equation(identity, on=ball), ko.Dirichlet(on=ball.boundary)))
        assert frame.part(ball) == pytest.approx(np.pi / 6.0)
        assert frame.part(ball.boundary) == pytest.approx(4.0 * np.pi / 24.0)

    @pytest.mark.parametrize("duration", [1e-3, 1.0, 1e3])
    def test_of_space_and_time(self, duration):
        """The box is 1 × 1 in natural units, whatever they are: its final face belongs to it too."""
        cylinder = ko.SpaceTime(ko.Interval(0, 3), (0, duration))
        frame = frame_of(ko.Problem(ko.Equation(identity, on=cylinder), ko.Initial(on=cylinder.initial)))
        assert frame.part(cylinder) == pytest.approx(1.0)
        assert frame.part(cylinder.walls) == pytest.approx(0.5)
        assert frame.part(cylinder.initial) == pytest.approx(0.25)


class TestSlowEvolution:
    """Space is finer than time where waves as short as those that 1100 functions resolve change slowly."""

    @pytest.mark.parametrize("kappa", [0.2, 0.04, 0.02, 0.012, 0.005, 1e-4])
    def test_diffusion(self, kappa):
        domain = ko.SpaceTime(ko.Interval(0, 3), (0, 5))
        slow = kappa * 5 / 9  # in units of length and time
        k = (1100 / slow) ** (1 / 3)  # k · slow k² = 1100
        found = self.found(lambda u: ko.dt(u) - kappa * ko.laplacian(u), domain)
        assert found == pytest.approx([np.clip(k / (slow * k**2), 1.0, 2.0), 1.0], rel=1e-6)

    def test_what_drifts_changes_faster(self):
        domain = ko.SpaceTime(ko.Interval(0, 1), (0, 1))
        drift = lambda c: lambda u: ko.dt(u) + c * ko.partial(u, 0) - 1e-3 * ko.laplacian(u)
        assert self.found(drift(0.625), domain) == pytest.approx([1.6, 1.0], rel=1e-6)
        assert self.found(drift(2.0), domain) == pytest.approx([1.0, 1.0])

    @pytest.mark.parametrize(
        ("op", "domain"),
        [
            (lambda u: -1e-3 * ko.laplacian(u), ko.Box([0, 0], [1, 1])),
            (lambda u: -1e-3 * ko.laplacian(u) + ko.partial(u, 0), ko.Box([0, 0], [1, 1])),
            (lambda u: ko.dt(u) + 0.1 * ko.partial(u, 0), ko.SpaceTime(ko.Interval(0, 1), (0, 1))),
            (lambda u: ko.dt(u, 2) - 0.01 * ko.laplacian(u), ko.SpaceTime(ko.Interval(0, 1), (0, 1))),
            (lambda u: u, ko.Box([0, 0], [1, 1])),
        ],
        ids=["diffusion", "steady flow", "transport", "waves", "values"],
    )
    def test_others_do_not_evolve_so(self, op, domain):
        assert self.found(op, domain) == pytest.approx([1.0, 1.0])

    @staticmethod
    def found(op, domain):
        frame = frame_of(ko.Problem(ko.Equation(op, on=domain)))
        return evolving_fineness(frame, normal_form(op, domain.sample(40), name="f"))
