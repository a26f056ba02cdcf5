"""What is doubtful about an operator whatever its data: an ill-posed problem, coefficients that are not resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kernop.trust.resolution import Roughness
from kernop.trust.wellposed import Stability


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

    def entries(self) -> dict[str, Any]:
        """As numbers and words for a file."""
        found: dict[str, Any] = {}
        if self.stability is not None:
            found |= {"stability": float(min(self.stability.number, 1e300)), "unseen": self.stability.unseen}
        if self.roughness is not None:
            found |= {"roughness": float(min(self.roughness.part, 1e300)), "roughest": self.roughness.where}
        return found


def from_entries(entries: dict[str, Any]) -> Diagnosis:
    """What `Diagnosis.entries` told; entries that are not there, or of another kind, are not known."""

    def pair(number: str, words: str) -> tuple[float, str] | None:
        value, text = entries.get(number), entries.get(words)
        return (float(value), text) if isinstance(value, int | float) and isinstance(text, str) else None

    stability, roughness = pair("stability", "unseen"), pair("roughness", "roughest")
    return Diagnosis(Stability(*stability) if stability else None, Roughness(*roughness) if roughness else None)
