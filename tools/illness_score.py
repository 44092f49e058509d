"""Judges what was said about labelled traces: verdicts, findings, and what findings promised. Used by tools/eval."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Answer:
    """What somebody says about a trace: a verdict, and the rules that found something."""

    verdict: str = ""
    found: set[str] = field(default_factory=set)
    document: dict[str, Any] = field(default_factory=dict)  # of diagnose --json
    failure: str = ""


@dataclass
class Judgement:
    label: dict[str, Any]
    answer: Answer

    @property
    def name(self) -> str:
        return (
            self.label["trace"].split("/", 1)[-1].replace(".json.gz", "").replace(".pt.trace", "").replace(".trace", "")
        )

    @property
    def verdict_right(self) -> bool:
        return self.answer.verdict in self.label["verdict"]

    @property
    def met(self) -> list[tuple[str, str]]:
        """Demands that are met, as (rule or rules, reason)."""
        return [demand[:2] for demand in demands(self.label) if demand[2] & self.answer.found]

    @property
    def missed(self) -> list[tuple[str, str]]:
        return [demand[:2] for demand in demands(self.label) if not demand[2] & self.answer.found]

    @property
    def true(self) -> set[str]:
        return self.answer.found & expected(self.label)

    @property
    def false(self) -> set[str]:
        return self.answer.found & set(self.label["must_not"])

    @property
    def unjudged(self) -> set[str]:
        return self.answer.found - expected(self.label) - set(self.label["must_not"])


def demands(label: dict[str, Any]) -> list[tuple[str, str, set[str]]]:
    single = [(rule, reason, {rule}) for rule, reason in label["must"].items()]
    return single + [(" or ".join(group["rules"]), group["reason"], set(group["rules"])) for group in label["any_of"]]


def expected(label: dict[str, Any]) -> set[str]:
    return set(label["must"]) | set(label["may"]) | {rule for group in label["any_of"] for rule in group["rules"]}


@dataclass
class Score:
    traces: int = 0
    verdicts: int = 0
    demanded: int = 0
    met: int = 0
    true: int = 0
    false: int = 0
    unjudged: int = 0

    @staticmethod
    def of(judgements: Iterable[Judgement]) -> Score:
        score = Score()
        for each in judgements:
            score.traces += 1
            score.verdicts += each.verdict_right
            score.met += len(each.met)
            score.demanded += len(each.met) + len(each.missed)
            score.true += len(each.true)
            score.false += len(each.false)
            score.unjudged += len(each.unjudged)
        return score

    @property
    def precision(self) -> float | None:
        return ratio(self.true, self.true + self.false)

    @property
    def strict_precision(self) -> float | None:
        return ratio(self.true, self.true + self.false + self.unjudged)

    @property
    def recall(self) -> float | None:
        return ratio(self.met, self.demanded)


def ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


@dataclass
class Pair:
    """What the findings of an ill trace promise, and what the cured one then took."""

    name: str
    promised: tuple[float, float, float]  # low, likely, high: the new step time as a part of the old one
    recorded: float  # cured / ill, as recorded under the profiler
    unprofiled: float | None
    promised_unprofiled: float | None  # likely, without a profiler; None where that is not known

    @property
    def error(self) -> float:
        return self.promised[1] / self.recorded - 1

    @property
    def unprofiled_error(self) -> float | None:
        if self.unprofiled is None:
            return None
        promised = self.promised[1] if self.promised_unprofiled is None else self.promised_unprofiled
        return promised / self.unprofiled - 1

    @property
    def inside(self) -> bool:
        return self.promised[0] <= self.recorded <= self.promised[2]


def promise(document: dict[str, Any], rules: Iterable[str]) -> tuple[float, float, float] | None:
    """Step time after the cure as a part of the one before: all findings of these rules together."""
    promising = [each for each in document["findings"] if each["rule"] in rules and each["predicted_step_ns"]]
    gains = [
        {key: 1 - finding["predicted_step_ns"][key] / finding["step_ns"] for key in ("low", "likely", "high")}
        for finding in promising
    ]
    if not gains:
        return None
    low, likely, high = (1 - sum(gain[key] for gain in gains) for key in ("low", "likely", "high"))
    # How much recordings differ widens the promise once, not once per finding.
    for finding in sorted(promising, key=lambda each: -each["upper_bound_ns"])[1:]:
        low += 1 - (finding["predicted_step_ns"]["low"] + finding["upper_bound_ns"]) / finding["step_ns"]
    return max(low, 0), max(likely, 0), high


def promise_unprofiled(document: dict[str, Any], rules: Iterable[str]) -> float | None:
    """The same without a profiler, where the findings have it."""
    before = document["baseline"].get("unprofiled_step_ns")
    found = [each for each in document["findings"] if each["rule"] in rules and each["predicted_step_ns"]]
    if not before or not found or any(each["predicted_unprofiled_step_ns"] is None for each in found):
        return None
    return max(0, 1 - sum(before - each["predicted_unprofiled_step_ns"] for each in found) / before)


def pair_of(
    name: str, cures: Iterable[str], ill: dict[str, Any], cured: dict[str, Any], measured: dict[str, Any]
) -> Pair | None:
    """What the diagnosis of the ill recording promises beside that of the cured one, if it promises anything."""
    promised = promise(ill, cures) if ill and cured else None
    if promised is None:
        return None
    recorded = cured["baseline"]["step_median_ns"] / ill["baseline"]["step_median_ns"]
    times = measured.get(name, {}).get("step", {})
    unprofiled = times["cured"]["wall_ms_min"] / times["ill"]["wall_ms_min"] if times else None
    return Pair(name, promised, recorded, unprofiled, promise_unprofiled(ill, cures))


def pairs(judgements: list[Judgement], measured: dict[str, Any]) -> tuple[list[Pair], list[str]]:
    """The pairs with a promise, and the names of those without."""
    by_role = {(each.label["pair"], each.label["role"]): each for each in judgements if "pair" in each.label}
    made, none = [], []
    for (name, role), ill in by_role.items():
        cured = by_role.get((name, "cured"))
        if role != "ill" or not ill.label.get("cures") or cured is None:
            continue
        pair = pair_of(name, ill.label["cures"], ill.answer.document, cured.answer.document, measured)
        if pair is None:
            none.append(name)
        else:
            made.append(pair)
    return made, none


def quantile(values: list[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
