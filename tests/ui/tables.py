"""Compares a table of the page with the command line's, cell by cell."""

from __future__ import annotations

import csv
import io

from conftest import Visit
from texts import near

COLLECT = """() => [...document.querySelectorAll('.report tr[data-at]')].map((row) =>
  [Number(row.dataset.at), [...row.cells].map((cell) => cell.querySelector('span').textContent)])"""


def shown_rows(visit: Visit) -> dict[int, list[str]]:
    """All rows, by scrolling through them."""
    page = visit.page
    box = page.locator(".report .table-box")
    rows: dict[int, list[str]] = {}
    height = box.evaluate("box => box.scrollHeight")
    step = max(100, box.evaluate("box => box.clientHeight"))
    for top in range(0, height + step, step):
        box.evaluate("(box, top) => { box.scrollTop = top; }", top)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        rows.update((at, cells) for at, cells in page.evaluate(COLLECT))
    return rows


def raw(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def same_raw(text: str, value: object) -> bool:
    if isinstance(value, float):
        return text != "" and float(text) == value
    return text == raw(value)


def check_table(visit: Visit, report: str, said: dict, more: str = "") -> int:
    """The number of rows that were compared."""
    page = visit.go(f"v=tables&r={report}{more}")
    visit.settled()
    columns, rows = said["columns"], said["rows"]
    if not rows:
        assert page.locator(".report .empty h2").inner_text() == "No rows"
        for note in said["notes"]:
            assert note in page.locator(".report .empty").inner_text()
        return 0
    titles = page.locator(".report thead th").evaluate_all("heads => heads.map((head) => head.title)")
    told = [column for column in columns if any(row[column["name"]] is not None for row in rows)] or columns
    assert titles == [column["doc"] for column in told]
    shown = shown_rows(visit)
    assert sorted(shown) == list(range(len(rows)))
    for at, row in enumerate(rows):
        for column, text in zip(told, shown[at], strict=True):
            unit = row.get("unit") if column["name"] == "value" else None
            value = row[column["name"]]
            assert near(text, value, column["kind"], unit if isinstance(unit, str) else None), (report, at, column["name"], value, text)
    page.get_by_role("button", name="Copy CSV").click()
    copied = list(csv.reader(io.StringIO(page.evaluate("() => navigator.clipboard.readText()"))))
    assert copied[0] == [column["name"] for column in columns]
    assert len(copied) == len(rows) + 1
    for row, cells in zip(rows, copied[1:], strict=True):
        for column, text in zip(columns, cells, strict=True):
            assert same_raw(text, row[column["name"]]), (report, column["name"], row[column["name"]], text)
    return len(rows)
