"""Bad and good geometry: random polygons and random trees of set operations, against shapely and Monte Carlo.

Areas, lengths, normals and samples are right, or an error has a reason.

Usage: python benchmarks/fuzz_geometry.py [number] [first seed].
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
from common import save, table
from fuzzing.shapes import Shape, judged, polygon, tree


def drawn(seed: int) -> tuple[str, Shape]:
    """The kind of the shape of this number, and the shape."""
    rng = np.random.default_rng(seed)
    kind = seed % 5
    if kind == 0:
        return "polygons", polygon(rng, star=bool(rng.random() < 0.5))
    if kind == 1:
        return "trees on a line", tree(rng, 1, 3)
    if kind == 2:
        return "trees in space", tree(rng, 3, 2)
    return "trees in the plane", tree(rng, 2, 3)


def main(number: int = 2000, first: int = 0) -> int:
    """Try so many; the number of those that are wrong."""
    counts, wrong = Counter[tuple[str, str]](), list[str]()
    for seed in range(first, first + number):
        kind, shape = drawn(seed)
        outcome, why = judged(shape, seed)
        counts[kind, outcome] += 1
        if outcome == "wrong":
            wrong.append(f"{seed}: {why}\n    {shape.name}")
            print(wrong[-1], flush=True)
    kinds = sorted({kind for kind, _ in counts})
    rows = [[kind, *(str(counts[kind, outcome]) for outcome in ("right", "refused", "wrong"))] for kind in kinds]
    table(f"{number} random shapes", ["kind", "right", "refused with a reason", "wrong"], rows)
    save("fuzz_geometry", {"rows": rows, "wrong": wrong})
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
