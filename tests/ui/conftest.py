"""Starts `fathom view` and a browser for the tests of the page.

Needs FATHOM, the binary, and the environment of `tools/setup browser ui`. FATHOM_UI_TESTS=all runs what the gate leaves to
the night.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

ROOT = Path(__file__).resolve().parent.parent.parent
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
EXAMPLE = ROOT / "examples/resnet50_v100.pt.trace.json.gz"
TRACES = ROOT / "tests/data/traces"
VIEWS = ["diagnosis", "timeline", "tables", "flame", "memory", "ranks", "compare"]
ALL = os.environ.get("FATHOM_UI_TESTS") == "all"
# Software GL: the same picture on every machine.
CHROMIUM = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-gpu-vsync"]
TIMEOUT = 60_000

nightly = pytest.mark.skipif(not ALL, reason="left to the night: FATHOM_UI_TESTS=all")


def fathom_json(*arguments: str) -> dict:
    """What the command line says."""
    done = subprocess.run([FATHOM, *arguments, "--json"], capture_output=True, text=True, check=True, cwd=ROOT)
    return json.loads(done.stdout)


@contextlib.contextmanager
def served(*inputs: Path | str) -> Iterator[str]:
    """The address of the page of a recording."""
    command = [FATHOM, "view", "--no-open", *map(str, inputs)]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        assert address.startswith("http://"), (address, server.stderr.read() if server.stderr and server.poll() is not None else "")
        yield address
    finally:
        server.terminate()
        server.wait(30)


# The page has read its new address once its own listener, which is the older one, was called.
CHANGE_FRAGMENT = """fragment => new Promise(done => {
    addEventListener('hashchange', () => done(), { once: true });
    const before = location.hash;
    location.hash = fragment;
    if (location.hash === before) done();
})"""


class Visit:
    """A page, and all that it said and asked for."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.address = address
        self.page: Page = context.new_page()
        self.page.set_default_timeout(TIMEOUT)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        # Software GL speaks of its own speed when a test reads pixels back.
        if "GPU stall due to ReadPixels" not in message.text:
            self.said.append(f"{message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        self.asked.append(request.url)

    def go(self, fragment: str = "") -> Page:
        if fragment and self.page.url.split("#")[0] == self.address:
            self.page.evaluate(CHANGE_FRAGMENT, fragment)
        else:
            self.page.goto(self.address + (f"#{fragment}" if fragment else ""))
        self.page.wait_for_selector("main .view > *")
        return self.page

    def settled(self) -> None:
        """Waits until a view is there, nothing is loading, and the timeline, where it is shown, is exact."""
        self.page.wait_for_function(
            """() => document.querySelector('main .view > *') && !document.querySelector('.loading, [aria-busy=true]') &&
            [...document.querySelectorAll('.tl-boxes')].every((canvas) => canvas.dataset.exact === 'true')"""
        )

    def check_quiet(self) -> None:
        """The console is empty, and nobody but our server was asked."""
        assert self.said == []
        origin = "/".join(self.address.split("/")[:3]) + "/"
        foreign = [url for url in self.asked if not url.startswith((origin, "blob:"))]
        assert foreign == []


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = os.environ.get("FATHOM_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium: tools/setup browser")
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM)
        yield made
        made.close()


@contextlib.contextmanager
def visited(browser: Browser, address: str, theme: str = "light", width: int = 1280, height: int = 720, **more: object) -> Iterator[Visit]:
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=theme,  # type: ignore[arg-type]
        reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"],
        **more,  # type: ignore[arg-type]
    )
    try:
        yield Visit(context, address)
    finally:
        context.close()


@pytest.fixture(scope="session")
def example() -> Iterator[str]:
    with served(EXAMPLE) as address:
        yield address


EVIL = """<img src=x onerror="window.ran=1"><script>window.ran=2</script>"""
RIGHT_TO_LEFT = "שלום \u202eevil\u202c عالم"
LONG = "long_" + "x" * 100_000


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording whose names try to run, to turn the page around, and to fill it."""
    events = []
    for step in range(3):
        begin = step * 1000
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": begin, "dur": 990})
        for i, name in enumerate([EVIL, RIGHT_TO_LEFT, LONG, "javascript:window.ran=3", "{{constructor}}"]):
            at = begin + 10 + 150 * i
            arguments = {"External id": 10 * step + i, "Input Dims": EVIL, EVIL: EVIL}
            events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": 100, "args": arguments})
            call = {"correlation": 100 * step + i}
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 5, "dur": 5, "args": call})
            kernel = {**call, "device": 0, "stream": 7}
            events.append({"ph": "X", "cat": "kernel", "name": f"kernel {name}", "pid": 0, "tid": 7, "ts": at + 20, "dur": 60, "args": kernel})
    events.append({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": EVIL}})
    events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": EVIL}})
    path = tmp_path_factory.mktemp("hostile") / "<b onclick=1>hostile.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"traceEvents": events}).encode()))
    return path


@pytest.fixture(scope="session")
def memory_recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two calls of a thread that allocate, and a longer one that does not."""
    events: list[dict] = [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": begin, "dur": duration}
        for name, begin, duration in (("outer", 0, 100), ("inner", 10, 20), ("late", 200, 500))
    ]
    total = 0
    for at, size in ((15, 1024), (40, 4096), (160, -1024)):
        total += size
        arguments = {"Device Type": 1, "Device Id": 0, "Bytes": size, "Addr": 4096 if abs(size) == 1024 else 65536,
                     "Total Allocated": total, "Total Reserved": 8192}
        events.append({"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": at, "args": arguments})
    path = tmp_path_factory.mktemp("memory") / "memory.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path
