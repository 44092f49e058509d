"""Judges diagnoses by labels that another reader made from the events alone. Used by tools/eval --independent.

A label's schema is in tests/illness/README.md. A finding is true only if its rule and its number both hold.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import every_finding
from illness_score import percent, ratio
from independent_fixes import harms
from label_sums import NEAR, named_times, number_right, sum_text

FIRST = 3  # findings that a user reads

Finding = dict[str, Any]
Label = dict[str, Any]


def claim_text(finding: Finding) -> str:
    """What a finding says of the trace; its advice is not part of that."""
    parts = [finding["id"], finding["title"], finding["counter_evidence"]]
    parts += [each["text"] + " " + each.get("location", "") for each in finding["evidence"]]
    return "\n".join(parts)


def fix_text(finding: Finding) -> str:
    return "\n".join(finding["fix"].values())


def near(value_ns: float, expected_ns: float, rounding_ns: float = 0) -> bool:
    return abs(value_ns - expected_ns) <= NEAR * expected_ns + rounding_ns


def names_time(finding: Finding, expected_ns: float) -> bool:
    """Does the finding say this time, in its title, its evidence, or as what it observed?"""
    observed = finding.get("observed_ns")
    if observed is not None and near(observed, expected_ns):
        return True
    said = finding["title"] + "\n" + "\n".join(each["text"] for each in finding["evidence"])
    return any(near(value, expected_ns, rounding) for value, rounding in named_times(said))


@dataclass
class Number:
    """A time that was summed from the events, beside the findings that should name it."""

    rule: str
    expected_ns: float
    findings: list[Finding]
    reason: str

    @property
    def right(self) -> bool:
        together = sum(finding.get("observed_ns") or 0 for finding in self.findings)
        return near(together, self.expected_ns) or any(names_time(each, self.expected_ns) for each in self.findings)


@dataclass
class Demand:
    """A finding that has to be made, and where it is."""

    rules: list[str]
    reason: str
    place: int | None  # from 0; None where it is missing; -1 where the capture's health says it

    @property
    def met(self) -> bool:
        return self.place is not None

    @property
    def among_first(self) -> bool:
        return self.place is not None and self.place < FIRST


@dataclass
class Judged:
    """One trace: what its label says of the diagnosis."""

    label: Label
    document: dict[str, Any]
    neutral: set[str]
    failure: str = ""
    true: list[Finding] = field(default_factory=list)
    false: list[tuple[Finding, str]] = field(default_factory=list)  # with the reason
    unjudged: list[Finding] = field(default_factory=list)
    harmful: list[tuple[Finding, str]] = field(default_factory=list)
    numbers: list[Number] = field(default_factory=list)
    demands: list[Demand] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.label["trace"])

    @property
    def verdict(self) -> str:
        return str(self.document.get("verdict", {}).get("id", ""))

    @property
    def verdict_points(self) -> float:
        if self.verdict in self.label["verdict"]:
            return 1.0
        return 0.5 if self.verdict in self.label["arguable"] else 0.0


def judge(label: Label, document: dict[str, Any], neutral: Iterable[str], failure: str = "") -> Judged:
    judged = Judged(label, document, set(neutral), failure)
    findings = every_finding.of(document)
    judged.numbers = [
        Number(each["rule"], each["ms"] * 1e6, matching, each["reason"])
        for each in label["measured"]
        if (matching := [f for f in findings if f["rule"] == each["rule"] and re.search(each["match"], claim_text(f))])
    ]
    for finding in findings:
        sort_finding(judged, finding)
    judged.harmful = [
        (finding, each["reason"])
        for each in label["harmful_fix"]
        for finding in findings
        if finding["rule"] == each["rule"] and re.search(each["match"], fix_text(finding))
    ]
    known = {finding["id"] for finding, _ in judged.harmful}
    judged.harmful += [
        (finding, reason)
        for finding in findings
        if finding["id"] not in known
        for reason in harms(label.get("facts"), finding)[:1]
    ]
    judged.demands = [demand_of(each, document) for each in label["must"]]
    return judged


def sort_finding(judged: Judged, finding: Finding) -> None:
    reason = why_false(judged, finding)
    rule, label = finding["rule"], judged.label
    if reason is not None:
        judged.false.append((finding, reason))
    elif rule in label["true"] or any(rule in each["rules"] for each in label["must"]):
        judged.true.append(finding)
    elif rule not in judged.neutral:
        judged.unjudged.append(finding)


def why_false(judged: Judged, finding: Finding) -> str | None:
    rule, label = finding["rule"], judged.label
    if rule in label["false"] and rule not in label["true"]:
        return str(label["false"][rule])
    for each in label["false_if"]:
        text = claim_text(finding)
        unless = each.get("unless")
        if each["rule"] == rule and re.search(each["match"], text) and not (unless and re.search(unless, text)):
            return str(each["reason"])
    if number_right(label, finding) is False:
        return f"its events sum to {sum_text(label, finding)}"
    for number in judged.numbers:
        if not number.right and any(finding is each for each in number.findings):
            return f"its number is not {number.expected_ns / 1e6:g} ms: {number.reason}"
    return None


def demand_of(must: dict[str, Any], document: dict[str, Any]) -> Demand:
    match = must.get("match", "")
    for place, card in enumerate(every_finding.shown(document)):
        for finding in every_finding.of_card(card):
            if finding["rule"] in must["rules"] and re.search(match, claim_text(finding) + fix_text(finding)):
                # What the verdict is named after is what the user reads first.
                first = finding["rule"] == document.get("verdict", {}).get("id")
                return Demand(must["rules"], must["reason"], 0 if first else place)
    return Demand(must["rules"], must["reason"], said_of_capture(must, document))


def said_of_capture(must: dict[str, Any], document: dict[str, Any]) -> int | None:
    """-1 where the label takes a sentence about the capture for the finding, and there is one."""
    if "capture" not in must:
        return None
    said = [each["sentence"] for each in document.get("health", [])] + document.get("notes", [])
    said += [each["title"] for each in every_finding.of(document) if each["family"] == "capture"]
    return -1 if re.search(must["capture"], "\n".join(said)) else None


@dataclass
class Totals:
    traces: int
    verdicts: float
    true: int
    false: int
    unjudged: int
    demanded: int
    met: int
    among_first: int
    harmful: int
    numbers: int
    numbers_right: int
    high: int
    high_true: int

    @staticmethod
    def of(all_judged: list[Judged]) -> Totals:
        high_true = sum(f["confidence"] == "high" for each in all_judged for f in each.true)
        high_false = sum(f["confidence"] == "high" for each in all_judged for f, _ in each.false)
        return Totals(
            traces=len(all_judged),
            verdicts=sum(each.verdict_points for each in all_judged),
            true=sum(len(each.true) for each in all_judged),
            false=sum(len(each.false) for each in all_judged),
            unjudged=sum(len(each.unjudged) for each in all_judged),
            demanded=sum(len(each.demands) for each in all_judged),
            met=sum(demand.met for each in all_judged for demand in each.demands),
            among_first=sum(demand.among_first for each in all_judged for demand in each.demands),
            harmful=sum(len(each.harmful) for each in all_judged),
            numbers=sum(len(each.numbers) for each in all_judged),
            numbers_right=sum(number.right for each in all_judged for number in each.numbers),
            high=high_true + high_false,
            high_true=high_true,
        )

    def rows(self) -> list[tuple[str, str]]:
        judged = self.true + self.false
        return [
            ("verdict right (arguable ones count half)", share(self.verdicts, self.traces)),
            ("judged findings that are true, number included", share(self.true, judged)),
            ("findings that no label judges", str(self.unjudged)),
            ("required findings that were made", share(self.met, self.demanded)),
            ("the same among the first three", share(self.among_first, self.demanded)),
            ("fixes that change results or do not apply", str(self.harmful)),
            ("measured times within 2 %", share(self.numbers_right, self.numbers)),
            ("judged findings of high confidence that are true", share(self.high_true, self.high) + interval(self.high_true, self.high)),
        ]


def share(part: float, whole: int) -> str:
    said = percent(ratio(part, whole))
    return f"{part:g} of {whole} ({said if part == whole or said != '100 %' else 'over 99 %'})"


def interval(part: int, whole: int) -> str:
    if whole == 0:
        return ""
    low, high = wilson(part, whole)
    return f", 95 % interval {percent(low)} to {percent(high)}"


def wilson(part: int, whole: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share: true of few and of extreme shares, too."""
    p = part / whole
    middle = p + z * z / (2 * whole)
    half = z * math.sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole))
    scale = 1 + z * z / whole
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def misses(judged: Judged) -> list[str]:
    """A line for each thing that the label contradicts."""
    if judged.failure:
        return [f"no answer: {judged.failure}"]
    lines = []
    if judged.verdict_points < 1:
        how = "arguable" if judged.verdict_points else "wrong"
        right = " or ".join(judged.label["verdict"])
        lines.append(f"verdict {how}: {judged.verdict}, not {right}: {judged.label['verdict_reason']}")
    lines += [f"false ({f['confidence']}): {f['id']}: “{f['title']}”: {reason}" for f, reason in judged.false]
    for demand in judged.demands:
        where = "" if demand.among_first else f"only in place {demand.place + 1}: " if demand.place is not None else "missing: "
        if where:
            lines.append(f"{where}{' or '.join(demand.rules)}: {demand.reason}")
    lines += [f"harmful fix: {f['id']}: {reason}" for f, reason in judged.harmful]
    lines += [f"unjudged ({f['confidence']}): {f['id']}: “{f['title']}”" for f in judged.unjudged]
    return lines
