"""Each view once, on one recording: it opens, it says what the command line says, and it asks nobody else."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from conftest import EVIL, EXAMPLE, FATHOM, RIGHT_TO_LEFT, ROOT, VIEWS, Visit, fathom_json, served, visited
from playwright.sync_api import Browser
from tables import check_table
from texts import duration_text


def test_the_diagnosis_is_above_the_fold(browser: Browser, example: str) -> None:
    said = fathom_json("diagnose", str(EXAMPLE))
    with visited(browser, example) as visit:
        page = visit.go()
        visit.settled()
        assert page.locator("h1").inner_text() == said["verdict"]["id"]
        assert said["verdict"]["sentence"] in page.locator(".sentence").inner_text()
        gains = [finding for finding in said["findings"] if finding["part"] == "gain"][:3]
        shown = page.locator(".top-finding")
        assert shown.count() == len(gains) == 3
        for i, finding in enumerate(gains):
            text = shown.nth(i).inner_text()
            assert finding["title"] in text
            assert duration_text(finding["step_ns"] - finding["predicted_step_ns"]["likely"]) in text
        together = said["together"]["predicted_step_ns"]["likely"]
        assert duration_text(together) in page.locator(".together").inner_text()
        for selector in (".what-ran", ".sentence", ".bar", ".top-finding >> nth=2", ".together", ".badge"):
            box = page.locator(selector).first.bounding_box()
            assert box is not None and box["y"] + box["height"] <= 720, selector
        visit.check_quiet()


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_opens(browser: Browser, example: str, view: str) -> None:
    with visited(browser, example) as visit:
        page = visit.go(f"v={view}")
        visit.settled()
        assert page.locator("nav button[aria-current=page]").count() == 1
        assert page.locator(f".view-{view}").inner_text().strip() != ""
        assert page.locator("[role=alert]").count() == 0
        visit.check_quiet()


def test_the_timeline_draws_and_selects(browser: Browser, example: str) -> None:
    with visited(browser, example) as visit:
        page = visit.go("v=timeline")
        visit.settled()
        assert page.locator(".tl-boxes").get_attribute("data-painter") == "pixels"  # GL is computed by the processor here
        page.locator(".tl-scroller").focus()
        page.keyboard.press("ArrowDown")  # the longest slice in sight
        page.wait_for_selector(".drawer .slice-name")
        assert page.locator(".slice-name").inner_text() != ""
        visit.settled()
        visit.check_quiet()


def test_a_table_is_that_of_the_command_line(browser: Browser, example: str) -> None:
    with visited(browser, example) as visit:
        assert check_table(visit, "kernels", fathom_json("kernels", str(EXAMPLE))) > 20
        visit.check_quiet()


def test_a_slider_at_half_is_the_what_if_of_the_command_line(browser: Browser, example: str) -> None:
    name = fathom_json("diagnose", str(EXAMPLE))["baseline"]["operators"][0]["name"]
    said = fathom_json("whatif", "--scale", f"{name}=0.5", str(EXAMPLE))
    with visited(browser, example) as visit:
        page = visit.go("x=1")
        slider = page.get_by_role("slider", name=f"Time of {name}", exact=True)
        slider.fill("0.5")
        expected = duration_text(said["best"]["step_mean_ns"])
        page.wait_for_function("text => document.querySelector('.new-step b')?.textContent === text", arg=expected)
        assert duration_text(said["before"]["step_mean_ns"]) in page.locator(".new-step").inner_text()
        command = shlex.split(page.locator(".what-if .command code").inner_text())
        assert command[0] == "fathom"
        done = subprocess.run([FATHOM, *command[1:], "--json"], capture_output=True, text=True, check=True, cwd=ROOT)
        assert f'"step_mean_ns": {said["best"]["step_mean_ns"]}' in done.stdout
        visit.check_quiet()


def test_a_view_says_what_it_shows_beyond_the_scope(browser: Browser, example: str) -> None:
    scope = "steps=6&device=0&focus=forward"
    wider = {"diagnosis": None, "timeline": "all devices and whole steps", "tables": "whole steps",
             "flame": "all devices and whole steps", "diagnosis&x=1": "all devices and whole steps"}  # fmt: skip
    with visited(browser, example) as visit:
        for view, shown in wider.items():
            page = visit.go(f"v={view}&{scope}")
            visit.settled()
            said = page.locator(".beyond").all_inner_texts()
            assert len(said) == (shown is not None), view
            assert shown is None or said[0].startswith(f"Shown here: {shown},"), view
        page = visit.go("v=flame&steps=6")
        visit.settled()
        assert page.locator(".beyond").count() == 0
        visit.check_quiet()


def test_steps_of_ranks_are_those_of_the_scope(browser: Browser) -> None:
    with served("tests/data/runs/two_ranks") as address, visited(browser, address) as visit:
        page = visit.go("v=ranks&steps=2-3")
        page.wait_for_function("() => document.querySelectorAll('.heat .step').length === 4")
        steps = page.locator(".heat .step").evaluate_all("steps => steps.map(step => step.title.split(':')[0])")
        assert steps == ["rank 0, step 2", "rank 0, step 3", "rank 1, step 2", "rank 1, step 3"]
        # The communication of each is divided: into waiting as the diagnosis of both says, and the rest.
        titles = page.locator(".heat .step").evaluate_all("steps => steps.map(step => step.title)")
        both = fathom_json("diagnose", "--steps", "2-3", str(ROOT / "tests/data/runs/two_ranks"))["ranks"]["recordings"]
        for rank, path in enumerate(sorted((ROOT / "tests/data/runs/two_ranks").glob("torch-*"))):
            for step in fathom_json("diagnose", "--steps", "2-3", str(path))["steps"]:
                (waited,) = [wait["waited_ns"] for wait in both[rank]["waits"] if wait["step"] == step["step"]]
                assert 0 < waited < step["account_ns"]["communication"]
                expected = [100 * ns / step["window_ns"] for ns in (step["account_ns"]["communication"] - waited, waited)]
                title = next(each for each in titles if each.startswith(f"rank {rank}, step {step['step']}:"))
                shown = [float(text) for text in re.findall(r"(?:transfer|waiting) ([\d.]+)", title)]
                assert shown == pytest.approx(expected, abs=0.06), title
        kinds = page.locator("[aria-label='Collectives of each rank'] [data-n='collectives.count']")
        kinds.first.wait_for()
        of_each = [fathom_json("collectives", "--steps", "2-3", str(path))["rows"] for path in sorted((ROOT / "tests/data/runs/two_ranks").glob("torch-*"))]
        assert [row["count"] for rows in of_each for row in rows] == [int(text.replace(",", "")) for text in kinds.all_inner_texts()]
        page = visit.go("v=ranks&input=1")
        page.get_by_role("button", name="Show all ranks").click()
        page.wait_for_selector(".rank-table")
        visit.check_quiet()


def test_evidence_leads_to_the_rows_that_count_it(browser: Browser, example: str) -> None:
    findings = fathom_json("diagnose", str(EXAMPLE))["findings"]
    counted = {"tensor-cores-unused/fp32": "kernels", "pageable-copies": "copies", "data-loader-workers/none": "ops"}
    assert set(counted) <= {finding["id"] for finding in findings}
    with visited(browser, example) as visit:
        for id, report in counted.items():
            page = visit.go("v=diagnosis")
            page.locator(f"[id='finding-{id}']").get_by_role("button", name="Show rows").first.click()
            page.wait_for_selector(f".view-tables .side [aria-current=true] >> text={report}")
            visit.settled()
            filters = page.get_by_role("searchbox").input_value().split(" & ")
            options = [word for one in filters for word in ("--filter", one)]
            rows = fathom_json(report, *options, str(EXAMPLE))["rows"]
            assert len(rows) > 0
            assert page.locator(".report [role=status]").inner_text() == f"{len(rows)} rows"
        visit.check_quiet()


def test_a_note_stands_in_the_address_and_can_be_changed(browser: Browser, example: str) -> None:
    said = ["the loader stalls: 50 % & more", "looked at", ""]
    with visited(browser, example) as visit:
        page = visit.go("v=timeline")
        visit.settled()
        asked: list[str] = []
        page.on("dialog", lambda dialog: (asked.append(dialog.default_value), dialog.accept(said[len(asked) - 1])))
        page.mouse.move(700, 400)
        page.locator(".tl-scroller").focus()
        for expected in (said[:1], said[1:2], []):
            page.keyboard.press("n")
            page.wait_for_function(
                "texts => JSON.stringify(globalThis.fathomTimeline.shown.marks.map(mark => mark.label)) === JSON.stringify(texts)", arg=expected
            )
        assert asked == ["", *said[:2]]
        page.keyboard.press("m")
        page.wait_for_function("() => /(^#|&)m=\\d+:1(&|$)/.test(location.hash)")
        page.keyboard.press("m")
        page.wait_for_function("() => !/(^#|&)m=/.test(location.hash)")
        visit.check_quiet()


def try_each_finding(visit: Visit) -> None:
    """What the drawer says of a finding is what the finding says."""
    diagnosis = fathom_json("diagnose", str(EXAMPLE))
    predicted = [finding for finding in diagnosis["findings"] if finding["predicted_step_ns"]]
    assert len(predicted) > 2
    for finding in predicted:
        page = visit.go("v=diagnosis")
        card = page.locator(f"[id='finding-{finding['id']}']")
        card.get_by_role("button", name="Try it").first.click()
        expected = duration_text(finding["predicted_step_ns"]["likely"])
        page.wait_for_function("text => document.querySelector('.new-step b')?.textContent === text", arg=expected)
        assert duration_text(finding["step_ns"]) in page.locator(".new-step").inner_text()
        assert f"--finding {finding['id']}" in page.locator(".what-if .command code").inner_text()


def test_trying_a_finding_gives_what_it_predicts(browser: Browser, example: str) -> None:
    with visited(browser, example) as visit:
        try_each_finding(visit)
        visit.check_quiet()


def test_a_page_in_a_file_replays_findings(browser: Browser, page_file: str) -> None:
    with visited(browser, page_file) as visit:
        try_each_finding(visit)
        visit.check_quiet()


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the page in a file."""
    path = tmp_path_factory.mktemp("file") / "page.html"
    subprocess.run([FATHOM, "view", "--html", path, EXAMPLE], check=True, cwd=ROOT, stdin=subprocess.DEVNULL)
    return path.as_uri()


def test_a_page_in_a_file_shows_every_view_without_a_server(browser: Browser, page_file: str) -> None:
    said = fathom_json("diagnose", str(EXAMPLE))
    with visited(browser, page_file) as visit:
        page = visit.go()
        visit.settled()
        assert said["verdict"]["sentence"] in page.locator(".sentence").inner_text()
        assert page.locator("details.banner li").count() > 2
        for view in VIEWS:
            page = visit.go(f"v={view}")
            page.wait_for_selector(f".view-{view} > *")
            visit.settled()
            assert page.locator("[role=alert]").count() == 0, view
        assert check_table(visit, "kernels", fathom_json("kernels", str(EXAMPLE))) > 20
        visit.check_quiet()
        assert {url.split("#")[0] for url in visit.asked} == {page_file}


def test_a_page_in_a_file_replays_a_slider_and_knows_its_slices(browser: Browser, page_file: str) -> None:
    name = fathom_json("diagnose", str(EXAMPLE))["baseline"]["operators"][0]["name"]
    said = fathom_json("whatif", "--scale", f"{name}=0.5", str(EXAMPLE))
    with visited(browser, page_file) as visit:
        page = visit.go("v=timeline&x=1")
        visit.settled()
        page.get_by_role("slider", name=f"Time of {name}", exact=True).fill("0.5")
        expected = duration_text(said["best"]["step_mean_ns"])
        page.wait_for_function("text => document.querySelector('.new-step b')?.textContent === text", arg=expected)
        page.locator(".tl-scroller").focus()
        page.keyboard.press("ArrowDown")  # the longest slice in sight
        page.wait_for_selector(".drawer .slice-name")
        visit.check_quiet()


def test_a_redacted_page_has_its_timeline(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    subprocess.run([FATHOM, "view", "--redact", "--html", path, EXAMPLE], check=True, cwd=ROOT, stdin=subprocess.DEVNULL)
    with visited(browser, path.as_uri()) as visit:
        page = visit.go("v=timeline")
        visit.settled()
        assert page.evaluate("() => globalThis.fathomTimeline.inSight(1e6).length") > 20
        visit.check_quiet()


def test_names_run_nothing(browser: Browser, hostile: object) -> None:
    with served(str(hostile)) as address, visited(browser, address) as visit:
        for view in VIEWS:
            page = visit.go(f"v={view}")
            visit.settled()
            assert page.evaluate("window.ran") is None
        page = visit.go("v=tables&r=ops")
        visit.settled()
        cells = page.locator("tbody td.words").all_text_contents()
        assert EVIL in cells and RIGHT_TO_LEFT in cells
        page = visit.go("v=timeline&q=" + EVIL.replace("=", "%3D").replace("&", "%26"))
        page.wait_for_selector(".search [role=status]")
        page.keyboard.press("Slash")
        page.keyboard.press("Enter")
        page.wait_for_selector(".slice-name")
        assert EVIL in page.locator(".slice-name").inner_text()
        assert page.evaluate("window.ran") is None
        assert page.locator("#page img").count() == 0
        visit.check_quiet()
