"""Errors where u is prescribed: at more points than an estimate has residuals."""

import numpy as np

import kernop as ko

STRIP = ko.Box([0, 0], [1, 0.1])


def test_errors_at_the_corners_of_a_strip_under_load_are_seen():
    """−Δu = 1 and u = 0: û is wrong most near the corners, between the points of an estimate: it was 0.82 of that."""
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=STRIP, name="f"), ko.Dirichlet(on=STRIP.boundary, name="g")
    )
    u = ko.learn(problem, points=900, method=ko.Subspace(300))(f=1.0, g=0.0)
    near = np.concatenate([[0.0], np.geomspace(1e-5, 0.5, 3000)])
    s, zero = np.concatenate([near, 1.0 - near]), np.zeros(6002)
    rim = np.concatenate([[s, zero], [s, zero + 0.1], [zero, 0.1 * s], [zero + 1.0, 0.1 * s]], axis=1).T
    most = np.max(np.abs(np.asarray(u(rim))))
    assert 1.0 < u.error_estimate(covering=None).linf / most < 2.0
