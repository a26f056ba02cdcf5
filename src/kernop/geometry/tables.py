"""Points from text files: comma-separated columns, with or without a line of names."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from kernop.basics.errors import FileError, FloatArray, fail

#: Names of coordinates, by their place in the usual order.
USUAL = {
    name: rank
    for rank, names in enumerate(("x lon longitude easting", "y lat latitude northing", "z depth height", "t time"))
    for name in names.split()
}


def table(name: str, path: Path) -> FloatArray:
    """The numbers of a file, (n, columns); a first line of words, and lines that begin with #, are left out."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            lines = csv.reader(stream)
            rows = [row for row in lines if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#")]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        got = f"{str(path)!r}, which cannot be read ({error})"
        raise fail(FileError, name, got, "give the path of a file of comma-separated numbers") from error
    if rows and not any(map(_number, rows[0])):
        columns = tuple(cell.strip() for cell in rows.pop(0))
        if usual_order(columns) != columns:
            got = f"{str(path)!r}, whose columns are {', '.join(columns)}"
            raise fail(FileError, name, got, f"give them in the order {', '.join(usual_order(columns))}")
    if not rows:
        raise fail(FileError, name, f"{str(path)!r}, which has no numbers", "give one row for each point")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]) or not all(map(_number, row)) or not np.all(np.isfinite(list(map(float, row)))):
            got = f"{str(path)!r}, whose row {number + 1} of numbers is {','.join(row)[:60]!r}"
            several = f"give {len(rows[0])} numbers in each row"
            raise fail(FileError, name, got, several if len(rows[0]) > 1 else "put commas between the numbers")
    found = np.array(rows, dtype=np.float64)
    if _counts(found):
        got = f"{str(path)!r}, whose first column only counts the rows"
        raise fail(FileError, name, got, "leave it out, as with index=False of pandas")
    return found


def usual_order(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names, with those of coordinates in their usual order, x before y before z before t."""
    known = [name for name in names if name.lower() in USUAL]
    wanted = iter(sorted(known, key=lambda name: USUAL[name.lower()]))
    return tuple(next(wanted) if name in known else name for name in names)


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _counts(found: FloatArray) -> bool:
    """Is the first of several columns 0, 1, 2, … or 1, 2, 3, …?"""
    n, columns = found.shape
    return n > 2 and columns > 1 and any(np.array_equal(found[:, 0], np.arange(n) + k) for k in (0, 1))
