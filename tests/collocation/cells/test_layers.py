"""Widths of boundary layers, which are looked for again when coefficients change."""

import numpy as np

import kernop as ko
from kernop.collocation.cells.layers import layer_widths, with_layers

SQUARE = ko.Box([0, 0], [2, 1])


def flowing(speed):
    """−Δu + b ∂u/∂x, with a speed that may change."""
    equation = ko.Equation(
        lambda u: -ko.laplacian(u) + (lambda x: speed[0] + 0.0 * x[..., 0]) * ko.partial(u, 0), on=SQUARE
    )
    return ko.Problem(equation, ko.Dirichlet(on=SQUARE.boundary))


def test_the_width_of_a_layer_is_diffusion_over_speed():
    """At the side where the flow leaves; along the flow it is √(a L / b), and where it comes in there is none."""
    found = layer_widths(flowing([50.0]), SQUARE)
    np.testing.assert_allclose(found, [np.inf, 1.0 / 50.0, np.sqrt(2.0 / 50.0), np.sqrt(2.0 / 50.0)])


def test_a_coefficient_that_changes_is_seen():
    speed = [50.0]
    problem = flowing(speed)
    assert layer_widths(problem, SQUARE)[1] == 1.0 / 50.0
    speed[0] = -80.0
    assert layer_widths(problem, SQUARE)[:2] == (1.0 / 80.0, np.inf)


def test_lines_stand_beside_the_sides_that_have_layers():
    lines = [np.linspace(0.0, 2.0, 3), np.linspace(0.0, 1.0, 2)]
    x, y = with_layers(lines, (np.inf, 0.02, np.inf, np.inf))
    np.testing.assert_allclose(x, [0.0, 1.0, 1.48, 1.76, 1.9, 2.0])
    np.testing.assert_array_equal(y, lines[1])
    assert all(np.array_equal(own, other) for own, other in zip(with_layers(lines, ()), lines, strict=True))


def test_a_side_where_nothing_spreads_has_no_layer():
    """−(x u′)′ + u on (0, 1): at 0 the diffusion vanishes, and u is smooth."""
    line = ko.Interval(0, 1)
    equation = ko.Equation(lambda u: -ko.div((lambda x: x[..., 0]) * ko.grad(u)) + u, on=line)
    assert layer_widths(ko.Problem(equation, ko.Dirichlet(on=line.boundary)), line) == (np.inf, np.inf)
