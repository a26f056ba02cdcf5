"""The best settings by hand, by the name of the problem; `collection.py --hand-scan NAME` prints a line."""

from __future__ import annotations

from collection_problems.hand import Hand

BY_HAND: dict[str, Hand] = {}
