"""The part of a page that a tool measures and writes, between two marks."""

from __future__ import annotations

import pathlib
import sys

MARKS = ("<!-- measured: begin -->", "<!-- measured: end -->")


def write(page: pathlib.Path, text: str, marks: tuple[str, str] = MARKS) -> None:
    """Puts the text between the marks of the page."""
    before, begin, rest = page.read_text().partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        sys.exit(f"{page}: the lines {marks[0]} and {marks[1]} are missing")
    page.write_text(f"{before}{begin}\n\n{text.rstrip()}\n\n{end}{after}")
