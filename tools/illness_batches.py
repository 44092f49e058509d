"""Compares what the rule small-batch predicts of larger batches with recordings of such batches. Part of tools/eval.

Of the processor: tests/illness/batches, measured without a profiler. Of a device: recordings of other people of one program with
several batches, whose one pass each is measured by its recording, without what is done only once. A prediction for 2, 4 or 8
times the batch is an interval of step times; the measured ratio of the step times has to lie in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from illness_changes import longest_gaps
from independent_score import named_times

# name → batch → trace
DEVICE = {"harryjmoss_a100_part_forward": {n: f"kineto/harryjmoss_a100_part_forward_bs{n}.json.gz" for n in (2, 64, 256, 512)}}
# In this one, idle time of 630 and 292 ms is that of a module being loaded.
LONGEST_GAPS = {"harryjmoss_a100_part_forward": {512: 2}}
FACTORS = (2, 4, 8)


@dataclass
class Batch:
    model: str
    small: int
    large: int
    least: float | None  # step time with the larger batch, of the one with the smaller; None where the rule is silent
    most: float | None
    measured: float

    @property
    def holds(self) -> bool:
        return self.least is not None and self.most is not None and self.least <= self.measured <= self.most


def predictions(document: dict[str, Any]) -> dict[int, tuple[float, float]]:
    """By factor: least and most step time, as parts of the recorded one."""
    found: dict[int, tuple[float, float]] = {}
    for finding in document["findings"]:
        if finding["rule"] != "small-batch":
            continue
        texts = [each["text"] for each in finding["evidence"]]
        now, _ = named_times(texts[0])[0]
        for text in texts[1:]:
            factor = re.match(r"(\d+) times the batch", text)
            (least, least_last), (most, most_last) = named_times(text)[:2]
            if factor is not None:
                found[int(factor[1])] = ((least - least_last) / now, (most + most_last) / now)
    return found


def steady(document: dict[str, Any], gaps_ns: int) -> float:
    """The mean step in ns, without what is done only once, which is at least those gaps."""
    times = [step["window_ns"] - max(step["account_ns"]["warm_up"], gaps_ns) for step in document["steps"] if not step["outlier"]]
    return sum(times) / len(times)


def compare(model: str, documents: dict[int, dict[str, Any]], measured: dict[int, float]) -> list[Batch]:
    made = []
    for small, document in sorted(documents.items()):
        of = predictions(document)
        for factor in FACTORS:
            if small * factor in measured:
                least, most = of.get(factor, (None, None))
                made.append(Batch(model, small, small * factor, least, most, measured[small * factor] / measured[small]))
    return made


@dataclass
class Point:
    model: str
    small: int
    large: int
    predicted_ms: float | None  # with twice the larger batch; None where the program is silent
    measured_ms: float

    def __str__(self) -> str:
        sizes = f"| {self.model} | {self.small}, {self.large} | {2 * self.large} |"
        if self.predicted_ms is None:
            return f"{sizes} – | {self.measured_ms:.1f} ms | silent |"
        error = 100 * (self.predicted_ms / self.measured_ms - 1)
        return f"{sizes} {self.predicted_ms:.1f} ms | {self.measured_ms:.1f} ms | {error:+.0f} % |"


def point_of(documents: list[dict[str, Any]]) -> float | None:
    """Milliseconds that the note of the second input names for the batch that was not recorded."""
    for note in documents[-1]["notes"]:
        if (said := re.search(r"would take about ([0-9.,]+ (?:ns|µs|ms|s))", note)) is not None:
            return named_times(said[1])[0][0] / 1e6
    return None


def points(fathom: Callable[..., Any], recording: Callable[[str], Path | None]) -> list[Point]:
    """Of a device: two recorded batches, and what twice the larger one took."""
    made = []
    for model, traces in DEVICE.items():
        there = {n: path for n, name in traces.items() if (path := recording(name)) is not None}
        for large in there:
            if 2 * large not in there:
                continue
            document = fathom("diagnose", str(there[2 * large]))
            gaps = LONGEST_GAPS[model].get(2 * large, 0)
            measured = steady(document, longest_gaps(fathom, str(there[2 * large]), gaps)) / 1e6
            for small in (n for n in there if n < large):
                answer = fathom("diagnose", str(there[small]), str(there[large]))
                documents = answer if isinstance(answer, list) else answer["inputs"]
                made.append(Point(model, small, large, point_of(documents), measured))
    return made


def points_part(made: list[Point]) -> str:
    lines = ["| model | batches recorded | batch | step predicted | measured | error |", "| --- | --- | --- | --- | --- | --- |"]
    return "\n".join(lines + [str(each) for each in made]) + "\n"


def batches(fathom: Callable[..., Any], folder: Path, recording: Callable[[str], Path | None]) -> list[Batch]:
    made = []
    models = json.loads((folder / "measured.json").read_text())["models"]
    for model, about in models.items():
        measured = {int(batch): time for batch, time in about["step_ms_min"].items()}
        documents = {n: fathom("diagnose", "--all", str(folder / f"{model}.batch{n}.trace.json.gz")) for n in measured}
        made += compare(model, documents, measured)
    for model, traces in DEVICE.items():
        there = {n: path for n, name in traces.items() if (path := recording(name)) is not None}
        documents = {n: fathom("diagnose", "--all", str(path)) for n, path in there.items()}
        gaps = LONGEST_GAPS[model]
        made += compare(
            model, documents, {n: steady(each, longest_gaps(fathom, str(there[n]), gaps.get(n, 0))) for n, each in documents.items()}
        )
    return made


def batches_part(made: list[Batch]) -> str:
    lines = ["| model | batch | step, at least | at most | measured | inside |", "| --- | --- | --- | --- | --- | --- |"]
    for each in made:
        row = f"| {each.model} | {each.small} → {each.large} |"
        if each.least is None or each.most is None:
            lines.append(f"{row} – | – | {each.measured:.2f} | silent |")
        else:
            lines.append(f"{row} {each.least:.2f} | {each.most:.2f} | {each.measured:.2f} | {'yes' if each.holds else 'no'} |")
    said = [each for each in made if each.least is not None]
    inside = sum(each.holds for each in said)
    share = f" ({100 * inside / len(said):.0f} %)" if said else ""
    return "\n".join(lines) + f"\n\n{inside} of {len(said)}{share} intervals hold the measured step time.\n"
