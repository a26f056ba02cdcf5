"""What is doubtful about an operator whatever its data: an ill-posed problem, coefficients that are not resolved."""

from __future__ import annotations

from dataclasses import dataclass

from kernop.basics.stored import stored
from kernop.trust.resolution import Roughness
from kernop.trust.wellposed import Stability


@stored("diagnosis")
@dataclass(frozen=True)
class Diagnosis:
    """What was found when an operator was learned; None where it was not looked at."""

    stability: Stability | None = None
    roughness: Roughness | None = None

    @property
    def ill_posed(self) -> bool:
        """Do the conditions leave a function undetermined, or nearly so?"""
        return self.stability is not None and self.stability.ill_posed

    @property
    def unresolved(self) -> bool:
        """Is there a coefficient that the points do not resolve?"""
        return self.roughness is not None and self.roughness.unresolved
