"""Weights of rows where coefficients jump by orders of magnitude."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.collocation.sampling import sample
from kernop.collocation.scales import fitted
from kernop.collocation.units import frame_of
from kernop.methods.contrast import contrast, entries

BAR = ko.Interval(0, 1)


def rows_of(left, right, *ends):
    a = lambda x: jnp.where(x[..., 0] < 0.5, left, right)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=BAR),
        *ends,
        ko.Interface(ko.Interval(0, 0.5).face("right")),
    )
    points = sample(problem, 60)
    ansatz, rows = fitted(problem, points, frame_of(problem))
    squares = np.concatenate([np.sum(block.coefficients**2, axis=1) for block in rows.blocks])
    found = contrast(ansatz, rows, squares)
    shares, factors = (entries(ansatz, rows, table, range(len(rows.blocks))) for table in (found.shares, found.factors))
    return shares, factors, rows, points["f"].x[:, 0] < 0.5, squares


def test_rows_of_an_equation_are_made_alike():
    shares, factors, rows, left, squares = rows_of(1.0, 1e4, ko.Dirichlet(on=BAR.boundary))
    equation = rows.slices[0]
    sizes = (shares * squares)[equation]
    assert np.mean(sizes[left]) == pytest.approx(np.mean(sizes[~left]))
    assert np.all(factors == 1.0)  # both parts have data at an end


def test_a_part_without_data_counts_by_its_coefficient():
    ends = ko.Dirichlet(on=BAR.face("left")), ko.Neumann(on=BAR.face("right"))
    _, factors, rows, left, _ = rows_of(1.0, 1e4, *ends)
    equation, flux = rows.slices[0], rows.slices[-1]
    assert np.all(factors[equation][left] == 1.0)
    assert factors[equation][~left] == pytest.approx(1e8)
    assert factors[flux] == pytest.approx(1e4)


def test_nothing_happens_without_parts():
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=BAR), ko.Dirichlet(on=BAR.boundary))
    ansatz, rows = fitted(problem, sample(problem, 30), frame_of(problem))
    assert contrast(ansatz, rows, np.ones(len(rows))) is None
