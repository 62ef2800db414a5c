"""A real browser, headless, told what to do through a pipe: Chromium's own protocol and no other program."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    """One page of a browser.

    Attributes:
        problems: What the page has written to its console, and errors of its script.
    """

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._left = b""
        self._number = 0
        self._session: str | None = None
        self.problems: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self._call(f"{domain}.enable")
        self._requests: list[str] = []

    def open(self, path: Path) -> list[str]:
        """Open a file and wait until it is loaded; return the addresses that were asked for besides it."""
        self._requests = []
        self._call("Page.navigate", url=path.as_uri())
        while self._message().get("method") != "Page.loadEventFired":
            pass
        return [address for address in self._requests if address != path.as_uri()]

    def prefer(self, scheme: str) -> None:
        """Let pages be ``light`` or ``dark``."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._call("Emulation.setEmulatedMedia", features=features)

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        found = self._call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def click(self, selector: str) -> None:
        """Press and release the mouse in the middle of an element."""
        x, y = self._middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def hover(self, selector: str) -> None:
        """Move the mouse to the middle of an element."""
        x, y = self._middle(selector)
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key: str) -> None:
        """Press and release a key, as ``Enter`` or ``ArrowDown``."""
        text = {"text": "\r"} if key == "Enter" else {}
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, **text)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    def _middle(self, selector: str) -> tuple[float, float]:
        x, y = self.run(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            "one.scrollIntoView({ block: 'center' }); const box = one.getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        return x, y

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        number = self._number
        while (answer := self._message()).get("id") != number:
            pass
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            part = os.read(self._read, 2**16)
            assert part, "the browser is gone"
            self._left += part
        content, _, self._left = self._left.partition(b"\0")
        message: dict[str, Any] = json.loads(content)
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.problems.append(str(parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            self.problems.append(str(parameters["exceptionDetails"]))
        elif method == "Network.requestWillBeSent":
            self._requests.append(parameters["request"]["url"])
        return message


@contextmanager
def browsing(profile: Path) -> Iterator[Browser]:
    """Start a browser; a test that asks for one is skipped where there is none."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("no Chromium is installed here")
    to_browser, from_browser = os.pipe(), os.pipe()

    def take_pipes() -> None:  # the browser reads from descriptor 3 and writes to 4
        given = os.dup(to_browser[0]), os.dup(from_browser[1])
        os.dup2(given[0], 3)
        os.dup2(given[1], 4)

    running = subprocess.Popen(
        [
            program,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-pipe",
            "--window-size=1200,900",
            f"--user-data-dir={profile}",
        ],
        preexec_fn=take_pipes,  # noqa: PLW1509  the tests that use it start no threads
        close_fds=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser[0])
    os.close(from_browser[1])
    try:
        yield Browser(to_browser[1], from_browser[0])
    finally:
        running.kill()
        running.wait()
        os.close(to_browser[1])
        os.close(from_browser[0])
