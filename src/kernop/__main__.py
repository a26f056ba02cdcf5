"""``python -m kernop`` is the ``kernop`` command."""

from kernop.cli import main

main()
