"""Pairs of illness and cure on this GPU: what the diagnosis promises beside what came of it."""

from __future__ import annotations

import json
import shutil
import sys
from typing import Any

from common import ROOT, CommandFailed, Context
from outcome import Report

sys.path.insert(0, str(ROOT / "tools"))

import every_finding  # noqa: E402
from illness_score import Verify, pair_of  # noqa: E402

PAIRS = ROOT / "tests/illness/gpu.pairs.json"
ROLES = ("ill", "cured")
# Diagnosing what was recorded.
RESERVE_S = 15


def run(context: Context, report: Report) -> None:
    if not context.python:
        report.not_possible("pairs", "no Python with torch")
        return
    if not context.gpu:
        report.not_possible("pairs of the GPU", "no GPU; a few are run on the CPU")
    folder = context.keep
    words: list[object] = [context.python, ROOT / "tools/record_gpu_pairs.py", folder]
    words += ["--budget", max(10, context.left - RESERVE_S)]
    if not context.gpu:
        words += ["gpu_item", "gpu_small_copies"]
    hide = {} if context.gpu else {"CUDA_VISIBLE_DEVICES": ""}
    failure = ""
    try:
        context.run(*words, seconds=max(10, context.left - RESERVE_S / 2), env=hide)
    except CommandFailed as error:
        failure = str(error)
    if not (folder / "measured.json").exists():
        report.failed("recording", failure or "tools/record_gpu_pairs.py wrote nothing")
        return
    report.compare("recording ends by itself", "it does", failure or "it does")
    shutil.copy(PAIRS, folder / "pairs.json")
    judged(context, report)


def judged(context: Context, report: Report) -> None:
    measured = json.loads((context.keep / "measured.json").read_text())
    errors = []
    for case in json.loads(PAIRS.read_text())["pairs"]:
        name = case["pair"]
        if name not in measured["pairs"]:
            if context.gpu:
                report.not_possible(
                    name, measured["left_out"].get(name, "there was no time for it")
                )
            continue
        ill, cured = (
            context.diagnosis(context.keep / f"{name}.{role}.trace.json.gz") for role in ROLES
        )
        facts = judgement(case, ill, cured, measured["pairs"], context.verification)
        report.number(name, facts)
        if not context.gpu:
            report.compare(f"{name} is recorded and diagnosed", "a verdict", facts["verdict"], bool(facts["verdict"]), **facts)
            continue
        report.compare(f"{name}: found", "one of " + ", ".join(case["cures"]), said(facts), facts["found"], **facts)
        right = facts["verdict"] in case["verdicts"]
        report.compare(f"{name}: verdict", "one of " + ", ".join(case["verdicts"]), said(facts), right, **facts)
        if facts["error_percent"] is not None:
            errors.append(abs(facts["error_percent"]))
    if errors:
        ordered = sorted(errors)
        report.number("prediction error, percent: median", ordered[len(ordered) // 2])
        report.number("prediction error, percent: greatest", ordered[-1])


def judgement(
    case: dict[str, Any],
    ill: dict[str, Any],
    cured: dict[str, Any],
    measured: dict[str, Any],
    verify: Verify,
) -> dict[str, Any]:
    """What was promised for a pair, and what came of it, in parts of the ill step."""
    name = case["pair"]
    pair = pair_of(name, case["cures"], ill, cured, measured, verify)
    rules = sorted({finding["rule"] for finding in every_finding.of(ill)})
    times = measured[name]["step"]
    facts: dict[str, Any] = {
        "verdict": ill["verdict"]["id"],
        "rules": rules,
        "found": bool(set(rules) & set(case["cures"])),
        "unprofiled_ms": {role: times[role]["wall_ms_min"] for role in ROLES},
        "recorded_ms": {
            "ill": ill["baseline"]["step_median_ns"] / 1e6,
            "cured": cured["baseline"]["step_median_ns"] / 1e6,
        },
        "promised": None,
        "recorded": cured["baseline"]["step_median_ns"] / ill["baseline"]["step_median_ns"],
        "error_percent": None,
        "inside": None,
        "unprofiled_error_percent": None,
    }
    if pair is not None:
        facts |= {
            "promised": [round(part, 4) for part in pair.promised],
            "error_percent": round(100 * pair.error, 1),
            "inside": pair.inside,
        }
        if pair.unprofiled_error is not None:
            facts["unprofiled_error_percent"] = round(100 * pair.unprofiled_error, 1)
    return facts


def said(facts: dict[str, Any]) -> str:
    promised = "nothing promised"
    if facts["promised"]:
        error = f"{facts['error_percent']:+.0f} %"
        promised = f"promised {facts['promised'][1]:.2f}, became {facts['recorded']:.2f} ({error})"
    return f"{facts['verdict']}; {', '.join(facts['rules']) or 'no finding'}; {promised}"
