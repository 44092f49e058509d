"""All of the page, on recordings of all kinds; too long for the gate."""

from __future__ import annotations

import base64
import json
import re
import shlex
import shutil
import time
from pathlib import Path

import pytest
from conftest import EXAMPLE, ROOT, TRACES, VIEWS, Visit, fathom_json, nightly, served, visited
from playwright.sync_api import Browser, Page, Route
from tables import check_table

pytestmark = nightly

RECORDINGS = sorted(
    [
        EXAMPLE,
        *TRACES.glob("*.json.gz"),
        ROOT / "tests/data/plain/viztracer.json",
        ROOT / "tests/data/damaged/cut.json.gz",
        ROOT / "tests/data/runs/cpu_train",
        ROOT / "tests/data/runs/two_ranks",
    ]
)
REPORTS = [
    *("overview", "health", "info", "steps", "ops", "kernels", "copies", "launches", "syncs", "stacks", "modules", "collectives"),
    *("accounting", "gaps", "critical-path", "roofline", "ranges", "loader", "telemetry", "processes", "functions", "energy"),
]
AXE = ROOT / "ui/node_modules/axe-core/axe.min.js"


def short(path: Path) -> str:
    return path.name.split(".")[0]


@pytest.mark.parametrize("recording", RECORDINGS, ids=short)
def test_every_view_opens_quietly(browser: Browser, recording: Path) -> None:
    with served(recording) as address, visited(browser, address) as visit:
        for view in VIEWS:
            page = visit.go(f"v={view}")
            visit.settled()
            assert page.locator(f".view-{view}").inner_text().strip() != "", view
            assert page.locator("[role=alert]").count() == 0, (view, page.locator("[role=alert]").all_inner_texts())
        visit.check_quiet()


@pytest.mark.parametrize("recording", [EXAMPLE, TRACES / "tl_h100_bert_small.json.gz"], ids=short)
def test_every_table_is_that_of_the_command_line(browser: Browser, recording: Path) -> None:
    with served(recording) as address, visited(browser, address) as visit:
        for report in REPORTS:
            check_table(visit, report, fathom_json(report, "--limit", "5000", str(recording)))
        visit.check_quiet()


def test_a_scope_holds_in_every_table(browser: Browser, example: str) -> None:
    with visited(browser, example) as visit:
        for report in ("ops", "kernels", "accounting", "gaps"):
            scoped = fathom_json(report, "--limit", "5000", "--steps", "6-7", str(EXAMPLE))
            assert check_table(visit, report, scoped, "&steps=6-7") > 0
        by = fathom_json("kernels", "--group-by", "op", "--sort", "-calls", "--filter", "calls>10", "--limit", "5000", str(EXAMPLE))
        assert check_table(visit, "kernels", by, "&group-by=op&sort=-calls&filter=calls%3E10") > 0


def violations(visit: Visit) -> list[str]:
    visit.page.evaluate(AXE.read_text())
    found = visit.page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0]['failureSummary'][:300]}" for each in found]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, example: str, theme: str) -> None:
    with visited(browser, example, theme) as visit:
        states = [f"v={view}" for view in VIEWS]
        states += ["x=1&w=remove-syncs", "v=timeline&s=100", "v=timeline&a=0-90000000:0", "v=tables&r=energy", "v=tables&r=ops"]
        for fragment in states:
            visit.go(fragment)
            visit.settled()
            assert violations(visit) == [], fragment
        visit.page.keyboard.press("?")
        visit.page.wait_for_selector("dialog[open]")
        assert violations(visit) == []


def test_axe_finds_nothing_on_a_narrow_screen(browser: Browser, example: str) -> None:
    with visited(browser, example, width=640, height=900) as visit:
        for view in VIEWS:
            page = visit.go(f"v={view}")
            visit.settled()
            assert violations(visit) == [], view
            wide = page.evaluate("() => document.documentElement.scrollWidth")
            assert wide <= 640, f"{view} is {wide} pixels wide"


def test_a_copied_address_gives_the_same_picture(browser: Browser, example: str) -> None:
    with visited(browser, example) as first, visited(browser, example) as second:
        for visit in (first, second):
            visit.page.set_viewport_size({"width": 1280, "height": 400})  # not all tracks are in sight
        page = first.go("v=timeline")
        first.settled()
        page.locator(".tl-scroller").focus()
        for key in ("w", "w", "d", "ArrowDown", "m", "p"):
            page.keyboard.press(key)
            time.sleep(0.1)
        page.wait_for_selector(".slice-name")
        page.locator(".tl-scroller").evaluate("scroller => { scroller.scrollTop = 40; }")
        page.wait_for_function("() => location.hash.includes('y=40')")
        page.wait_for_selector(".slice-name")
        first.settled()
        page.wait_for_function("() => location.hash.includes('t=') && location.hash.includes('m=')")
        time.sleep(0.5)
        fragment = page.evaluate("() => location.hash.slice(1)")
        assert example.split("/")[-2] not in fragment, "the token is no part of a link"
        again = second.go(fragment)
        again.wait_for_selector(".slice-name")
        second.settled()
        again.locator(".tl-scroller").focus()  # its ring is in the picture
        time.sleep(0.5)
        for selector in (".tl-boxes", ".tl-minimap", ".tl-ruler"):
            read = f"() => document.querySelector('{selector}').toDataURL()"
            assert page.evaluate(read) == again.evaluate(read), selector
        assert page.locator(".tl-frame").screenshot() == again.locator(".tl-frame").screenshot()
        assert again.locator(".tl-scroller").evaluate("scroller => scroller.scrollTop") == 40
        assert page.locator(".slice-name").inner_text() == again.locator(".slice-name").inner_text()


def test_findings_reach_their_slices_in_two_clicks(browser: Browser, example: str) -> None:
    said = fathom_json("diagnose", str(EXAMPLE))
    with visited(browser, example) as visit:
        reached = 0
        for finding in said["findings"]:
            slices = [each["slices"][0] for each in finding["evidence"] if each["slices"]]
            if not slices or finding["part"] == "capture":
                continue
            page = visit.go("")
            visit.settled()
            page.locator(".diagnosis details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
            page.locator(f'[id="finding-{finding["id"]}"] button.jump').first.click()
            page.wait_for_selector(".slice-name")
            assert f"s={slices[0]}" in page.evaluate("() => new Promise((done) => setTimeout(() => done(location.hash), 600))")
            reached += 1
        assert reached > 0


def test_the_page_without_a_mouse(browser: Browser, example: str) -> None:
    slowest = fathom_json("kernels", "--sort", "max_ns", "--limit", "1", str(EXAMPLE))["rows"][0]
    with visited(browser, example) as visit:
        page = visit.go("")
        visit.settled()
        press = page.keyboard.press
        press("2")
        page.wait_for_selector(".tl-scroller")
        visit.settled()
        press("Slash")
        page.keyboard.type(slowest["name"])
        page.wait_for_selector(".search [role=status]")
        press("Enter")
        page.wait_for_selector(".slice-name")
        assert page.locator(".slice-name").inner_text() == slowest["name"]
        press("Escape")
        press("f")
        press("r")
        page.wait_for_selector(".drawer table")
        assert "Area" in page.locator(".drawer h2").inner_text()
        press("Escape")
        press("x")
        page.wait_for_selector(".what-if")
        press("Escape")
        page.wait_for_selector(".what-if", state="detached")
        press("?")
        page.wait_for_selector("dialog[open]")
        press("Escape")
        page.wait_for_selector("dialog", state="detached")
        press("3")
        page.wait_for_selector(".table-box tbody tr")
        visit.settled()
        page.locator(".table-box tbody tr").first.focus()
        press("ArrowDown")
        press("ArrowDown")
        page.wait_for_function("() => document.activeElement?.dataset.at === '2'")
        visit.check_quiet()


# Pixels that are not alike, those with a hue, and all.
DIFFERENCE = """async pictures => {
    const [one, other] = await Promise.all(pictures.map(async text => {
        const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(text), c => c.charCodeAt(0))]));
        const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
        context.drawImage(bitmap, 0, 0);
        return context.getImageData(0, 0, bitmap.width, bitmap.height).data;
    }));
    let apart = 0, inked = 0;
    for (let i = 0; i < one.length; i += 4) {
        const channels = [0, 1, 2].map(c => one[i + c]);
        inked += Math.max(...channels) - Math.min(...channels) > 40;
        apart += channels.some((value, c) => Math.abs(value - other[i + c]) > 3);
    }
    return [apart, inked, one.length / 4];
}"""


def test_both_painters_draw_the_same_picture(browser: Browser, example: str) -> None:
    pictures = []
    for painter in ("pixels", "webgl2"):
        with visited(browser, f"{example}?painter={painter}", theme="dark") as visit:
            page = visit.go("v=timeline&t=2000000-40000000")
            visit.settled()
            assert page.locator(".tl-boxes").get_attribute("data-painter") == painter
            time.sleep(0.5)
            visit.settled()
            picture = page.locator(".tl-frame").screenshot()
            pictures.append(base64.b64encode(picture).decode())
            visit.check_quiet()
            if painter == "webgl2":
                apart, inked, pixels = page.evaluate(DIFFERENCE, pictures)
    assert inked > pixels * 0.05
    # Positions are rounded in single precision by the one, in double by the other.
    assert apart < pixels * 0.005, f"{apart} of {pixels} pixels"


def test_forced_colours_and_print(browser: Browser, example: str) -> None:
    with visited(browser, example, forced_colors="active") as visit:
        page = visit.go("")
        visit.settled()
        assert page.locator(".bar > span").first.is_visible()
        assert violations(visit) == []
        page.emulate_media(media="print", forced_colors="none")
        assert not page.locator(".top nav").is_visible()
        assert page.locator(".finding").first.is_visible()


def test_the_flame_graph_is_weighed_and_ordered(browser: Browser, memory_recording: Path) -> None:
    with served(memory_recording) as address, visited(browser, address) as visit:
        page = visit.go("v=flame")
        visit.settled()
        frames = ".icicle .frame"
        assert page.locator(frames).all_inner_texts() == ["all", "late", "outer", "inner"]
        page.get_by_label("Order").select_option("time")
        page.wait_for_function("() => document.querySelectorAll('.icicle .frame')[1]?.innerText === 'outer'")
        page.get_by_label("Width").select_option("memory")
        page.wait_for_function("() => document.querySelector('.icicle .frame')?.title.startsWith('all, 5 KiB')")
        assert page.locator(frames).all_inner_texts() == ["all", "outer", "inner"]
        page.get_by_label("Width").select_option("blocked")
        page.wait_for_selector(".empty")
        assert "fathom run --with samples" in page.locator(".empty").inner_text()
        page = visit.go("v=memory")
        visit.settled()
        page.get_by_role("button", name="What is there then").first.click()
        page.wait_for_selector(".icicle .frame >> text=outer")
        visit.check_quiet()


def test_the_timeline_stays_when_steps_become_known(browser: Browser) -> None:
    with served(EXAMPLE) as address, visited(browser, address) as visit:
        early = [True, True, True]

        def without_steps(route: Route) -> None:
            """As the server answers before it has found the steps."""
            answer = route.fetch()
            said = answer.json()
            if said.get("analysed") and early:
                early.pop()
                said = {name: value for name, value in said.items() if not name.startswith(("devices", "step"))} | {"analysed": False}
            route.fulfill(response=answer, json=said)

        visit.page.route("**/api/session*", without_steps)
        page = visit.go("v=timeline")
        page.wait_for_selector(".tl-boxes")
        page.evaluate("() => { document.querySelector('.tl-boxes').dataset.mark = 'the same'; }")
        page.wait_for_function("() => globalThis.fathomTimeline.steps.length > 0")
        visit.settled()
        assert not early
        assert page.locator(".tl-boxes").get_attribute("data-mark") == "the same"
        asked = [url for url in visit.asked if re.search(r"/api/(tiles|tracks|names|accounting)", url)]
        assert len(asked) == len(set(asked)) > 2


BESIDE = """() => globalThis.fathomBeside.engines.map((engine, i) => ({
    pixel: (globalThis.fathomBeside.steps[i].begin_ns - engine.viewport.begin) / (engine.viewport.end - engine.viewport.begin) * engine.viewport.width,
    scale: (engine.viewport.end - engine.viewport.begin) / engine.viewport.width,
    boxes: engine.inSight(1e6).length}))"""


def check_beside(page: Page) -> None:
    """Both timelines have slices in sight, and their steps begin at the same pixel, at the same scale."""
    page.wait_for_function(f"() => globalThis.fathomBeside && ({BESIDE})().every((one) => one.boxes > 3)")
    base, new = page.evaluate(BESIDE)
    assert abs(base["pixel"] - new["pixel"]) < 0.01
    assert abs(base["scale"] / new["scale"] - 1) < 1e-9


def test_two_recordings_are_compared(browser: Browser) -> None:
    base = ROOT / "tests/illness/recorded/tiny_operators.ill.trace.json.gz"
    new = ROOT / "tests/illness/recorded/tiny_operators.cured.trace.json.gz"
    said = fathom_json("compare", str(base), str(new))["pairs"][0]
    with served(base, new) as address, visited(browser, address) as visit:
        page = visit.go("v=compare")
        visit.settled()
        assert page.locator(".verdict .display").inner_text() == "faster"
        page.get_by_role("button", name="forward").click()
        rows = page.locator("tr.inner").all_inner_texts()
        first = said["rows"][said["buckets"][0]["rows"][0]]
        assert first["what"] in rows[0]
        # A step of either along the time, and what a step calls.
        check_beside(page)
        page.get_by_role("button", name="Next step").click()
        page.get_by_label("Step of base").select_option("0")
        page.locator(".tl-beside .tl-scroller").first.focus()
        for key in "wwaaas":  # inside what new has recorded, which is shorter
            page.keyboard.press(key)
        check_beside(page)
        assert {re.search(r"input=1", url) is None for url in visit.asked if "/api/tiles/" in url} == {True, False}
        faster = page.get_by_role("button", name=re.compile(r"^ProfilerStep\*.* less$"))
        assert "less" in faster.first.get_attribute("class").split()
        page.get_by_role("button", name="As wide as base").click()
        visit.settled()
        visit.check_quiet()


def test_a_server_that_ends_is_said(browser: Browser, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json.gz"
    shutil.copy(EXAMPLE, copy)
    with served(copy) as address, visited(browser, address) as visit:
        page = visit.go("")
        visit.settled()
    # The context is closed with the server; a new one sees nothing at all.
    with visited(browser, address) as visit, pytest.raises(Exception, match="ERR_CONNECTION_REFUSED"):
        visit.page.goto(address)
    with served(copy) as address, visited(browser, address) as visit:
        page = visit.go("")
        visit.settled()
        page.route("**/api/**", lambda route: route.abort("connectionrefused"))
        page.keyboard.press("3")
        page.wait_for_selector(".banner[role=alert]")
        page.unroute("**/api/**")
        page.wait_for_selector(".banner[role=alert]", state="detached")


def test_all_recorded_slices_are_counted(browser: Browser) -> None:
    for recording in RECORDINGS:
        with served(recording) as address, visited(browser, address) as visit:
            visit.go("v=timeline")
            visit.settled()
            answer = visit.page.evaluate("() => fetch('api/tracks').then((all) => all.json())")
            counted = sum(track["slices"] for group in answer["groups"] for track in group["tracks"] if track["kind"] != "counter")
            session = visit.page.evaluate("() => fetch('api/session').then((all) => all.json())")
            assert counted == session["slices"], json.dumps([short(recording), counted, session["slices"]])


def copied(page: Page) -> list[str]:
    page.get_by_role("button", name="Copy as command").click()
    page.wait_for_selector("text=Copied")
    return shlex.split(page.evaluate("navigator.clipboard.readText()"))


def test_a_copied_command_shows_the_same(browser: Browser) -> None:
    with served("tests/data/runs/two_ranks") as address, visited(browser, address) as visit:
        for fragment in ("v=diagnosis", "v=ranks"):
            page = visit.go(fragment)
            visit.settled()
            command = copied(page)
            assert command == ["fathom", "diagnose", "tests/data/runs/two_ranks"]
            said = fathom_json(*command[1:])
            shown = page.evaluate("fetch('api/diagnosis').then(answer => answer.json())")
            for part in ("ranks", "baseline", "account_ns", "steps", "verdict", "findings"):
                assert said[part] == shown[part], part
            assert len(said["ranks"]["recordings"]) == 2
        for fragment in ("v=flame&order=time", "v=memory"):
            page = visit.go(fragment)
            visit.settled()
            if page.get_by_role("button", name="Copy as command").count() == 0:
                continue  # no memory was recorded
            command = copied(page)
            assert command[:2] == ["fathom", "view"]
            with served(*command[2:]) as again:
                assert again.endswith("/#" + fragment)


def test_a_recording_that_is_replaced_and_a_server_that_is_restarted_are_said(browser: Browser, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json.gz"
    shutil.copy(EXAMPLE, copy)
    with served(copy) as address, visited(browser, address) as visit:
        page = visit.go("")
        visit.settled()
        assert page.locator(".banner").count() == 0
        shutil.copy(TRACES / "hta_alexnet.json.gz", copy)
        page.evaluate("dispatchEvent(new Event('focus'))")
        page.wait_for_selector(".banner >> text=was replaced")
        # The new server has another address: under the old one there is nothing.
        page.route("**/api/**", lambda route: route.fulfill(status=404, body="nothing here"))
        page.keyboard.press("3")
        page.wait_for_selector(".banner >> text=does not answer")
