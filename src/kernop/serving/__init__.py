"""Operators for others: over HTTP (`kernop serve`), and as a page that runs in a browser alone (`kernop page`)."""

from kernop.serving.export import page, write_page

__all__ = ["page", "write_page"]
