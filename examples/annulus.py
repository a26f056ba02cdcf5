"""A cable off the middle of its shield
====================================

Laplace's equation between two circles, concentric and eccentric. Concentric: every harmonic function is a sum of log r
and of the modes r^±n cos nθ, so one operator is asked for all of them. Eccentric: a Möbius map w takes the gap to a
concentric annulus, and u = log(abs(w)) / log ρ is 0 on the shield and 1 on the cable. 2π / log(1/ρ) is the capacity.
"""

import numpy as np

import kernop as ko
from kernop.plotting import save


def learned(domain):
    """The operator from values on the boundary to harmonic functions."""
    laplace = ko.Equation(lambda u: ko.laplacian(u), on=domain, data=0.0)
    given = ko.Dirichlet(on=domain.boundary, name="g")
    return ko.learn(ko.Problem(laplace, given), method=ko.Subspace(900))


annulus = ko.Ball([0, 0], 1) - ko.Ball([0, 0], 0.4)
T, z = learned(annulus), lambda x: x[..., 0] + 1j * x[..., 1]
modes = [lambda x: np.log(abs(z(x)))] + [lambda x, n=n: np.real(z(x) ** n) for n in (-2, -1, 1, 2, 3, 4)]
x = annulus.sample(2000, "uniform", seed=1).x
errors = [np.abs(T(g=u)(x) - u(x)).max() / np.abs(u(x)).max() for u in modes]
print(f"concentric, log r and six modes: largest error {max(errors):.1e}, of log r {errors[0]:.1e}")
assert max(errors) < 1e-7

gap, p, q = ko.Ball([0, 0], 1) - ko.Ball([0.25, 0], 0.4), -0.15, 0.65  # the cable goes from p to q on the x-axis
a = (1 + p * q - np.sqrt((1 - p**2) * (1 - q**2))) / (p + q)
w = lambda z: abs(z - a) / abs(1 - a * z)
exact = lambda x: np.log(w(z(x))) / np.log(w(q))
u = learned(gap)(g=lambda x: np.where(np.hypot(*x.T) < 0.99, 1.0, 0.0))
error = np.abs(u(x := gap.sample(2000, "uniform", seed=1).x) - exact(x)).max()
print(f"eccentric, relative capacity {2 * np.pi / np.log(1 / w(q)):.6f}: largest error {error:.1e}")
assert error < 1e-7
save(u.plot().figure, "out/examples/annulus.png")
