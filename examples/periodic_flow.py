"""Flow on a ring
==============

Advection and diffusion, u_t + u_x = ν u_xx: what leaves at the right end comes in at the left one. A puff of dye goes
around ten times, by an operator of a quarter of a round that is applied forty times. Exact: a sum of cosines.
"""

import numpy as np

import kernop as ko
from kernop.plotting import true_predicted_error

nu = 0.002
ring = ko.Interval(0, 1)
slab = ko.SpaceTime(ring, (0, 0.25))
problem = ko.Problem(
    ko.Equation(lambda u: ko.dt(u) + ko.partial(u, 0) - nu * ko.laplacian(u), on=slab, name="f", data=0.0),
    ko.Periodic(slab.walls.of(ring.face("left")), slab.walls.of(ring.face("right"))),
    ko.Initial(slab.initial, name="u0"),
)
T = ko.learn(problem)
print(T.report)


def dye(x):
    """Σ_k a_k cos(2πk (x − ½ − t)) exp(−ν (2πk)² t)."""
    k, t = np.arange(8), x[..., 1, None]
    waves = np.exp(-nu * (2 * np.pi * k) ** 2 * t) * np.cos(2 * np.pi * k * (x[..., :1] - 0.5 - t))
    return np.sum(np.exp(-0.1 * k**2) * waves, axis=-1)


u = T.march(40, dye)
print(u)
x = ko.Box([0, 0], [1, 10]).sample(2500, "uniform").x
error = np.abs(u(x) - dye(x)).max() / np.abs(dye(x)).max()
print(f"relative error over ten rounds: {error:.1e}")
assert error < 1e-8
x = ko.Box([0, 0], [1, 1]).sample(3721, "grid").x
true_predicted_error(x, dye(x), u(x), "out/examples/periodic_flow.png", title="dye on a ring", labels=("x", "t"))
