"""What a tool measures beside what it compares with, and the part of a page that it is written to, between two marks."""

from __future__ import annotations

import pathlib
import statistics
import sys

MARKS = ("<!-- measured: begin -->", "<!-- measured: end -->")


def parts(page: pathlib.Path, marks: tuple[str, str] = MARKS) -> tuple[str, str]:
    """The text before and behind the marks. Ends the program where the page has none: ask before measuring."""
    before, begin, rest = page.read_text().partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        sys.exit(f"{page}: the lines {marks[0]} and {marks[1]} are missing")
    return before, after


def write(page: pathlib.Path, text: str, marks: tuple[str, str] = MARKS) -> None:
    """Puts the text between the marks of the page."""
    before, after = parts(page, marks)
    page.write_text(f"{before}{marks[0]}\n\n{text.rstrip()}\n\n{marks[1]}{after}")


HOW_SHOWN = (
    "Lowest time of %d rounds with it, less the lowest without it; behind it the median of the rounds' differences and the "
    "half of them around it, which holds what the machine's other work cost. Load %.1f at the start, %.1f at the end."
)


def added(pairs: list[tuple[float, float]]) -> str:
    """What it added, of pairs of a time without it and one with it: "38 (40; 39 to 58)". What else the machine does can
    only lengthen a time, so the lowest are nearest to what it takes."""
    lowest = min(after for _, after in pairs) - min(before for before, _ in pairs)
    ordered = sorted(after - before for before, after in pairs)
    low, high = ordered[len(ordered) // 4], ordered[-1 - len(ordered) // 4]
    cells = [round(value) + 0 for value in (lowest, statistics.median(ordered), low, high)]
    return "%d (%d; %d to %d)" % tuple(cells)


def find_peers(root: pathlib.Path) -> None:
    """What tools/setup peers installed for this interpreter is imported behind its own."""
    sys.path.append(str(root / "build/peers" / ("%d.%d" % sys.version_info[:2])))
