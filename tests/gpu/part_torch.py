"""A training recorded by `fathom run`, beside torch.profiler's own count of the same steps."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import check
from common import HERE, Context, copy_session, last_json
from outcome import Report

FIRST, LAST, STEPS = 6, 8, 14
SCHEDULE = f"wait={FIRST - 1},warmup=1,active={LAST - FIRST + 1},repeat=1"
VERDICTS = re.compile(r"^[a-z-]+$")


def run(context: Context, report: Report) -> None:
    if not context.python:
        report.not_possible("PyTorch", "no Python with torch")
        return
    device = "cuda" if context.gpu else "cpu"
    if device == "cpu":
        report.not_possible("kernels", "no GPU; operators are compared on the CPU")
    train = [context.python, HERE / "train.py", "--device", device, "--steps", STEPS]
    own = last_json(context.run(*train, "--profile", f"{FIRST}-{LAST}", seconds=240))
    session = context.work / "session"
    words = [
        context.fathom,
        "run",
        "-q",
        "--no-diagnose",
        "--no-overhead",
        "--steps",
        SCHEDULE,
        "-o",
        session,
    ]
    # Longer than what is recorded, so that there are samples of the device at work.
    recorded = last_json(
        context.run(*words, "--", *train, "--seconds", 3 if context.gpu else 0, seconds=240)
    )
    report.expect(
        "the program computes the same", recorded["loss"] == own["loss"], f"{recorded['loss']}"
    )
    compare(context, report, session, own["profiler"], device)
    diagnosed(context, report, session)
    if device == "cuda":
        for each in check.sane_levels(context.rows("telemetry", session, "--limit", "0")):
            report.checks.append(each)
        beside_injection(context, report, session)
    copy_session(session, context.keep / "session")
    (context.keep / "own_profile.json").write_text(json.dumps(own["profiler"], indent=1) + "\n")


def compare(
    context: Context, report: Report, session: Path, own: dict[str, dict[str, int]], device: str
) -> None:
    steps = sorted(
        {row["step"] for row in context.rows("steps", session) if isinstance(row.get("step"), int)}
    )
    report.number("recorded steps", steps)
    if device == "cuda":
        kernels = counts(context.rows("kernels", session, "--limit", "0"))
        report.checks += check.same_counts(
            "kernels equal torch.profiler's", kernels, own["kernels"]
        )
        copies = sum(row["count"] for row in context.rows("copies", session, "--limit", "0"))
        report.expect(
            "copies equal torch.profiler's",
            copies == own["copies"],
            f"{copies}, not {own['copies']}",
        )
    operators = counts(context.rows("ops", session, "--limit", "0"))
    ours = {name: count for name, count in operators.items() if name.startswith("aten::")}
    report.checks += check.same_counts("operators equal torch.profiler's", ours, own["operators"])


def counts(rows: check.Rows) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows:
        found[row["name"]] += row["calls"]
    return found


def diagnosed(context: Context, report: Report, session: Path) -> None:
    document = context.diagnosis(session)
    verdict = document["verdict"]
    report.expect(
        "diagnose has a verdict",
        bool(VERDICTS.match(verdict["id"])),
        f"{verdict['id']}: {verdict['sentence']}",
    )
    report.number("verdict", verdict["id"])
    report.number("findings", [finding["title"] for finding in document["findings"]])
    report.number("unexplained by the replay, percent", document["replay_residual_percent"])


def beside_injection(context: Context, report: Report, session: Path) -> None:
    """What torch.profiler and the injection both saw is there once."""
    traces = sorted(session.glob("torch-*.pt.trace.json*"))
    if not list(session.glob("cuda-*.fathom")):
        report.not_possible(
            "seen by torch.profiler and by the injection",
            "the session has no record of the injection",
        )
        return
    alone = counts(context.rows("kernels", traces[0], "--limit", "0"))
    merged = counts(context.rows("kernels", session, "--limit", "0"))
    report.checks += check.same_counts("seen twice, counted once", merged, alone)
