"""Each view in Firefox, served and as a file. Playwright drives a Firefox of its own only: this one, Debian's, is asked by Marionette."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import EXAMPLE, FATHOM, VIEWS, nightly

FIREFOX = os.environ.get("FATHOM_FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")
WAIT = 180  # a loaded machine starts Firefox in minutes
SETTLED = """return Boolean(document.querySelector('main .view > *')) && !document.querySelector('.loading, [aria-busy=true]') &&
    (document.querySelector('.tl-boxes')?.dataset.exact ?? 'true') === 'true'"""
# What the page did wrong, as the console has it.
ERRORS = """return Services.console.getMessageArray().filter(each => each instanceof Ci.nsIScriptError && !(each.flags & 1))
    .filter(each => /^(http:..127|file:)/.test(each.sourceName)).map(each => each.errorMessage)"""

pytestmark = [nightly, pytest.mark.skipif(FIREFOX is None, reason="no Firefox here: FATHOM_FIREFOX names one")]


class Marionette:
    """Firefox's own protocol: length, colon, JSON."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=WAIT)
        self.stream = self.socket.makefile("rb")
        self.number = 0
        self.receive()
        self.ask("WebDriver:NewSession", {})

    def receive(self) -> list:
        length = b""
        while (byte := self.stream.read(1)) != b":":
            length += byte
        return json.loads(self.stream.read(int(length)))

    def ask(self, command: str, parameters: dict) -> object:
        self.number += 1
        message = json.dumps([0, self.number, command, parameters]).encode()
        self.socket.sendall(str(len(message)).encode() + b":" + message)
        _, _, error, result = self.receive()
        assert error is None, error
        return result.get("value") if isinstance(result, dict) else result

    def open(self, address: str) -> None:
        self.ask("WebDriver:Navigate", {"url": "about:blank"})
        self.ask("WebDriver:Navigate", {"url": address})
        end = time.monotonic() + WAIT
        while not self.run(SETTLED):
            assert time.monotonic() < end, f"{address} does not settle"
            time.sleep(0.1)

    def run(self, script: str) -> object:
        return self.ask("WebDriver:ExecuteScript", {"script": script, "args": []})

    def errors(self) -> object:
        self.ask("Marionette:SetContext", {"value": "chrome"})
        found = self.run(ERRORS)
        self.ask("Marionette:SetContext", {"value": "content"})
        return found


@contextlib.contextmanager
def started(profile: Path) -> Iterator[Marionette]:
    (profile / "user.js").write_text('user_pref("marionette.port", 0);\nuser_pref("browser.shell.checkDefaultBrowser", false);\n')
    command = [str(FIREFOX), "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", str(profile)]
    browser = subprocess.Popen(command, env={**os.environ, "HOME": str(profile)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port = profile / "MarionetteActivePort"
        end = time.monotonic() + WAIT
        while not (port.exists() and port.read_text().strip()):
            assert browser.poll() is None and time.monotonic() < end, "Firefox does not start"
            time.sleep(0.1)
        yield Marionette(int(port.read_text()))
    finally:
        browser.terminate()
        browser.wait(30)


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marionette]:
    with started(tmp_path_factory.mktemp("firefox")) as browser:
        yield browser


def check(firefox: Marionette, address: str, view: str) -> None:
    firefox.open(f"{address}#v={view}")
    assert firefox.run("return document.querySelectorAll('[role=alert]').length") == 0
    assert firefox.run("return document.querySelector('nav button[aria-current=page]') !== null")
    assert firefox.run(f"return document.querySelector('.view-{view}').innerText.trim()") != ""
    assert firefox.errors() == []


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_opens(firefox: Marionette, example: str, view: str) -> None:
    check(firefox, example, view)


def test_a_page_in_a_file_opens(firefox: Marionette, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    subprocess.run([FATHOM, "view", "--html", page, EXAMPLE], check=True, capture_output=True)
    for view in VIEWS:
        check(firefox, page.as_uri(), view)
