"""Thirty sensors, and an edge that nobody measured
================================================

The temperature at the edge of a plate is not known; 30 sensors inside read it to ± 0.05: the field, and its band. One
operator for a hundred sets of readings, of which the band must cover the truth as often as it says.
"""

import numpy as np

import kernop as ko
from kernop.plotting import true_predicted_error

noise, plate = 0.05, ko.Box([0, 0], [1, 1])
sensors = plate.sample(30, seed=3).x
problem = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=plate, name="f", data=0.0),  # no sources, and nothing at the edge
    ko.Sensors(sensors, "readings", noise),
)
truth = lambda x: np.exp(x[..., 0]) * np.cos(x[..., 1]) - 2 * x[..., 0] * x[..., 1]  # harmonic; nobody knows it
readings = truth(sensors)[:, None] + noise * np.random.default_rng(0).normal(size=(30, 100))

# How smooth is the field? The likelihood of the first readings chooses the prior.
kernels = [4.0 * ko.Gaussian(eta) for eta in (0.25, 0.5, 1.0)]
operators = [ko.learn(problem, kernel=kernel, points={"f": 300, "readings": 30}) for kernel in kernels]
T = max(operators, key=lambda T: T.evidence(readings[:, 0]).log_likelihood)

x = plate.sample(900, "grid").x
u = T(readings)
for name, at in (("plate", x), ("edge", plate.boundary.sample(200).x)):
    away, band = np.abs(u(at) - truth(at)[:, None]), 1.96 * T.std(at)
    covered, error = np.mean(away < band[:, None]), np.sqrt(np.mean(away**2))
    print(f"{name}: rms error {error:.3f}; the band of ± {band.mean():.3f} covers {100 * covered:.0f} %")
    assert 0.9 < covered < 0.995
    assert error < noise
true_predicted_error(x, truth(x), u(x)[:, 0], "out/examples/unknown_boundary.png", title="from 30 readings")
