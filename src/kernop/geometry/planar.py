"""The one place that knows shapely: is a polygon valid, and if not, why and where?"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from kernop.basics.errors import FloatArray, MissingExtraError, fail


def invalid(shell: FloatArray, holes: Sequence[FloatArray]) -> str | None:
    """What is wrong with a polygon, and where; None if its edges do not cross and its holes lie inside."""
    try:
        shapely = import_module("shapely")
    except ImportError as error:
        remedy = "install the extra 'geometry': pip install 'kernop[geometry]'"
        raise fail(MissingExtraError, "Polygon", "a polygon without shapely", remedy) from error
    reason = str(shapely.is_valid_reason(shapely.Polygon(shell, list(holes))))
    if reason == "Valid Geometry":
        return None
    what, _, where = reason.partition("[")
    place = ", ".join(f"{float(number):.4g}" for number in where.rstrip("]").split()) if where else ""
    return what.lower() + (f" at ({place})" if place else "")
