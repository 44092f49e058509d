"""Compares the times that findings say with the sums that labels carry, and writes these sums.

A label's `sums` has, by the id of a finding, the ms per step that the events sum to which its evidence names: a number, or
the least and the most that they may be. tools/eval --relabel has independent_sums.py make them from the trace's events.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

NEAR = 0.02  # how far a time may be from the sum over the events
NS_PER = {"ns": 1, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9}
TIME = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?) ?(ns|µs|us|ms|s|min)\b")

Finding = dict[str, Any]
Label = dict[str, Any]


def named_times(text: str) -> list[tuple[float, float]]:
    """Times in a text, in ns, each with half a unit of its last digit."""
    found = []
    for number, unit in TIME.findall(text):
        digits = number.replace(",", "")
        last = 10.0 ** -len(digits.partition(".")[2])
        found.append((float(digits) * NS_PER[unit], last / 2 * NS_PER[unit]))
    return found


def said(finding: Finding) -> tuple[float, float]:
    """The first time of its title, else what it observed; with its rounding."""
    return next(iter(named_times(finding["title"])), (float(finding.get("observed_ns") or 0), 0.0))


def within(value: tuple[float, float], least_ns: float, most_ns: float) -> bool:
    time, rounding = value
    return least_ns * (1 - NEAR) - rounding <= time <= most_ns * (1 + NEAR) + rounding


def number_right(label: Label, finding: Finding) -> bool | None:
    """Does the time that it says hold? None where the label has no sum for it."""
    each = label.get("sums", {}).get(finding.get("id"))
    if each is None:
        return None
    least, most = each if isinstance(each, list) else (each, each)
    return within(said(finding), least * 1e6, most * 1e6)


def sum_text(label: Label, finding: Finding) -> str:
    each = label["sums"][finding["id"]]
    return f"{each[0]:g} to {each[1]:g} ms" if isinstance(each, list) else f"{each:g} ms"


def as_label(least_ns: float, most_ns: float) -> Any:
    """As written into a label: µs of a step are exact enough."""
    least, most = (float(f"{ns / 1e6:.6g}") for ns in (least_ns, most_ns))
    return least if least == most else [least, most]


def rewrite(file: Path, read: dict[str, dict[str, Any]]) -> None:
    """Writes what was read from the events into the labels of a file, by the trace's name; sums of findings no more made stay."""
    document = json.loads(file.read_text())
    for label in document["traces"]:
        if found := read.get(label["trace"]):
            label["sums"] = dict(sorted((label.get("sums", {}) | found["sums"]).items()))
            label["facts"] = found["facts"]
    file.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
