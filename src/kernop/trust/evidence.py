"""What the data say of the scale of the prior, and how likely they are: the marginal likelihood in closed form.

Under the prior u ~ GP(0, s²K), with noise of variance s² λN / w_k, the data are h ~ N(0, s²Σ), Σ = G + λN W⁻¹ (for
`Subspace`: Σ = A C Aᵀ + noise, with the covariance C of its coefficients). So

    log p(h | s) = −½ hᵀΣ⁻¹h / s² − N log s − ½ log det Σ − (N/2) log 2π,      best at   s² = hᵀΣ⁻¹h / N.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, NonFiniteError, fail
from kernop.methods import Factorisation


@dataclass(frozen=True, eq=False)
class Evidence:
    """The marginal likelihood of data under the Gaussian-process prior, and the scale that makes it largest.

    Attributes:
        scale: s, the most likely scale of the prior and of the noise together; 1 if the noise is stated. (B,) for B
            inputs, else a number.
        log_likelihood: log p(h | s) of the data at this scale, to compare kernels, λ and noise by; shape as above.
    """

    scale: FloatArray | float
    log_likelihood: FloatArray | float


def data_scale(factorisation: Factorisation, h: FloatArray) -> FloatArray:
    """The scale s of the posterior for each column of h (N, B): (B,).

    Without a prior it is the standard deviation of the noise of a row of weight 1, from what least squares leave of
    the data: s² = Σ w_i |P_i û − h_i|² / (N − L).
    """
    if factorisation.freedom <= 0:
        got = f"{len(h)} points for {len(h) - factorisation.freedom} trial functions: nothing is left to tell the noise"
        raise fail(ArgumentError, "u.std", got, "give more points, fewer centres, regularization= or noise=")
    # Squares of data that are very small or large would leave the range of numbers.
    size = np.max(np.abs(h), axis=0)
    size[size == 0.0] = 1.0
    return size * np.sqrt(factorisation.misfit(h / size) / factorisation.freedom)


def evidence(factorisation: Factorisation, h: FloatArray, stated: bool, single: bool) -> Evidence:
    """The scale and the likelihood of data h (N, B); the scale is 1 if the noise is ``stated``."""
    if not factorisation.proper:
        got = "a Subspace operator without regularisation, which has no prior"
        remedy = "give regularization= or noise=, or use ko.Full() or ko.LowRank()"
        raise fail(ArgumentError, "T.evidence", got, remedy)
    scale = np.ones(h.shape[1]) if stated else data_scale(factorisation, h)
    if not np.all(scale > 0.0):
        remedy = "give data that are not all zero, or state the noise in learn(noise=…)"
        raise fail(ArgumentError, "T.evidence", "data that are all zero, for which no scale is the most likely", remedy)
    n = len(h)
    fit = factorisation.misfit(h) if stated else np.full(len(scale), float(n))
    if not np.all(np.isfinite(fit)):
        got = f"data as large as {np.max(np.abs(h)):g}, for which the likelihood is 0 to rounding"
        raise fail(NonFiniteError, "T.evidence", got, "state a noise, and give a kernel, of the scale of the data")
    log = -0.5 * (fit + factorisation.log_determinant() + n * np.log(2.0 * np.pi)) - n * np.log(scale)
    return Evidence(float(scale[0]), float(log[0])) if single else Evidence(scale, log)
