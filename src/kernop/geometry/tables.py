"""Points from text files: comma-separated columns, with or without a line of names."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from kernop.basics.errors import FileError, FloatArray, fail


def table(name: str, path: Path) -> FloatArray:
    """The numbers of a file, (n, columns); a first line of words is left out."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = [row for row in csv.reader(stream) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        got = f"{str(path)!r}, which cannot be read ({error})"
        raise fail(FileError, name, got, "give the path of a file of comma-separated numbers") from error
    if rows and not _numbers(rows[0]):
        rows = rows[1:]
    if not rows:
        raise fail(FileError, name, f"{str(path)!r}, which has no numbers", "give one row for each point")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]) or not _numbers(row):
            got = f"{str(path)!r}, whose row {number + 1} of numbers is {','.join(row)[:60]!r}"
            raise fail(FileError, name, got, f"give {len(rows[0])} numbers in each row")
    return np.array(rows, dtype=np.float64)


def _numbers(row: list[str]) -> bool:
    try:
        return all(map(np.isfinite, map(float, row)))
    except ValueError:
        return False
