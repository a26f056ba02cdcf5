"""Holes of problems: of the domain, of parts between interfaces, of clouds; none in space and time."""

import numpy as np

import kernop as ko
from kernop.collocation.subdomains import holes_of, subdomains_of

RING = ko.Ball([0, 0], 1) - ko.Ball([0.1, 0], 0.4)


def poisson(domain, rim=None):
    return ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=domain), ko.Dirichlet(on=rim or domain.boundary))


class TestHolesOf:
    def test_a_domain(self):
        problem = poisson(RING)
        ((hole,),) = holes_of(problem)
        np.testing.assert_allclose(hole.centre, [0.1, 0], atol=0.02)
        assert holes_of(problem) is holes_of(problem)

    def test_a_domain_by_halves(self):
        halves = [RING.where(side) for side in (lambda x: x[..., 0] < 0, lambda x: x[..., 0] >= 0)]
        equations = (ko.Equation(lambda u: -ko.laplacian(u), on=own, name=f"f{k}") for k, own in enumerate(halves))
        ((hole,),) = holes_of(ko.Problem(*equations, ko.Dirichlet(on=RING.boundary)))
        np.testing.assert_allclose(hole.centre, [0.1, 0], atol=0.02)

    def test_an_inclusion_is_one_of_what_is_around_it(self):
        box, inner = ko.Box([-1, -1], [1, 1]), ko.Ball([0.3, 0], 0.4)
        around = poisson(box)
        problem = ko.Problem(*around.conditions, ko.Interface(inner.boundary))
        parts, holes = subdomains_of(problem), holes_of(problem)
        inside, outside = (int(parts.which(np.array([x]))[0]) for x in ([0.3, 0.0], [-0.8, 0.0]))
        assert holes[inside] == ()
        np.testing.assert_allclose(holes[outside][0].centre, [0.3, 0], atol=0.02)

    def test_a_cloud(self):
        rim = RING.boundary.sample(200)
        cloud = ko.PointCloud(RING.sample(800).x, rim.x, rim.normal)
        ((hole,),) = holes_of(poisson(cloud))
        np.testing.assert_allclose(hole.centre, [0.1, 0], atol=0.05)
        disk = ko.Ball([0, 0], 1)
        points = np.random.default_rng(0).uniform(-1, 1, size=(600, 2))
        gaps = ko.PointCloud(points[disk.contains(points)], disk.boundary.sample(100).x)
        assert holes_of(poisson(gaps)) == ((),)

    def test_there_are_none_on_a_line_and_in_time(self):
        assert holes_of(poisson(ko.Interval(0, 3) - ko.Interval(1, 2))) == ((),)
        lasting = ko.SpaceTime(RING, (0, 1))
        heat = ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=lasting)
        assert holes_of(ko.Problem(heat, ko.Dirichlet(on=lasting.walls), ko.Initial(on=lasting.initial))) == ((),)
