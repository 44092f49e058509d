"""The part of a page that a tool measures and writes, between two marks."""

from __future__ import annotations

import pathlib
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
