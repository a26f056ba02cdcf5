"""A job for processes that share a socket: each connection is told the number of the process that took it."""

import os


def tell(listening):
    while True:
        link, _ = listening.accept()
        with link:
            link.sendall(str(os.getpid()).encode())


def fail_at_once(listening):
    raise SystemExit(3)
