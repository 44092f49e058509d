"""Judges what was said about labelled traces: verdicts, findings, and what findings promised. Used by tools/eval."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import every_finding
from independent_fixes import harms, said_twice
from label_sums import number_right, sum_text

FIRST = 3  # findings that a user reads


@dataclass
class Answer:
    """What somebody says about a trace: a verdict, and the rules that found something."""

    verdict: str = ""
    found: set[str] = field(default_factory=set)
    document: dict[str, Any] = field(default_factory=dict)  # of diagnose --json
    failure: str = ""

    @property
    def first(self) -> set[str]:
        """The rules of the first findings; remarks on the recording take no place among them."""
        return {each["rule"] for card in every_finding.shown(self.document)[:FIRST] for each in every_finding.of_card(card)}


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
    def among_first(self) -> list[tuple[str, str]]:
        """Demands that the first findings meet."""
        return [demand[:2] for demand in demands(self.label) if demand[2] & self.answer.first]

    @property
    def findings(self) -> list[dict[str, Any]]:
        return every_finding.of(self.answer.document)

    @property
    def wrong_numbers(self) -> dict[str, str]:
        """Rules with a finding whose time is not what its events sum to, with that sum."""
        return {
            each["rule"]: f"{each['title']}: its events sum to {sum_text(self.label, each)}"
            for each in self.findings
            if number_right(self.label, each) is False
        }

    @property
    def true(self) -> set[str]:
        return (self.answer.found & expected(self.label)) - set(self.wrong_numbers)

    @property
    def false(self) -> set[str]:
        """By their rule, or by their number."""
        return self.answer.found & (set(self.label["must_not"]) | set(self.wrong_numbers))

    def is_true(self, finding: dict[str, Any]) -> bool | None:
        """None where the label does not know the rule."""
        if number_right(self.label, finding) is False or finding["rule"] in self.label["must_not"]:
            return False
        return True if finding["rule"] in expected(self.label) else None

    @property
    def harmful(self) -> list[tuple[str, str]]:
        """Fixes that do harm or do not apply, by the facts of the label, with the reason."""
        facts = self.label.get("facts")
        return sorted({(each["rule"], reason) for each in self.findings for reason in harms(facts, each)})

    @property
    def twice(self) -> list[str]:
        return said_twice(self.answer.document.get("findings", []))

    @property
    def unjudged(self) -> set[str]:
        return self.answer.found - self.true - self.false


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
    among_first: int = 0
    harmful: int = 0
    twice: int = 0
    numbers: int = 0
    numbers_right: int = 0
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
            score.among_first += len(each.among_first)
            score.harmful += len(each.harmful)
            score.twice += len(each.twice)
            held = [number_right(each.label, finding) for finding in each.findings]
            score.numbers += len(held) - held.count(None)
            score.numbers_right += held.count(True)
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
    def first_recall(self) -> float | None:
        return ratio(self.among_first, self.demanded)

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
    """Step time after the cure as a part of the one before: all findings of these rules together.

    The same as `fathom verify` says, computed again from the findings; a test compares both.
    """
    promising = [each for each in every_finding.of(document) if each["rule"] in rules and each["predicted_step_ns"]]
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
    found = [each for each in every_finding.of(document) if each["rule"] in rules and each["predicted_step_ns"]]
    if not before or not found or any(each["predicted_unprofiled_step_ns"] is None for each in found):
        return None
    return max(0, 1 - sum(before - each["predicted_unprofiled_step_ns"] for each in found) / before)


Verify = Callable[[list[str], str, str], dict[str, Any]]
"""What `fathom verify --json` says of rules and two recordings."""


def pair_of(
    name: str,
    cures: Iterable[str],
    ill: dict[str, Any],
    cured: dict[str, Any],
    measured: dict[str, Any],
    verify: Verify,
) -> Pair | None:
    """What the findings of the ill recording promise beside what the cured one took, if they promise anything."""
    cures = list(cures)
    if not ill or not cured or promise(ill, cures) is None:
        return None
    found = {each["rule"] for each in every_finding.of(ill)}
    answer = verify([rule for rule in cures if rule in found], ill["input"], cured["input"])
    predicted = answer["predicted"]
    times = measured.get(name, {}).get("step", {})
    unprofiled = times["cured"]["wall_ms_min"] / times["ill"]["wall_ms_min"] if times else None
    return Pair(
        name,
        (predicted["low"], predicted["likely"], predicted["high"]),
        answer["measured"]["ratio"],
        unprofiled,
        promise_unprofiled(ill, cures),
    )


def pairs(
    judgements: list[Judgement], measured: dict[str, Any], verify: Verify
) -> tuple[list[Pair], list[str]]:
    """The pairs with a promise, and the names of those without."""
    by_role = {(each.label["pair"], each.label["role"]): each for each in judgements if "pair" in each.label}
    made, none = [], []
    for (name, role), ill in by_role.items():
        cured = by_role.get((name, "cured"))
        if role != "ill" or not ill.label.get("cures") or cured is None:
            continue
        pair = pair_of(name, ill.label["cures"], ill.answer.document, cured.answer.document, measured, verify)
        if pair is None:
            none.append(name)
        else:
            made.append(pair)
    return made, none


def quantile(values: list[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
