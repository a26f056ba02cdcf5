"""The parts of a domain that interfaces cut."""

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.sampling import sample
from kernop.collocation.subdomains import by_subdomains, subdomains_of

SQUARE = ko.Box([-1, -1], [1, 1])


def cut_by(*domains):
    interfaces = [ko.Interface(domain.boundary, name=f"i{k}") for k, domain in enumerate(domains)]
    return ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary), *interfaces)


def test_no_interface_no_parts():
    assert subdomains_of(cut_by()) is None
    (region, measure) = by_subdomains(cut_by(), SQUARE)[0]
    assert region is SQUARE
    assert measure == 4.0


def test_nested_and_separate_domains():
    problem = cut_by(ko.Ball([0, 0], 0.8), ko.Ball([0, 0], 0.3), ko.Ball([0.9, 0.9], 0.05))
    parts = subdomains_of(problem)
    x = np.array([[0, 0], [0.5, 0], [0.9, 0.9], [-0.9, 0.9]])
    assert len(parts) == 4
    assert len(set(parts.which(x).tolist())) == 4
    measures = {int(parts.which(region.sample(1).x)[0]): m for region, m in by_subdomains(problem, SQUARE)}
    expected = np.pi * np.array([0.3**2, 0.8**2 - 0.3**2, 0.05**2, 4 / np.pi - 0.8**2 - 0.05**2])
    assert [measures[int(p)] for p in parts.which(x)] == pytest.approx(expected.tolist(), rel=0.03)


def test_subdomains_are_sorted_by_the_domains_in_which_they_lie():
    """The last digit is that of the last domain; nine of them do not fit into a byte."""
    disks = [ko.Ball([0.2 * k - 0.8, 0.0], 0.05) for k in range(9)]
    np.testing.assert_array_equal(
        subdomains_of(cut_by(*disks)).inside, np.eye(10, 9, -1, dtype=int)[[0, *range(9, 0, -1)]]
    )


def test_a_tiny_inclusion_has_points_of_its_own():
    tiny = ko.Ball([0.1, 0.2], 0.004)
    points = sample(cut_by(tiny), 900)
    assert np.count_nonzero(tiny.contains(points["f"].x)) > 0.2 * len(points["f"])
    assert len(subdomains_of(cut_by(tiny))) == 2
