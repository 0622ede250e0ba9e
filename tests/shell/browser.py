# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, driven through its DevTools protocol over a pair of pipes."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any

import gossamer_setup

_PATIENCE = 60.0


class Browser:
    """One page of a browser whose profile is in ``folder``. Installs Chromium if it is missing and the user is root."""

    def __init__(self, folder: Path) -> None:
        program = gossamer_setup.program("chromium", "chromium")
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # The protocol has the browser's file descriptors 3 and 4.
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
                   "--remote-debugging-pipe", f"--user-data-dir={folder}"]  # fmt: skip
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", program, *options, "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._next, self._session = b"", 0, ""
        self.messages: list[str] = []
        """Errors of scripts and of the console."""
        target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        with contextlib.suppress(OSError, EOFError, AssertionError):
            self._session = ""
            self.call("Browser.close")
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def call(self, method: str, **parameters: Any) -> Any:
        self._next += 1
        command = {"id": self._next, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._out, json.dumps(command).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._next:
            if answer.get("method") == "Runtime.exceptionThrown":
                self.messages.append(json.dumps(answer["params"]))
            if answer.get("method") == "Log.entryAdded":
                self.messages.append(f"{answer['params']['entry']['level']}: {answer['params']['entry']['text']}")
        assert "error" not in answer, answer
        return answer["result"]

    def _receive(self) -> dict[str, Any]:
        end = time.monotonic() + _PATIENCE
        while b"\0" not in self._buffer:
            assert select.select([self._in], [], [], max(0.0, end - time.monotonic()))[0], "the browser does not answer"
            more = os.read(self._in, 1 << 16)
            if not more:
                raise EOFError
            self._buffer += more
        message, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def open(self, address: str) -> None:
        self.call("Page.navigate", url=address)

    def size(self, width: int, height: int, dark: bool = False) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait_for(self, expression: str, timeout: float = 20.0) -> None:
        """Waits until an expression is true."""
        end = time.monotonic() + timeout
        while not self.value(expression):
            assert time.monotonic() < end, (expression, self.value("document.body.innerText"), self.messages)
            time.sleep(0.05)

    def picture(self, path: Path, whole: bool = True) -> None:
        taken = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(taken["data"]))
