"""The Helmholtz equation −u″ − ω²u = f on an interval at ω = 200: 32 waves, resolved by a few hundred centres."""

import numpy as np

import kernop as ko

omega = 200.0
line = ko.Interval(0, 1)
problem = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u) - omega**2 * u, on=line, name="f"),
    ko.Dirichlet(on=line.boundary, name="g"),
)
T = ko.learn(problem, tol=1e-8)
print(T.report)

# f = 1, u(0) = u(1) = 0 has the solution (cos(ωx) + tan(ω/2) sin(ωx) − 1) / ω².
u = T(f=1.0, g=0.0)
x = np.linspace(0, 1, 2001)
exact = (np.cos(omega * x) + np.tan(omega / 2) * np.sin(omega * x) - 1) / omega**2
error = np.abs(u(x[:, None]) - exact).max() / np.abs(exact).max()
print(f"relative error: {error:.1e}")
assert error < 1e-7
