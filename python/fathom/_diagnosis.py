"""A diagnosis with types: the members of fathom.diagnosis/1, under the names they have there."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from fathom import _core
from fathom._page import Page, in_frame


@dataclass(frozen=True)
class CostlyOperator:
    """One of the operators that take most time."""

    name: str
    self_ns: int
    percent: float


@dataclass(frozen=True)
class ChecklistItem:
    """Something that makes a recording one to judge by."""

    id: str
    title: str
    status: str  # "met", "not_met" or "not_recordable"
    reason: str


@dataclass(frozen=True)
class Baseline:
    """What is diagnosed, and how long it takes."""

    step_name: str
    step_note: str
    steps: int
    steps_left_out: int
    step_mean_ns: int
    step_median_ns: int
    step_min_ns: int
    step_max_ns: int
    step_stddev_ns: int
    usual_steps: int  # those that are no outliers
    usual_step_ns: int  # their mean
    unprofiled_step_ns: int | None  # what the step takes without a profiler, where that is known
    device: int | None
    device_name: str
    devices: int
    step_p95_ns: int | None  # below 59 steps there is none
    step_p95_reason: str  # why there is none, or ""
    step_first_quartile_ns: int
    step_third_quartile_ns: int
    step_drift_percent: float | None  # the last third of the steps against the first
    steps_per_second: float | None
    samples_per_step: float | None  # as recorded shapes show it
    samples_per_second: float | None
    tokens_per_step: float | None
    tokens_per_second: float | None
    batch_source: str  # the operator that shows the batch
    mfu_percent: float | None  # of the device's peak
    device_busy_percent: float | None  # of the usual steps
    utilisation: str  # what a device means that is busy for less than 70 %; else ""
    peak_allocated_bytes: int | None
    peak_reserved_bytes: int | None
    device_memory_bytes: int | None
    operators_on: str  # whose time theirs is: "device" or "host"
    operators: tuple[CostlyOperator, ...]  # at most five


@dataclass(frozen=True)
class Check:
    """A check of the recording that is not fine."""

    check: str
    status: str
    sentence: str
    harms: tuple[str, ...]  # numbers that are not to be trusted, as report.column; * is any


@dataclass(frozen=True)
class Family:
    """Time per step that one kind of change could give back at most."""

    family: str
    per_step_ns: int
    percent: float


@dataclass(frozen=True)
class Verdict:
    """What bounds the step."""

    id: str
    sentence: str
    also: tuple[str, ...]  # what it nearly is, or may be where the roofline shows too little
    families: tuple[Family, ...]

    def __str__(self) -> str:
        return self.id


@dataclass(frozen=True)
class Evidence:
    """A fact that a finding rests on."""

    text: str
    slices: tuple[int, ...]
    begin_ns: int | None
    end_ns: int | None
    location: str | None


@dataclass(frozen=True)
class Fix:
    """What to change, with code where that says it best."""

    text: str
    before: str
    after: str


@dataclass(frozen=True)
class Estimate:
    """Nanoseconds per step, with the interval in which they are expected."""

    low: int
    likely: int
    high: int


@dataclass(frozen=True)
class Finding:
    """One thing to change. Findings divide the step among them: no time is promised twice."""

    id: str
    rule: str
    title: str
    phase: str
    family: str
    severity: str
    confidence: str
    effort: str
    observed_ns: int  # per step, before time is divided among findings
    upper_bound_ns: int
    step_ns: int  # the mean of the steps that it is about
    step_percent: float
    quick_win: int
    predicted_step_ns: Estimate | None
    predicted_unprofiled_step_ns: int | None
    saves_after_others_ns: int | None  # per step, once the findings of other causes are changed
    gain_ns: Estimate | None  # step_ns less the predicted one
    assumption: str
    evidence: tuple[Evidence, ...]
    counter_evidence: str
    fix: Fix
    verify: str
    part: str  # "gain", "no_gain", or "capture" for a remark on the recording
    number: int | None  # place among the findings that save time
    also: tuple[str, ...]  # rules of the alternatives
    alternatives: tuple[Finding, ...]  # what else was found of the same cause

    def __str__(self) -> str:
        return self.title


@dataclass(frozen=True)
class Together:
    """What the first findings save by one replay of all their changes."""

    numbers: tuple[int, ...]  # of the findings
    step_ns: int
    predicted_step_ns: Estimate
    gain_ns: Estimate  # step_ns less the predicted one


@dataclass(frozen=True)
class RuleResult:
    """What a rule said: found, silent, or abstained for a reason."""

    rule: str
    outcome: str
    reason: str


@dataclass(frozen=True)
class Step:
    """One step, and where its time went."""

    step: int
    start_ns: int
    window_ns: int
    outlier: bool
    account_ns: Mapping[str, int]


@dataclass(frozen=True)
class Rank:
    """One recording of a program with several ranks. Times are per step."""

    input: str
    rank: int | None
    step_mean_ns: int
    communication_ns: int  # that nothing hides
    waited_ns: int  # of it, until the last rank came
    made_wait_ns: int  # how long the rank that waited most did, where this one came last
    came_last: int
    verdict: str


@dataclass(frozen=True)
class Ranks:
    """The ranks of one program beside each other; `diagnosed` and `late` are places in
    `recordings`."""

    diagnosed: int
    why: str
    late: int | None
    late_percent: float
    compared: int
    not_compared: int
    recordings: tuple[Rank, ...]
    missing: tuple[str, ...]
    missing_total: int


@dataclass(frozen=True)
class Diagnosis:
    """Why a recording is slow. str() of it is what `fathom diagnose` prints."""

    _rendered: _core.Diagnosis = field(repr=False)
    input: str = field(init=False)
    baseline: Baseline = field(init=False)
    verdict: Verdict = field(init=False)
    findings: tuple[Finding, ...] = field(init=False)
    findings_total: int = field(init=False)
    together: Together | None = field(init=False)
    account_ns: Mapping[str, int] = field(init=False)
    usual_account_ns: Mapping[str, int] = field(init=False)
    steps: tuple[Step, ...] = field(init=False)
    steps_total: int = field(init=False)
    health: tuple[Check, ...] = field(init=False)
    checklist: tuple[ChecklistItem, ...] = field(init=False)
    rules: tuple[RuleResult, ...] = field(init=False)
    replay_residual_percent: float = field(init=False)
    focus_next: str | None = field(init=False)
    run: Mapping[str, Any] | None = field(init=False)  # of a session folder; names as in the schema
    ranks: Ranks | None = field(init=False)  # of several ranks
    notes: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        members: dict[str, Any] = json.loads(self._rendered.to_json())
        baseline = _baseline(members["baseline"])
        typed = {
            "input": members["input"],
            "baseline": baseline,
            "verdict": _verdict(members["verdict"]),
            "findings": tuple(_finding(each) for each in members["findings"]),
            "findings_total": members["findings_total"],
            "together": members["together"] and _together(members["together"]),
            "account_ns": members["account_ns"],
            "usual_account_ns": members["usual_account_ns"],
            "steps": tuple(_make(Step, each) for each in members["steps"]),
            "steps_total": members["steps_total"],
            "health": tuple(_check(each) for each in members["health"]),
            "checklist": tuple(_make(ChecklistItem, each) for each in members["checklist"]),
            "rules": tuple(_make(RuleResult, each) for each in members["rules"]),
            "replay_residual_percent": members["replay_residual_percent"],
            "focus_next": members["focus_next"],
            "run": members["run"],
            "ranks": members["ranks"] and _ranks(members["ranks"]),
            "notes": tuple(members["notes"]),
        }
        for name, value in typed.items():
            object.__setattr__(self, name, value)

    def to_json(self) -> str:
        """Schema fathom.diagnosis/1, as `fathom diagnose --json` prints it."""
        return self._rendered.to_json()

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        most_bytes: int = 10_000_000,
        redact: bool = False,
    ) -> None:
        """Writes the page of `fathom view` with this diagnosis into one file, which needs no
        network: what `fathom diagnose --html` writes.

        most_bytes: of the file; what does not fit is left out, as the page tells. redact: words
        of the recording become numbers. Raises FathomError.
        """
        Page(self._rendered.to_page(most_bytes, redact), self.input).save(path)

    def to_text(self, *, all: bool = False) -> str:
        """The screen that `fathom diagnose` prints; with `all`, every finding in full."""
        return self._rendered.to_text(all)

    def __str__(self) -> str:
        return self.to_text().rstrip("\n")

    def _repr_html_(self) -> str:
        """In a notebook: verdict, accounting and findings, apart from the notebook's own styles."""
        return in_frame(self._rendered.to_html(), 600)


T = TypeVar("T")


def _make(kind: type[T], members: Mapping[str, Any], **typed: Any) -> T:
    """The dataclass of those members that it knows: the schema may grow."""
    names = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: members[name] for name in members if name in names} | typed)


def _check(members: dict[str, Any]) -> Check:
    return _make(Check, members, harms=tuple(members["harms"]))


def _baseline(members: dict[str, Any]) -> Baseline:
    operators = tuple(_make(CostlyOperator, each) for each in members["operators"])
    return _make(Baseline, members, operators=operators)


def _verdict(members: dict[str, Any]) -> Verdict:
    families = tuple(_make(Family, each) for each in members["families"])
    return _make(Verdict, members, also=tuple(members["also"]), families=families)


def _ranks(members: dict[str, Any]) -> Ranks:
    return _make(
        Ranks,
        members,
        recordings=tuple(_make(Rank, each) for each in members["recordings"]),
        missing=tuple(members["missing"]),
    )


def _gain(before: int, step: Estimate) -> Estimate:
    return Estimate(low=before - step.high, likely=before - step.likely, high=before - step.low)


def _together(members: dict[str, Any]) -> Together:
    step = _make(Estimate, members["predicted_step_ns"])
    return _make(
        Together,
        members,
        numbers=tuple(members["numbers"]),
        predicted_step_ns=step,
        gain_ns=_gain(members["step_ns"], step),
    )


def _finding(members: dict[str, Any]) -> Finding:
    predicted = members["predicted_step_ns"]
    step = None if predicted is None else _make(Estimate, predicted)
    gain = step and _gain(members["step_ns"], step)
    return _make(
        Finding,
        members,
        predicted_step_ns=step,
        gain_ns=gain,
        evidence=tuple(_evidence(each) for each in members["evidence"]),
        fix=_make(Fix, members["fix"]),
        also=tuple(members.get("also", ())),
        alternatives=tuple(_finding(each) for each in members.get("alternatives", ())),
    )


def _evidence(members: dict[str, Any]) -> Evidence:
    absent = {"begin_ns": None, "end_ns": None, "location": None}
    return _make(Evidence, absent | members, slices=tuple(members["slices"]))
