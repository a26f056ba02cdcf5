"""A real Chromium, driven through its DevTools protocol over a pair of pipes: no driver, no port, no other package."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)

#: Chromium reads from descriptor 3 and writes to 4.
PLACE = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for end, place in zip(ends, (3, 4)):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""


def chromium() -> str | None:
    """The path of a Chromium, if there is one."""
    return next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )


class Browser:
    """One page in a headless Chromium; use it as a context."""

    def __init__(self, timeout: float = 60.0) -> None:
        path = chromium()
        assert path is not None
        self._profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        take, self._write = os.pipe()
        self._read, give = os.pipe()
        command = [path, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        wrapped = [sys.executable, "-c", PLACE, str(take), str(give), *command]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(wrapped, pass_fds=(take, give), stdout=quiet, stderr=quiet)
        os.close(take)
        os.close(give)
        self._timeout, self._number, self._buffer, self._session = timeout, 0, b"", None
        self.events: list[dict] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()

    def send(self, method: str, **parameters: object) -> dict:
        """Call a method of the protocol, and wait for what it returns."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            found = self._receive()
            if found.get("id") == self._number:
                assert "error" not in found, found
                return found["result"]
            self.events.append(found)

    def _receive(self) -> dict:
        ends = time.monotonic() + self._timeout
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(ends - time.monotonic(), 0.0))
            if not ready:
                raise TimeoutError("Chromium does not answer")
            piece = os.read(self._read, 2**20)
            if not piece:
                raise ConnectionError("Chromium ended")
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def open(self, url: str, ready: str) -> None:
        """Load a page, and wait until an expression is true."""
        self.send("Page.navigate", url=url)
        self.until(ready)

    def run(self, script: str):
        """The value of a JavaScript expression; promises are awaited."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression is true."""
        ends = time.monotonic() + self._timeout
        while not self.run(f"Boolean({script})"):
            if time.monotonic() > ends:
                raise TimeoutError(script)
            time.sleep(0.02)

    def settle(self) -> None:
        """Wait for two frames to be drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def mouse(self, kind: str, x: float, y: float, **more: object) -> None:
        """A mouse event: mousePressed, mouseMoved, mouseReleased."""
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1, buttons=1, **more)

    def key(self, name: str, code: int) -> None:
        """Press and release a key."""
        for kind in ("rawKeyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    def viewport(self, width: int, height: int, *, mobile: bool = False, scale: float = 1.0) -> None:
        """The size of the window; of a phone if it is mobile."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile
        )
        self.send("Emulation.setTouchEmulationEnabled", enabled=mobile)

    def dark(self, on: bool) -> None:
        """Does the system prefer dark colours?"""
        value = "dark" if on else "light"
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def screenshot(self, path: Path) -> None:
        """What the window shows, as a PNG file."""
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    def requests(self) -> list[str]:
        """The addresses of all requests that the page has made."""
        self.run("0")
        own = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in own if not url.startswith(("data:", "blob:"))]

    def complaints(self) -> list[str]:
        """What stands on the console as an error, and exceptions."""
        self.run("0")
        found: list[str] = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(json.dumps(event["params"]["exceptionDetails"])[:500])
            if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"])
        return found
