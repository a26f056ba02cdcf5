"""Bars of several materials
=========================

−(a u′)′ = f with a conductivity that jumps, told by `Piecewise`. Under `div` a jump means that u and the flux a u′ are
continuous: `learn` puts an interface there by itself. The flux is a u′ = c − x, so that u = c ∫ 1/a − ∫ x/a, and
u(1) = 0 says what c is.
"""

import numpy as np

import kernop as ko
from kernop.plotting import save

bar, x = ko.Interval(0, 1), np.linspace(0, 1, 501)
for layers in ({(0, 0.3): 1, (0.3, 1): 10}, {(0, 0.2): 5, (0.2, 0.7): 0.1, (0.7, 1): 2}):
    a = ko.Piecewise({ko.Interval(*ends): value for ends, value in layers.items()})
    problem = ko.Problem(
        ko.Equation(lambda u, a=a: -ko.div(a * ko.grad(u)), on=bar, name="f"),
        ko.Dirichlet(on=bar.boundary, name="g"),
    )
    u = ko.learn(problem)(f=1.0, g=0.0)
    parts = [(np.clip(x, *ends), ends[0], value) for ends, value in layers.items()]
    resistance = sum((s - low) / value for s, low, value in parts)
    moment = sum((s**2 - low**2) / (2 * value) for s, low, value in parts)
    exact = moment[-1] / resistance[-1] * resistance - moment
    error = np.abs(u(x[:, None]) - exact).max() / exact.max()
    flux = u.apply(lambda v, a=a: a * ko.partial(v, 0), x[:, None])
    uneven = np.abs(flux + x - moment[-1] / resistance[-1]).max()
    print(f"{len(layers)} materials: relative error {error:.1e}, of the flux {uneven:.1e}")
    assert error < 1e-11
    assert uneven < 1e-9
save(u.plot().figure, "out/examples/layers.png")
