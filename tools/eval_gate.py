"""What the labels contradict, and which of that is known: whatever else is a miss fails the gate. For tools/eval --gate.

The known misses are in tests/illness/known-misses.json, each by its labels, its trace, what is missed, and why it stays. One
that is no longer missed is an error, too, where its trace is there to be judged: the list may only tell what is so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from illness_score import Judgement
from independent_score import Judged
from independent_sums import Compared

# Whose word a miss goes against: the labels in tests/illness/*.labels.json, those of another reader, or the events' sums.
LABELS = ("own", "independent", "events")


class Miss(NamedTuple):
    labels: str
    trace: str
    what: str

    def __str__(self) -> str:
        return f"{self.trace} ({self.labels}): {self.what}"


def of_own(judgement: Judgement) -> list[str]:
    """Each line names a rule or a verdict, no number: a known miss stays the same miss while numbers move."""
    if judgement.answer.failure:
        return ["no answer"]
    lines = [] if judgement.verdict_right else [f"verdict {judgement.answer.verdict}"]
    lines += [f"false: {rule}" for rule in sorted(judgement.false)]
    lines += [f"missing: {rules}" for rules, _ in judgement.missed]
    return lines + [f"harmful fix: {rule}" for rule in sorted({rule for rule, _ in judgement.harmful})]


def of_independent(judged: Judged) -> list[str]:
    """A verdict that the reader called arguable is no miss."""
    if judged.failure:
        return ["no answer"]
    lines = [] if judged.verdict_points else [f"verdict {judged.verdict}"]
    lines += [f"false: {rule}" for rule in sorted({finding["rule"] for finding, _ in judged.false})]
    lines += [f"missing: {' or '.join(demand.rules)}" for demand in judged.demands if not demand.met]
    return lines + [f"harmful fix: {rule}" for rule in sorted({finding["rule"] for finding, _ in judged.harmful})]


def misses(own: Iterable[Judgement], independent: Iterable[Judged], sums: Iterable[Compared]) -> set[Miss]:
    found = {Miss("own", each.name, what) for each in own for what in of_own(each)}
    found |= {Miss("independent", each.name, what) for each in independent for what in of_independent(each)}
    return found | {Miss("events", each.trace, f"sum: {each.finding['id']}") for each in sums if not each.agrees}


def known(file: Path) -> dict[Miss, str]:
    """With their reasons."""
    entries = json.loads(file.read_text())["misses"]
    made = {Miss(each["labels"], each["trace"], each["what"]): each["reason"].strip() for each in entries}
    wrong = [miss for miss, reason in made.items() if not reason or miss.labels not in LABELS]
    if wrong or len(made) != len(entries):
        raise ValueError(f"{file.name}: entries twice, without a reason or of no labels: {wrong}")
    return made


def errors(missed: set[Miss], expected: dict[Miss, str], judged: set[tuple[str, str]]) -> list[str]:
    """A line for each miss that is not known, and for each known one that is none; `judged`: labels and trace."""
    lines = [f"not known: {miss}" for miss in sorted(missed - set(expected))]
    gone = sorted(miss for miss in set(expected) - missed if (miss.labels, miss.trace) in judged)
    return lines + [f"missed no more, so it is not to be listed: {miss}" for miss in gone]


def strangers(expected: dict[Miss, str], labelled: set[tuple[str, str]]) -> list[str]:
    """A line for each known miss of a trace that no label is of; sums are of files, of which some may not be there."""
    lost = sorted(miss for miss in expected if miss.labels != "events" and (miss.labels, miss.trace) not in labelled)
    return [f"of no labelled trace: {miss}" for miss in lost]
