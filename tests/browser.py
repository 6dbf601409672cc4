"""A headless Chromium, driven over its DevTools pipe.

The protocol is JSON through two file descriptors: beside the browser nothing need be installed.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SWITCHES = (
    "--headless=new",
    "--no-sandbox",  # it does not work for root and in many containers, and only our own files are opened
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--mute-audio",
    "--window-size=1280,900",
)
PATIENCE = 60.0

# The browser reads from descriptor 3 and writes to 4, whatever numbers the pipes have here.
LAUNCHER = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find() -> str | None:
    """Return the browser's program, None where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One Chromium with one page. It keeps the requests that the page makes, and what goes wrong in it."""

    def __init__(self, program: str, folder: Path) -> None:
        to_browser, from_here = os.pipe()
        from_browser, to_here = os.pipe()
        switches = [*SWITCHES, f"--user-data-dir={folder}"]
        command = [sys.executable, "-c", LAUNCHER, str(to_browser), str(to_here), program, *switches, "about:blank"]
        self._process = subprocess.Popen(
            command,
            pass_fds=(to_browser, to_here),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(to_here)
        self._write, self._read = from_here, from_browser
        self._rest, self._events, self._ids = b"", [], itertools.count(1)
        self._session = None
        self._requests: dict[str, str] = {}
        self.complaints: list[str] = []
        try:
            self._attach()
        except (OSError, RuntimeError, TimeoutError):
            self.close()
            raise

    def _attach(self) -> None:
        target = next(t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def close(self) -> None:
        """End the browser, gently if it can be."""
        self._session = None  # the command is for the browser, not for its page
        try:
            self.send("Browser.close")
            self._process.wait(10)
        except (OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait(10)
        finally:
            os.close(self._write)
            os.close(self._read)

    # ---- the protocol

    def send(self, method: str, **params: Any) -> Any:
        """Send a command and return its result."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        while (answer := self._receive()).get("id") != number:
            self._note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def _receive(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError(f"the browser said nothing for {PATIENCE:g} s")
            chunk = os.read(self._read, 1 << 16)
            if not chunk:
                raise RuntimeError("the browser has ended")
            self._rest += chunk
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def _note(self, event: dict[str, Any]) -> None:
        self._events.append(event.get("method"))
        params = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self._requests[params["requestId"]] = params["request"]["url"]
        elif event.get("method") == "Network.loadingFailed" and params.get("blockedReason"):
            self._requests.pop(params["requestId"], None)  # by the page's own policy: it never left
        elif event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])

    @property
    def requests(self) -> list[str]:
        """The addresses of what the page has asked for since it was opened."""
        return list(self._requests.values())

    # ---- what a person does

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self._events.clear()
        self._requests.clear()
        self.complaints.clear()
        self.send("Page.navigate", url=path.as_uri())
        while "Page.loadEventFired" not in self._events:
            self._note(self._receive())

    def run(self, script: str) -> Any:
        """Run a script, which may be a promise, and return the value of its last expression."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"].get("exception", {}).get("description", str(found)))
        return found["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys one after the other: names such as "Tab", or single letters. "Shift+Tab" holds one down."""
        for key in keys:
            held, _, name = key.rpartition("+") if len(key) > 1 else ("", "", key)
            code, text = {"Enter": (13, "\r"), "Tab": (9, ""), " ": (32, " ")}.get(
                name, (0, name if len(name) == 1 else "")
            )
            if not code:
                arrows = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}
                code = arrows.get(name) or ord(name.upper())
            params = {"key": name, "windowsVirtualKeyCode": code, "modifiers": 8 if held == "Shift" else 0}
            self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **params)
            self.send("Input.dispatchKeyEvent", type="keyUp", **params)

    def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, kind: str) -> None:
        """Show the page as on "screen" or in "print"."""
        self.send("Emulation.setEmulatedMedia", media=kind)

    def picture(self) -> bytes:
        """Return the whole page as a PNG file."""
        found = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        return base64.b64decode(found["data"])

    def pdf(self) -> bytes:
        """Print the page on A4 paper."""
        found = self.send(
            "Page.printToPDF", paperWidth=8.27, paperHeight=11.69, preferCSSPageSize=True, printBackground=True
        )
        return base64.b64decode(found["data"])
