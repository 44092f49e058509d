"""Leaves one source out: chooses each threshold by the recordings of all other repositories, and applies it to this one's.

Two kinds of thresholds are chosen so. Those of the verdict, by a model that repeats how `fathom diagnose` chooses from the
families that it publishes; and the least share of the step from which a rule reports, which can only be raised here: what is
below the built-in share is not reported. Used by tools/eval --docs.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

LOSSES = ("capture", "input", "host", "synchronisation", "transfer", "communication", "straggler", "allocation")
WORK = ("compute", "memory_bandwidth", "latency")
VERDICTS = {"capture": "warmup-in-window", "input": "input-bound", "host": "host-bound", "synchronisation": "sync-bound", "transfer": "transfer-bound"}
VERDICTS |= {"communication": "communication-bound", "straggler": "straggler", "allocation": "allocation-bound"}
VERDICTS |= {"compute": "compute-bound", "memory_bandwidth": "memory-bandwidth-bound", "latency": "latency-bound"}
OWN = "recordings of our own"


@dataclass(frozen=True)
class Thresholds:
    """Of the verdict, in percent of the step; `weight`: of a loss beside computing."""

    loss: float
    weight: float
    unexplained: float
    computing: float


def built_in(source: Path) -> Thresholds:
    """What the program's source says."""
    names = ("kLeastPercent", "kLossPerCompute", "kMostUnexplained", "kComputePercent")
    text = source.read_text()
    return Thresholds(*(float(re.search(rf"constexpr double {name} = ([\d.]+);", text)[1]) for name in names))  # type: ignore[index]


BUILT_IN = built_in(Path(__file__).resolve().parent.parent / "src/engine/diagnosis/verdict.cc")
GRID = [
    Thresholds(*each) for each in itertools.product((5, 8, 10, 15, 20), (0.1, 0.25, 0.4, 0.6), (30, 40, 50), (50, 60, 70, 80))
]


@dataclass
class Said:
    """A finding that a label judges."""

    rule: str
    percent: float  # of the step
    true: bool
    high: bool


@dataclass
class Sample:
    """A labelled recording, by the repository that it comes from."""

    source: str
    verdict: str
    right: set[str]
    arguable: set[str]
    families: dict[str, float]  # percent of the step; empty where the verdict is not the model's
    unexplained: float = 0.0  # likewise: idle time without a cause
    on_device: bool = True
    said: list[Said] = field(default_factory=list)

    def points(self, verdict: str) -> float:
        return 1.0 if verdict in self.right else 0.5 if verdict in self.arguable else 0.0


def sources(page: Path) -> dict[str, str]:
    """Repository of each file, by the tables of tests/data/SOURCES.md."""
    rows = re.findall(r"^\| \S*?([^/\s|]+\.json(?:\.gz)?) \| (\S+) ", page.read_text(), re.MULTILINE)
    return dict(rows)


def sample(source: str, document: dict[str, Any], right: Iterable[str], arguable: Iterable[str]) -> Sample:
    """With the families that its verdict was chosen from, where the model chooses the same."""
    families = {each["family"]: each["percent"] for each in document["verdict"]["families"]}
    account = document["usual_account_ns"]
    without_cause = sum(account.get(bucket, 0) for bucket in ("device_wait", "host_unknown"))
    unexplained = 100 * without_cause / max(1, sum(account.values()))
    made = Sample(source, document["verdict"]["id"], set(right), set(arguable), families, unexplained)
    made.on_device = document["baseline"]["device"] is not None
    return made if modelled(made, BUILT_IN) == made.verdict else replace(made, families={})


def said(finding: dict[str, Any], true: bool) -> Said:
    time = max(finding["observed_ns"], finding["upper_bound_ns"])
    percent = 100 * time / finding["step_ns"] if finding["step_ns"] else 0.0
    return Said(finding["rule"], percent, true, finding["confidence"] == "high")


def modelled(each: Sample, by: Thresholds) -> str:
    """The verdict that these thresholds give."""
    if not each.families:
        return each.verdict
    losses = {family: each.families.get(family, 0.0) for family in LOSSES}
    work = {family: each.families.get(family, 0.0) for family in WORK}
    loss = max(losses, key=lambda family: losses[family])
    computing = sum(work.values())
    if each.unexplained > max(by.unexplained, losses[loss]) and computing < by.computing:
        return "cannot-tell"
    # Without a device what calling operators costs is in their time.
    computes = computing >= by.computing and (each.on_device or loss != "host")
    if not computes and losses[loss] >= by.loss and losses[loss] >= by.weight * computing:
        return VERDICTS[loss]
    if computing >= by.computing:
        return VERDICTS[max(work, key=lambda family: work[family])]
    return "balanced"


def by_source(samples: list[Sample]) -> dict[str, list[Sample]]:
    grouped: dict[str, list[Sample]] = defaultdict(list)
    for each in samples:
        grouped[each.source].append(each)
    return grouped


def points(samples: Iterable[Sample], by: Thresholds) -> float:
    return sum(each.points(modelled(each, by)) for each in samples)


def chosen_without(samples: list[Sample]) -> dict[str, Thresholds]:
    """By source, the thresholds of the verdict that fit all others best; of equal ones those nearest to the built-in ones."""
    each_points = {by: {source: points(some, by) for source, some in by_source(samples).items()} for by in GRID}
    whole = {by: sum(of.values()) for by, of in each_points.items()}
    return {
        source: max(GRID, key=lambda by: (whole[by] - each_points[by][source], -distance(by)))
        for source in by_source(samples)
    }


def distance(by: Thresholds) -> float:
    """From the built-in thresholds, each by its own size."""
    pairs = zip(astuple(by), astuple(BUILT_IN), strict=True)
    return sum(abs(one - other) / other for one, other in pairs)


def held_out_points(samples: Iterable[Sample], chosen: dict[str, Thresholds]) -> float:
    return sum(each.points(modelled(each, chosen[each.source])) for each in samples)


@dataclass
class Rule:
    """What a rule says where its least share is chosen without the source."""

    name: str
    sources: int
    true: int
    false: int
    kept_true: int = 0
    kept_false: int = 0
    raised: int = 0  # sources for which another share than the built-in one was chosen


def held_out_rules(samples: list[Sample]) -> list[Rule]:
    found: dict[str, dict[str, list[Said]]] = defaultdict(lambda: defaultdict(list))
    for each in samples:
        for one in each.said:
            found[one.rule][each.source].append(one)
    return [held_out_rule(name, of) for name, of in sorted(found.items())]


def held_out_rule(name: str, of: dict[str, list[Said]]) -> Rule:
    every = [one for some in of.values() for one in some]
    rule = Rule(name, len(of), sum(one.true for one in every), sum(not one.true for one in every))
    for source, mine in of.items():
        share = best_share([one for other, some in of.items() if other != source for one in some])
        rule.raised += share > 0
        rule.kept_true += sum(one.true for one in mine if one.percent >= share)
        rule.kept_false += sum(not one.true for one in mine if one.percent >= share)
    return rule


def best_share(others: list[Said]) -> float:
    """The least share that keeps most true findings beyond the false ones; 0, the built-in one, where none is better."""

    def worth(share: float) -> tuple[int, float]:
        return sum(1 if one.true else -1 for one in others if one.percent >= share), -share

    return max([0.0, *(one.percent for one in others)], key=worth)


def held_out_high(samples: list[Sample]) -> tuple[int, int]:
    """Findings of high confidence that are true, and all, where the least share of each rule is chosen by the recordings of all other sources."""
    found: dict[str, list[tuple[str, Said]]] = defaultdict(list)
    for each in samples:
        for one in each.said:
            found[one.rule].append((each.source, one))
    kept = []
    for of in found.values():
        for source in {source for source, _ in of}:
            share = best_share([one for other, one in of if other != source])
            kept += [one.true for mine, one in of if mine == source and one.high and one.percent >= share]
    return sum(kept), len(kept)


def false_high(samples: list[Sample]) -> dict[str, tuple[int, int]]:
    """By rule: findings of high confidence that are false, and all of them; rules without a false one left out."""
    counted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for each in samples:
        for one in each.said:
            if one.high:
                counted[one.rule][0] += not one.true
                counted[one.rule][1] += 1
    return {rule: (false, every) for rule, (false, every) in sorted(counted.items()) if false}


def by_confidence(samples: list[Sample]) -> dict[str, tuple[int, int]]:
    """Findings that are true, and all, of high confidence and of any lower one."""
    every = [one for each in samples for one in each.said]
    return {
        name: (sum(one.true for one in every if one.high == sure), sum(one.high == sure for one in every))
        for name, sure in (("high", True), ("lower", False))
    }
