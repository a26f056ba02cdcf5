"""The search for the best lengthscales and λ by a criterion, and the record of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from kernop.basics.errors import FloatArray, SingularGramError, fail
from kernop.basics.progress import Tick
from kernop.collocation import assembly
from kernop.collocation.functionals import Functionals
from kernop.kernels import Kernel
from kernop.trust.criteria import Spectrum, contract, lengthscales, spectrum, with_lengthscales

#: Is less better?
CRITERIA = {"loo": True, "gcv": True, "likelihood": False}
#: Factors of the lengthscale that are tried first; the search goes on between the neighbours of the best one.
STEP = 4.0
FACTORS = (1.0, 1.0 / STEP, STEP, STEP**-2, STEP**2)
#: Evaluations of that search, for a common factor and (at most) for the likelihood.
REFINEMENTS, CLIMBS = 8, 40
TINY = float(np.finfo(np.float64).tiny)
#: λ in units of the mean of w_i G_ii. Less than the first is lost in the rounding errors of the eigenvalues.
RELATIVE: FloatArray = np.logspace(-14.0, -2.0, 25)


@dataclass(frozen=True)
class Trial:
    """One pair of a kernel and a λ that was tried.

    Attributes:
        factor: of the lengthscales, against those given; their geometric mean if they changed differently.
        regularization: λ.
        value: of the criterion.
        lengthscales: all of them, one after the other.
    """

    factor: float
    regularization: float
    value: float
    lengthscales: tuple[float, ...]


@dataclass(eq=False, kw_only=True)
class Search:
    """The search over lengthscales and λ, and the record of it.

    Arguments:
        kernel: where it starts.
        functionals, weights, data: P_i, w_i (N,) and h (N, B).
        criterion: "loo", "gcv" or "likelihood".
        regularizations: the λ to try; None for a range in units of the mean of w_i G_ii.
        tick: is told the part that is done.
    """

    kernel: Kernel
    functionals: Functionals
    weights: FloatArray
    data: FloatArray
    criterion: str
    regularizations: FloatArray | None
    tick: Tick | None = None
    path: list[Trial] = field(default_factory=list[Trial], init=False)

    def __post_init__(self) -> None:
        self.start, self._count = lengthscales(self.kernel), 0

    @property
    def best(self) -> Trial:
        """The best trial so far."""
        if not self.path:
            got = f"{self.regularizations}, all of them lost in rounding errors of the Gram matrix"
            raise fail(SingularGramError, "regularizations", got, "give larger ones, or None for a sensible range")
        return min(self.path, key=self._cost)

    def scan(self, factor: float) -> float:
        """Try a common factor of the lengthscales with every λ; the least cost."""
        lengths = factor * self.start
        factored = self._factorise(lengths)
        lams = factored.scale * RELATIVE if self.regularizations is None else self.regularizations
        lams = lams[lams >= 0.99 * RELATIVE[0] * factored.scale]
        found = [self._record(lengths, *pair) for pair in zip(lams, self._values(factored, lams), strict=True)]
        return min(map(self._cost, found), default=np.inf)

    def refine(self) -> None:
        """Search for the best common factor, between the neighbours of the best one so far."""
        middle, step = np.log(self.best.factor), np.log(STEP)
        minimize_scalar(
            lambda t: np.log(max(self.scan(float(np.exp(t))), TINY)),
            bounds=(middle - step, middle + step),
            method="bounded",
            options={"maxiter": REFINEMENTS, "xatol": 0.01},
        )

    def climb(self, move: bool) -> None:
        """Maximise the likelihood over all log lengthscales (if they may move) and log λ, from the best trial so far.

        When no λ were given, log(λ / scale) is the variable, so that its bounds follow the kernel.
        """
        best, lengths = self.best, np.log(self.best.lengthscales)
        kernel = with_lengthscales(self.kernel, np.array(best.lengthscales))
        scale = float(np.mean(self.weights * assembly.squared_norms(kernel, self.functionals)))
        unit, lams = (scale, RELATIVE) if self.regularizations is None else (1.0, self.regularizations)
        least = max(lams[0], RELATIVE[0] * scale / unit)
        span = np.log(STEP) if move else 0.0
        bounds = [*zip(lengths - span, lengths + span, strict=True), (np.log(least), np.log(max(least, lams[-1])))]
        minimize(
            self.descent,
            np.append(lengths, np.log(best.regularization / unit)),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxfun": CLIMBS, "ftol": 1e-6},
        )

    def descent(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """−(log likelihood) / N and its gradient, at the log lengthscales and log λ (or log(λ / scale))."""
        lengths, n = np.exp(theta[:-1]), len(self.functionals)
        factored = self._factorise(lengths)
        relative = self.regularizations is None
        lam = float(np.exp(theta[-1])) * (factored.scale if relative else 1.0)
        value = self._record(lengths, lam, self._values(factored, lam).item()).value
        m = factored.sensitivity(lam)
        slope = lam * n * float(np.trace(m))
        if relative:  # λ moves with the mean of the diagonal of B
            m[np.diag_indices(n)] += slope / (n * factored.scale)
        kernel = with_lengthscales(self.kernel, lengths)
        return -value / n, -np.append(contract(kernel, self.functionals, self.weights, m), slope) / n

    def _factorise(self, lengths: FloatArray) -> Spectrum:
        self._count += 1
        if self.tick is not None:
            self.tick(min(1.0, self._count / (len(FACTORS) + REFINEMENTS)))
        return spectrum(with_lengthscales(self.kernel, lengths), self.functionals, self.weights, self.data)

    def _values(self, factored: Spectrum, lams: Any) -> FloatArray:
        return getattr(factored, self.criterion)(lams)

    def _record(self, lengths: FloatArray, lam: float, value: float) -> Trial:
        factor = float(np.exp(np.mean(np.log(lengths / self.start)))) if len(lengths) else 1.0
        self.path.append(Trial(factor, float(lam), float(value), tuple(map(float, lengths))))
        return self.path[-1]

    def _cost(self, trial: Trial) -> float:
        return trial.value if CRITERIA[self.criterion] else -trial.value
