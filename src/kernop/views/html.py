"""What a notebook shows of a value: a small table, and a small picture if matplotlib is there."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from html import escape
from importlib import import_module

from kernop.basics.extras import Axes


def html_table(title: str, rows: Sequence[Sequence[object]], draw: Callable[[Axes], object] | None = None) -> str:
    """A table with a title, and beside it what ``draw`` draws on axes of matplotlib."""
    cells = [[f"<td style='text-align:left'>{escape(str(cell))}</td>" for cell in row] for row in rows]
    lines = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    table = f"<table><caption style='text-align:left'><b>{escape(title)}</b></caption>{lines}</table>"
    picture = "" if draw is None else thumbnail(draw)
    return f"<div style='display:flex;gap:1em;align-items:flex-start'><div>{table}</div>{picture}</div>"


def thumbnail(draw: Callable[[Axes], object]) -> str:
    """A small picture as an element of HTML; nothing where it cannot be drawn."""
    try:
        figure = import_module("matplotlib.figure").Figure(figsize=(3.0, 2.2), dpi=90, layout="constrained")
        axis = figure.subplots()
        draw(axis)
        axis.title.set_fontsize(8)
        axis.tick_params(labelsize=7)
        buffer = io.BytesIO()
        import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(figure).print_png(buffer)
    except Exception:  # a picture never stands in the way of an answer
        return ""
    return f"<img alt='' src='data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}'/>"
