"""Noisy data: how certain is u? Heat sources in a plate known to ± 2, its edge measured to ± 0.05."""

import jax.numpy as jnp
import numpy as np

import kernop as ko

plate = ko.Box([0, 0], [1, 1])
problem = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=plate, name="f"), ko.Dirichlet(on=plate.boundary, name="g")
)
noise = {"f": 2.0, "g": 0.05}
points = {"f": 300, "g": 100}


def truth(x):
    """What nobody knows."""
    return jnp.sin(4 * x[..., 0]) * jnp.cos(3 * x[..., 1])


# How smooth is u? The data say: the likelihood is largest for a lengthscale that fits them.
kernels = {eta: ko.Gaussian(eta) for eta in (0.15, 0.3, 0.6, 1.2)}
operators = {
    eta: ko.learn(problem, kernel=kernel, points=points, noise=noise, method=ko.Full())
    for eta, kernel in kernels.items()
}
rng = np.random.default_rng(0)
exact = problem.manufacture(truth, operators[0.6].points)
data = {name: values + noise[name] * rng.normal(size=values.shape) for name, values in exact.items()}
likelihood = {eta: T.evidence(**data).log_likelihood for eta, T in operators.items()}
eta = max(likelihood, key=lambda one: likelihood[one])
print("log likelihood: " + ", ".join(f"η = {one}: {value:.0f}" for one, value in likelihood.items()))
assert eta == 0.6

T = operators[eta]
u = T(**data)
x = plate.sample(500, "uniform", seed=1).x
away = np.abs(u(x) - np.asarray(truth(x)))
print(f"error {away.max():.3f} at most, {np.sqrt(np.mean(away**2)):.3f} in the mean; std {np.mean(u.std(x)):.3f}")
inside = np.mean(away < 1.96 * u.std(x))
print(f"within the 95 % band: {100 * inside:.0f} % of the plate")
assert inside > 0.9

# The heat flux across the middle, with its band; and what better sensors at the edge would bring.
middle = np.array([[0.5, 0.5]])
flux = lambda v: -ko.partial(v, 0)
print(f"flux: {u.apply(flux, middle)[0]:.2f} ± {1.96 * u.std(middle, flux)[0]:.2f}")
assert abs(u.apply(flux, middle)[0] + 4 * np.cos(2.0) * np.cos(1.5)) < 1.96 * u.std(middle, flux)[0]
better = ko.learn(problem, kernel=T.kernel, points=T.points, noise={"f": 2.0, "g": 0.005}, method=ko.Full())
print(f"with sensors ten times better the std falls to {np.mean(better.std(x)):.3f}")
assert np.mean(better.std(x)) < 0.6 * np.mean(T.std(x))
