"""Several processes at one address: they share the work, one that is killed is replaced, and all end with the first."""

import os
import signal
import socket
import threading
import time
from pathlib import Path

import pytest
from telling_pid import fail_at_once, tell

from kernop.errors import ArgumentError
from kernop.serving.fleet import fleet


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answered_by(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as link:
            return int(link.recv(20) or 0)
    except OSError:
        return 0


class Client(threading.Thread):
    """Asks until two processes have answered, kills one, asks until a third has, and ends the first process' wait."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.seen, self.killed = port, set(), 0

    def run(self):
        try:
            self.asked(2)
            self.killed = self.seen.pop()
            os.kill(self.killed, signal.SIGKILL)
            self.asked(2)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    def asked(self, number):
        ends = time.monotonic() + 60
        while len(self.seen) < number and time.monotonic() < ends:
            self.seen |= {answered_by(self.port)} - {0, self.killed}
            time.sleep(0.02)


def test_processes_share_an_address_and_are_replaced():
    client = Client(free_port())
    client.start()
    fleet(tell, 2, "127.0.0.1", client.port)
    client.join()
    assert client.killed
    assert len(client.seen) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in client.seen)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_what_cannot_begin_is_an_error():
    with pytest.raises(ArgumentError, match="ended by itself, with 3"):
        fleet(fail_at_once, 1, "127.0.0.1", free_port())
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ArgumentError, match="nothing can listen"):
        fleet(fail_at_once, 1, "127.0.0.1", taken.getsockname()[1])
