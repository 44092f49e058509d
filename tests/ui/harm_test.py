"""A damaged capture: the numbers that it harms are greyed, each of them, and no other."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from conftest import EXAMPLE, ROOT, TRACES, Visit, fathom_json, served, visited
from playwright.sync_api import Browser

CUT = ROOT / "tests/data/damaged/cut_in_event.json"
# Of all elements that say which number they have: the number, and whether it is greyed.
NUMBERS = """() => [...document.querySelectorAll('[data-n]')].map((each) =>
    [each.dataset.n, getComputedStyle(each).filter === 'grayscale(1)'])"""


def harmed(number: str, harms: list[str]) -> bool:
    place, name = number.split(".")
    return any(each in (number, f"{place}.*", f"*.{name}") for each in harms)


def harms_of(path: Path) -> list[str]:
    said = fathom_json("diagnose", str(path))
    return [number for check in said["health"] for number in check["harms"]]


def check_greyed(visit: Visit, harms: list[str], fragment: str) -> set[bool]:
    """What is greyed is what the diagnosis says; returns what was seen of both kinds."""
    page = visit.go(fragment)
    visit.settled()
    page.wait_for_function("() => document.adoptedStyleSheets.length > 0")  # the page knows what is harmed
    shown = page.evaluate(NUMBERS)
    for number, greyed in shown:
        assert greyed == harmed(number, harms), (fragment, number)
    return {greyed for _, greyed in shown}


def test_a_cut_capture_greys_its_totals_and_no_mean(browser: Browser) -> None:
    harms = harms_of(CUT)
    assert "*.calls" in harms
    assert not harmed("ops.host_mean_ns", harms)
    with served(CUT) as address, visited(browser, address) as visit:
        assert check_greyed(visit, harms, "v=diagnosis") == {False, True}
        assert check_greyed(visit, harms, "v=tables&r=ops") == {False, True}
        assert visit.page.locator("td[data-n='ops.calls']").first.evaluate("cell => getComputedStyle(cell, '::after').content") != "none"
        assert visit.page.locator("td[data-n='ops.host_mean_ns']").first.evaluate("cell => getComputedStyle(cell, '::after').content") == "none"
        visit.check_quiet()


def half_of_the_kernels(folder: Path) -> Path:
    """The example without each second kernel: launches have nothing that they launched."""
    recording = json.loads(gzip.decompress(EXAMPLE.read_bytes()))
    events = recording["traceEvents"]
    kernels = [at for at, event in enumerate(events) if event.get("cat", "").lower() == "kernel"]
    gone = set(kernels[::2])
    recording["traceEvents"] = [event for at, event in enumerate(events) if at not in gone]
    path = folder / "half.json"
    path.write_text(json.dumps(recording))
    return path


# How many pixels of the boxes beside a name of a track are not grey.
COLOURED = """number => {
    const canvas = document.querySelector('.tl-boxes');
    const from = canvas.getBoundingClientRect();
    const ratio = canvas.width / from.width;
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    let count = 0;
    for (const name of document.querySelectorAll(`[data-n="${number}"]`)) {
        const { top, bottom } = name.getBoundingClientRect();
        const y = Math.round(((top + bottom) / 2 - from.top) * ratio);
        if (y < 6 || y + 6 > canvas.height) continue;
        const { data } = copy.getImageData(0, y - 6, canvas.width, 12);
        for (let at = 0; at < data.length; at += 4)
            count += Math.max(...data.slice(at, at + 3)) - Math.min(...data.slice(at, at + 3)) > 40;
    }
    return count;
}"""


def check_boxes(visit: Visit, numbers: dict[str, bool]) -> None:
    """What is painted is as grey as what is written; it is painted again once the diagnosis is there."""
    for number, grey in numbers.items():
        visit.page.wait_for_function(f"([number, grey]) => (({COLOURED})(number) > 100) !== grey", arg=[number, grey])


def test_what_is_no_table_is_greyed_too(browser: Browser, tmp_path: Path) -> None:
    """Frames of the flame graph, tracks of the timeline and the sentence of the verdict."""
    half, absurd = half_of_the_kernels(tmp_path), CUT.parent / "absurd_duration.json"
    sound = TRACES / "luatil_rtx3060_compile_triton.json.gz"  # but for what operators launched
    for path, fragment, numbers in (
        (half, "v=diagnosis", {"diagnosis.families": True}),
        (half, "v=timeline", {"timeline.account_ns": True, "timeline.total_ns": False}),
        (half, "v=flame", {"flame.total_ns": False}),
        (absurd, "v=timeline", {"timeline.total_ns": True}),
        (absurd, "v=flame", {"flame.total_ns": True}),
        (sound, "v=timeline", {"timeline.account_ns": False, "timeline.total_ns": False}),
    ):
        with served(path) as address, visited(browser, address) as visit:
            check_greyed(visit, harms_of(path), fragment)
            greyed = dict(visit.page.evaluate(NUMBERS))
            assert {number: greyed[number] for number in numbers} == numbers, (path.name, fragment)
            if fragment == "v=timeline":
                check_boxes(visit, numbers)
            if fragment == "v=diagnosis":
                assert visit.page.locator("p.sentence").get_attribute("data-n") == "diagnosis.families"
                titles = visit.page.locator(".top-finding .title, .finding:has(.gain) h3")
                assert set(titles.evaluate_all("all => all.map(each => getComputedStyle(each).filter)")) == {"grayscale(1)"}
            visit.check_quiet()


def test_a_lost_part_harms_where_it_is_small(browser: Browser, tmp_path: Path) -> None:
    """A long recording that is cut is only warned of, and its totals are not those of the program all the same."""
    path = tmp_path / "cut.json"
    whole = gzip.decompress(EXAMPLE.read_bytes())
    path.write_bytes(whole[: len(whole) * 9 // 10])
    said = fathom_json("diagnose", str(path))["health"]
    assert {check["check"]: check["status"] for check in said}["truncated"] == "warning"
    harms = harms_of(path)
    with served(path) as address, visited(browser, address) as visit:
        for view in ("diagnosis", "tables&r=kernels", "memory"):
            check_greyed(visit, harms, f"v={view}")
        visit.check_quiet()


def test_without_a_launch_what_operators_did_is_greyed(browser: Browser) -> None:
    path = TRACES / "luatil_rtx3060_compile_triton.json.gz"
    harms = harms_of(path)
    with served(path) as address, visited(browser, address) as visit:
        assert check_greyed(visit, harms, "v=tables&r=ops") == {False, True}
        assert check_greyed(visit, harms, "v=tables&r=kernels") == {False}
        visit.check_quiet()


@pytest.mark.parametrize("view", ["diagnosis", "tables&r=ops"])
def test_a_sound_capture_greys_nothing(browser: Browser, example: str, view: str) -> None:
    assert harms_of(EXAMPLE) == []
    with visited(browser, example) as visit:
        assert check_greyed(visit, [], f"v={view}") == {False}


def test_a_number_leads_to_its_definition(browser: Browser, example: str) -> None:
    with visited(browser, example) as visit:
        page = visit.go("v=tables&r=kernels")
        visit.settled()
        page.get_by_role("button", name="definition of total_ns").click()
        page.wait_for_selector("dialog h3 >> text=total_ns")
        page.keyboard.press("Escape")
        page.locator("td .term").first.click()
        page.wait_for_selector("dialog h3")
        page.keyboard.press("Escape")
        assert "v=tables" in page.url
        visit.check_quiet()
