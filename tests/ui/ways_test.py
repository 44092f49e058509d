"""Ways to look at the page: searched, marked, linked, enlarged, touched, in motion, and on paper."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from conftest import EXAMPLE, ROOT, VIEWS, fathom_json, served, visited
from playwright.sync_api import Browser

STEPPED = "tests/illness/recorded/tiny_operators"


def test_a_plain_word_searches_a_table(browser: Browser, example: str) -> None:
    rows = fathom_json("kernels", "--filter", "name~gemm", str(EXAMPLE))["rows"]
    with visited(browser, example) as visit:
        page = visit.go("v=tables&r=kernels")
        visit.settled()
        box = page.get_by_role("searchbox")
        box.fill("gemm")
        box.press("Enter")
        page.wait_for_function("text => document.querySelector('.report [role=status]').innerText === text", arg=f"{len(rows)} rows")
        assert page.get_by_role("searchbox").input_value() == "name~gemm"
        visit.check_quiet()


def test_marks_are_listed_named_shown_and_removed(browser: Browser, example: str) -> None:
    with visited(browser, example) as visit:
        page = visit.go("v=timeline&m=30000000:late&m=10000000:early&t=0-2000000")
        visit.settled()
        page.get_by_role("button", name="Marks (2)").click()
        names = page.locator(".marks input")
        assert [name.input_value() for name in names.all()] == ["early", "late"]
        names.first.fill("the first")
        names.first.press("Enter")
        page.wait_for_function("() => location.hash.includes('10000000:the%20first')")
        page.get_by_role("button", name="Show 30").click()
        page.wait_for_function("""() => {
            const { begin, end, width } = globalThis.fathomTimeline.viewport;
            return Math.abs((3e7 - (begin + end) / 2) / (end - begin)) * width < 2;
        }""")
        page.get_by_role("button", name="Remove late").click()
        page.get_by_role("button", name="Marks (1)").wait_for()
        visit.check_quiet()


def test_the_copied_view_opens_the_same_picture(browser: Browser) -> None:
    with served(EXAMPLE) as address, visited(browser, address) as visit:
        page = visit.go("v=flame")
        visit.settled()
        page.get_by_role("searchbox").fill("conv")
        page.wait_for_function("() => location.hash.includes('f=conv')")
        page.get_by_role("button", name="Copy as view").click()
        page.wait_for_selector("text=Copied")
        command = shlex.split(page.evaluate("navigator.clipboard.readText()"))
        assert command[:2] == ["fathom", "view"]
        said = page.locator(".icicle-status").inner_text()
    with served(*command[2:]) as again, visited(browser, again) as visit:
        page = visit.go()
        visit.settled()
        assert page.locator(".icicle-status").inner_text() == said != ""


def test_a_link_holds_folded_tracks_and_the_critical_path(browser: Browser, example: str) -> None:
    lit = "() => globalThis.fathomTimeline?.shown.critical?.size > 0"
    folded = "() => globalThis.fathomTimeline.layout.rows.filter((row) => row.folded).length"
    with visited(browser, example) as visit:
        page = visit.go("v=timeline")
        visit.settled()
        before = page.evaluate(folded)
        page.locator(".tl-title[aria-expanded=true]").first.click()
        page.get_by_role("button", name="Critical path").click()
        page.wait_for_function(lit)
        page.wait_for_function("() => location.hash.includes('critical=1') && location.hash.includes('fold=')")
        fragment = page.evaluate("() => location.hash.slice(1)")
        after = page.evaluate(folded)
        assert after == before + 1
    with visited(browser, example) as visit:
        page = visit.go(fragment)
        visit.settled()
        page.wait_for_function(lit)
        assert page.evaluate(folded) == after
        page.get_by_role("button", name="Critical path").click()
        page.wait_for_function("() => globalThis.fathomTimeline.shown.critical === null && !location.hash.includes('critical')")
        visit.check_quiet()


def test_a_link_with_steps_lights_the_critical_path_of_these(browser: Browser, example: str) -> None:
    lit = "() => globalThis.fathomTimeline?.shown.critical?.size ?? 0"
    begin = "() => Math.round(globalThis.fathomTimeline.viewport.begin)"
    step = fathom_json("steps", str(EXAMPLE))["rows"][1]["step"]
    with visited(browser, example) as visit:
        page = visit.go(f"v=timeline&steps={step}")
        visit.settled()
        seen = page.evaluate(begin)
        assert seen > 0
        page.get_by_role("button", name="Critical path").click()
        page.wait_for_function(f"() => ({lit})() > 0")
        count = page.evaluate(lit)
    with visited(browser, example) as visit:
        page = visit.go(f"v=timeline&steps={step}&critical=1")
        visit.settled()
        page.wait_for_function(f"() => ({lit})() > 0")
        assert (page.evaluate(begin), page.evaluate(lit)) == (seen, count)
        visit.check_quiet()


def test_changes_are_divided_by_phase_and_module(browser: Browser) -> None:
    base, new = f"{STEPPED}.ill.trace.json.gz", f"{STEPPED}.cured.trace.json.gz"
    pair = fathom_json("compare", base, new)["pairs"][0]
    phase = pair["phases"][0]
    with served(base, new) as address, visited(browser, address) as visit:
        page = visit.go("v=compare")
        visit.settled()
        page.get_by_role("button", name="By phase").click()
        page.get_by_role("button", name=phase["phase"]).click()
        assert page.locator("tr.inner").count() == len(phase["modules"])
        module = phase["modules"][0]
        page.get_by_role("button", name=module["module"] or "outside of modules", exact=False).click()
        rows = page.locator("tr.inner").all_inner_texts()
        assert pair["rows"][module["rows"][0]]["what"] in rows[1]
        visit.check_quiet()


def test_a_phase_leads_to_its_modules_and_a_module_to_its_operators(browser: Browser, example: str) -> None:
    rows = fathom_json("ops", str(EXAMPLE), "--group-by", "place")["rows"]
    times: dict[str, dict[str, dict[str, int]]] = {}
    for row in rows:
        names = times.setdefault(row["phase"] or "", {}).setdefault(row["module"] or "", {})
        names[row["name"]] = names.get(row["name"], 0) + (row["device_self_ns"] or 0)
    phase = max(times, key=lambda each: sum(sum(names.values()) for names in times[each].values()))
    module = max(times[phase], key=lambda each: sum(times[phase][each].values()))
    operator = max(times[phase][module], key=lambda each: times[phase][module][each])
    with visited(browser, example) as visit:
        page = visit.go("")
        visit.settled()
        page.get_by_role("button", name="By phase").click()
        for name in (phase, module, operator):
            first = page.locator(".costliest tbody tr").first
            first.get_by_role("button", name=name or "(none)", exact=True).wait_for()
            first.get_by_role("button").click()
        assert f"q={operator.replace(':', '%3A')}" in page.url.replace("::", "%3A%3A")
        visit.check_quiet()


def test_enlarged_to_twice_its_size_the_page_keeps_all(browser: Browser, example: str) -> None:
    """A window of 1280 x 720 at 200 % has room for 640 x 360 points, each two pixels wide."""
    with visited(browser, example, width=640, height=360, device_scale_factor=2) as visit:
        for view in VIEWS:
            page = visit.go(f"v={view}")
            visit.settled()
            assert page.evaluate("() => document.documentElement.scrollWidth") <= 640, view
            for button in page.locator(".top nav button").all():
                button.scroll_into_view_if_needed()
                assert button.is_visible()
        page = visit.go("v=timeline&s=100&x=1")
        page.wait_for_selector(".slice-name")
        page.get_by_role("button", name="Close what if").scroll_into_view_if_needed()
        page.get_by_role("button", name="Close what if").click()
        page.wait_for_selector(".what-if", state="detached")
        visit.check_quiet()


def test_a_jump_moves_where_motion_is_wanted(browser: Browser, example: str) -> None:
    places = """() => new Promise((done) => {
        const { viewport } = globalThis.fathomTimeline, seen = new Set();
        const look = (frames) => { seen.add(viewport.begin); frames > 0 ? requestAnimationFrame(() => look(frames - 1)) : done(seen.size); };
        globalThis.fathomTimeline.show(20_000_000, 40_000_000);
        look(40);
    })"""
    for motion, moved in (("no-preference", True), ("reduce", False)):
        context = browser.new_context(viewport={"width": 1280, "height": 720}, reduced_motion=motion)
        page = context.new_page()
        page.goto(f"{example}#v=timeline")
        page.wait_for_function("() => document.querySelector('.tl-boxes')?.dataset.exact === 'true'")
        assert (page.evaluate(places) > 2) == moved  # where it was and where it goes are two
        page.wait_for_function("() => Math.round(globalThis.fathomTimeline.viewport.begin) === 20_000_000")
        context.close()


def test_a_finger_selects_a_slice(browser: Browser, example: str) -> None:
    with visited(browser, example, has_touch=True) as visit:
        page = visit.go("v=timeline")
        visit.settled()
        x, y = page.evaluate("""() => {
            const engine = globalThis.fathomTimeline, box = document.querySelector('.tl-overlay').getBoundingClientRect();
            const { box: found, row } = engine.inSight(1)[0];
            const { begin, end, width } = engine.viewport;
            const middle = ((found.begin + found.end) / 2 - begin) / (end - begin) * width;
            return [box.left + middle, box.top + row.y - engine.scroll + (found.lane + 0.5) * row.lane];
        }""")
        page.touchscreen.tap(x, y)
        page.wait_for_selector(".slice-name")
        visit.check_quiet()


def test_printed_on_a4_the_diagnosis_has_all_findings(browser: Browser, example: str, tmp_path: Path) -> None:
    with visited(browser, example) as visit:
        page = visit.go()
        visit.settled()
        paper = page.pdf(path=tmp_path / "page.pdf", format="A4", print_background=True)
        sheets = len(re.findall(rb"/Type\s*/Page\b", paper))
        assert 2 <= sheets <= 12
        assert all(b"/MediaBox [0 0 59" in box for box in re.findall(rb"/MediaBox \[[^\]]*", paper))
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 718, "height": 1047})  # A4 less its margins
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 718
        wanted = [each for each in fathom_json("diagnose", str(EXAMPLE))["findings"] if each["part"] == "gain"]
        for finding in wanted:
            assert page.locator(f'[id="finding-{finding["id"]}"]').is_visible()


def test_a_long_table_has_all_its_rows(browser: Browser, example: str) -> None:
    total = fathom_json("gaps", "--limit", "1", str(EXAMPLE))["rows_total"]
    assert total > 5000
    with visited(browser, example) as visit:
        page = visit.go("v=tables&r=gaps")
        page.wait_for_selector(f".report [role=status] >> text=5,000 of {total:,} rows")
        page.get_by_role("button", name="Show more rows").click()
        page.wait_for_selector(f".report [role=status] >> text=/^{total:,} rows$/")
        assert page.get_by_role("button", name="Show more rows").count() == 0
        visit.check_quiet()


def test_a_hundred_thousand_threads_are_scrolled_through(browser: Browser, tmp_path: Path) -> None:
    """Headings that are out of sight are no elements, and tiles of tracks out of sight are not fetched."""
    many = 100_000
    events = [{"ph": "X", "cat": "cpu_op", "name": f"op{i % 7}", "pid": 1, "tid": i, "ts": 3 * i, "dur": 5} for i in range(many)]
    recording = tmp_path / "threads.json"
    recording.write_text(json.dumps({"traceEvents": events}))
    with served(recording) as address, visited(browser, address) as visit:
        page = visit.go("v=timeline")
        visit.settled()
        headings = page.locator(".tl-heading")
        assert 20 < headings.count() < 1000
        assert sum("/tiles/" in url for url in visit.asked) < 200
        page.evaluate("document.querySelector('.tl-scroller').scrollTop = 1e9")
        page.get_by_text(f"thread {many - 1}", exact=True).wait_for()
        visit.settled()
        assert headings.count() < 1000
        visit.check_quiet()


def test_titles_stand_over_their_numbers(browser: Browser, example: str) -> None:
    with visited(browser, example) as visit:
        page = visit.go("v=tables&r=kernels")
        visit.settled()
        aligned = page.evaluate("[...document.querySelectorAll('.table-box .number')].map(cell => getComputedStyle(cell).textAlign)")
        assert len(aligned) > 10 and set(aligned) == {"right"}


def test_ranks_say_whose_the_diagnosis_is(browser: Browser) -> None:
    """The other views are of the rank in the scope, not of the one that is late."""
    with served(ROOT / "tests/data/runs/two_ranks") as address, visited(browser, address) as visit:
        page = visit.go("v=ranks")
        visit.settled()
        said = page.locator(".view-ranks").inner_text()
        assert "The diagnosis is that of rank 1: the others wait for it." in said
        assert "other views" not in said


def test_words_fit_what_they_count_and_what_they_propose(browser: Browser, example: str) -> None:
    with visited(browser, example) as visit:
        said = visit.go("v=compare").locator(".view-compare").inner_text()
        assert "To see it: fathom view BASE NEW" in said
    with served(EXAMPLE, EXAMPLE) as address, visited(browser, address) as visit:
        page = visit.go("v=compare")
        visit.settled()
        said = page.locator(".view-compare").inner_text()
        assert re.search(r"\b1 row\b", said) and "1 rows" not in re.findall(r"\b\d+ rows?\b", said)
