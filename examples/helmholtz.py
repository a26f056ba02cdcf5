"""Thirty-two waves on a line
==========================

The Helmholtz equation −u″ − ω²u = f at ω = 200, resolved by a few hundred functions. With f = 1 and u = 0 at both ends
the solution is (cos ωx + tan(ω/2) sin ωx − 1) / ω².
"""

import numpy as np

import kernop as ko
from kernop.plotting import save

omega = 200.0
line = ko.Interval(0, 1)
problem = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u) - omega**2 * u, on=line, name="f"),
    ko.Dirichlet(on=line.boundary, name="g"),
)
T = ko.learn(problem, tol=1e-8)
print(T.report)

u = T(f=1.0, g=0.0)
x = np.linspace(0, 1, 2001)
exact = (np.cos(omega * x) + np.tan(omega / 2) * np.sin(omega * x) - 1) / omega**2
error = np.abs(u(x[:, None]) - exact).max() / np.abs(exact).max()
print(f"relative error: {error:.1e}")
assert error < 1e-7
save(u.plot().figure, "out/examples/helmholtz.png")
