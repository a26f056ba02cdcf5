"""Published problems with an exact or high-precision solution, one family in each file."""

from collection_problems import (
    anisotropic,
    diffusion,
    dimensions,
    elliptic,
    helmholtz,
    local,
    plates,
    rough,
    stiff,
    transport,
    waves,
)
from collection_problems.entry import Entry

FAMILIES = (elliptic, rough, helmholtz, diffusion, waves, transport, plates, anisotropic, local, dimensions, stiff)
ENTRIES: tuple[Entry, ...] = tuple(entry for family in FAMILIES for entry in family.ENTRIES)
