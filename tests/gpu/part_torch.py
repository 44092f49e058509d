"""A training recorded by `fathom run`, beside torch.profiler's own count of the same steps."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path

import check
from common import HERE, Context, copy_session, last_json
from outcome import Report
from part_cuda import told

FIRST, LAST, STEPS = 6, 8, 14
SCHEDULE = f"wait={FIRST - 1},warmup=1,active={LAST - FIRST + 1},repeat=1"
SAME_TIME = 0.02
VERDICTS = re.compile(r"^[a-z-]+$")


def run(context: Context, report: Report) -> None:
    if not context.python:
        report.not_possible("PyTorch", "no Python with torch")
        return
    device = "cuda" if context.gpu else "cpu"
    if device == "cpu":
        report.not_possible("kernels", "no GPU; operators are compared on the CPU")
    train: list[object] = [context.python, HERE / "train.py", "--device", device, "--steps", STEPS]
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
    # Sums of a device have no fixed order.
    same = math.isclose(recorded["loss"], own["loss"], rel_tol=0.01)
    report.compare("the program computes the same", own["loss"], recorded["loss"], same)
    copy_session(session, context.keep / "session")
    (context.keep / "own_profile.json").write_text(json.dumps(own["profiler"], indent=1) + "\n")
    compare(context, report, session, own["profiler"])
    steps = {row["step"] for row in context.rows("steps", session)}
    wanted = set(range(FIRST, LAST + 1))
    report.compare("the steps asked for", sorted(wanted), sorted(steps))
    diagnosed(context, report, session)
    own_profiler(context, report, train)
    if device == "cuda":
        for each in check.sane_levels(context.rows("telemetry", session, "--limit", "0")):
            report.checks.append(each)
        by_injection(context, report, train, own["profiler"], session)


def compare(
    context: Context, report: Report, session: Path, own: dict[str, dict[str, int]], whose: str = ""
) -> None:
    facts = told(context, session)
    if context.gpu:
        kernels = counts(context.rows("kernels", session, "--limit", "0"))
        report.checks += check.same_counts(f"kernels{whose}", kernels, own["kernels"], **facts)
        copies = sum(row["count"] for row in context.rows("copies", session, "--limit", "0"))
        report.compare(f"copies{whose}", own["copies"], copies, **facts)
    operators = counts(context.rows("ops", session, "--limit", "0"))
    ours = {name: count for name, count in operators.items() if name.startswith("aten::")}
    report.checks += check.same_counts(f"operators{whose}", ours, own["operators"], **facts)


def counts(rows: check.Rows) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows:
        found[row["name"]] += row["calls"]
    return found


def diagnosed(context: Context, report: Report, session: Path) -> None:
    document = context.diagnosis(session)
    verdict = document["verdict"]
    right = bool(VERDICTS.match(verdict["id"]))
    report.compare("diagnose has a verdict", "the id of a verdict", verdict["id"], right, sentence=verdict["sentence"])
    report.number("verdict", verdict["id"])
    report.number("findings", [finding["title"] for finding in document["findings"]])
    report.number("unexplained by the replay, percent", document["replay_residual_percent"])


def own_profiler(context: Context, report: Report, train: list[object]) -> None:
    """A program that profiles itself keeps its profiler, and what it saw is what is recorded."""
    session, trace = context.work / "own", context.work / "own.pt.trace.json"
    words = [context.fathom, "run", "-q", "--no-diagnose", "--no-overhead", "-o", session, "--"]
    profiling = ["--profile", f"{FIRST}-{LAST}", "--export", trace]
    own = last_json(context.run(*words, *train, *profiling, seconds=240))["profiler"]
    compare(context, report, session, own, " of a program that profiles itself")


def by_injection(
    context: Context, report: Report, train: list[object], own: dict[str, dict[str, int]], by_torch: Path
) -> None:
    """The injection sees the kernels of these steps as torch.profiler does, each once and for as long."""
    name = "kernels by the injection"
    if "--cuda " not in context.run_help():
        report.not_possible(name, "run has no --cuda always")
        return
    session = context.work / "injection"
    words = [context.fathom, "run", "-q", "--no-diagnose", "--no-overhead", "--cuda", "always"]
    context.run(*words, "--steps", SCHEDULE, "-o", session, "--", *train, seconds=240)
    steps = f"{FIRST}-{LAST}"
    rows = context.rows("kernels", session, "--limit", "0", "--steps", steps)
    report.checks += check.same_counts(name, counts(rows), own["kernels"], **told(context, session))
    theirs = context.rows("kernels", by_torch, "--limit", "0", "--steps", steps)
    same_times(report, rows, theirs)


def same_times(report: Report, ours: check.Rows, theirs: check.Rows) -> None:
    """Two runs of the same steps: what their kernels take in all differs by what runs differ."""
    found, wanted = (sum(row["total_ns"] for row in rows) for rows in (ours, theirs))
    right = wanted > 0 and abs(found - wanted) <= SAME_TIME * wanted
    text = f"{wanted} ns, as by torch.profiler, within {100 * SAME_TIME:g} %"
    report.compare("time of kernels by the injection", text, found, right)
