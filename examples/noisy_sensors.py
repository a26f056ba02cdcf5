"""Noisy data: how certain is u?
=============================

Heat sources in a plate known to ± 2, its edge measured to ± 0.05. The likelihood of the data says how smooth u is; then
u comes with a band, and so does the heat flux, or any other operator of u.
"""

import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.plotting import pyplot, save

plate, noise = ko.Box([0, 0], [1, 1]), {"f": 2.0, "g": 0.05}
problem = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=plate, name="f"), ko.Dirichlet(on=plate.boundary, name="g")
)
learned = lambda eta: ko.learn(
    problem, kernel=ko.Gaussian(eta), points={"f": 300, "g": 100}, noise=noise, method=ko.Full()
)
operators = {eta: learned(eta) for eta in (0.15, 0.3, 0.6, 1.2)}
truth, rng = lambda x: jnp.sin(4 * x[..., 0]) * jnp.cos(3 * x[..., 1]), np.random.default_rng(0)
exact = problem.manufacture(truth, operators[0.6].points)
data = {name: values + noise[name] * rng.normal(size=values.shape) for name, values in exact.items()}
likelihood = {eta: T.evidence(**data).log_likelihood for eta, T in operators.items()}
print("log likelihood: " + ", ".join(f"η = {eta}: {value:.0f}" for eta, value in likelihood.items()))
assert max(likelihood, key=lambda eta: likelihood[eta]) == 0.6

u, x = operators[0.6](**data), plate.sample(500, "uniform", seed=1).x
inside = np.mean(np.abs(u(x) - truth(x)) < 1.96 * u.std(x))
print(f"rms error {np.sqrt(np.mean((u(x) - truth(x)) ** 2)):.3f}; in the 95 % band: {100 * inside:.0f} % of the plate")
assert inside > 0.9
line, flux = np.column_stack([np.linspace(0, 1, 101), np.full(101, 0.5)]), lambda v: -ko.partial(v, 0)
q, band = u.apply(flux, line), 1.96 * u.std(line, flux)
figure, axis = pyplot().subplots(figsize=(6, 3.4), layout="constrained")
axis.fill_between(line[:, 0], q - band, q + band, alpha=0.3, label="95 % band")
axis.plot(line[:, 0], q, label="−∂u/∂x")
axis.plot(line[:, 0], -4 * np.cos(4 * line[:, 0]) * np.cos(1.5), "k--", label="truth")
axis.set(xlabel="x", title="heat flux along y = ½"), axis.legend(frameon=False)
save(figure, "out/examples/noisy_sensors.png")
