"""What recording costs: steps bare, under torch.profiler alone and under `fathom run`, in turn."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict

from common import HERE, CommandFailed, Context, last_json
from outcome import Report

FIRST, LAST, STEPS = 8, 22, 26
SCHEDULE = f"wait={FIRST - 1},warmup=1,active={LAST - FIRST + 1},repeat=1"
NEVER = "skip_first=1000000"
ROUNDS = 3
BASE = 5  # configurations that are measured in each round
# Of the step under torch.profiler alone, what a recorded one may take.
AT_MOST = 1.15
EXTRAS = ("", "shapes", "stacks", "memory")
UNRECORDED = "fathom run, steps not recorded"
# Lines are counted in every step, so a run cannot compare those with others of its own.
OF_LINES = "fathom run lines, steps not recorded"


def run(context: Context, report: Report) -> None:
    if not context.python:
        report.not_possible("step times", "no Python with torch")
    else:
        steps(context, report)


def steps(context: Context, report: Report) -> None:
    times: dict[str, list[float]] = defaultdict(list)
    every = configurations()
    # All of them once, then the first ones in turn, as often as there is time.
    rounds = [every] + [every[:BASE]] * ROUNDS if context.gpu else [every[:3]]
    one = 0.0
    for number, chosen in enumerate(rounds):
        for name, own, options in chosen:
            if context.left < 1.5 * one:
                if not times[name]:
                    report.not_possible(name, "no time was left")
                continue
            begin = time.monotonic()
            try:
                times[name].append(median_step(context, f"{number}_{slug(name)}", own, options))
            except CommandFailed as error:
                report.failed(name, str(error))
            one = max(one, time.monotonic() - begin)
    in_ms = {name: [round(each / 1e6, 4) for each in found] for name, found in times.items()}
    report.number("step_ms", in_ms)
    best = {name: min(found) for name, found in times.items() if found}
    if "nothing" not in best:
        return
    report.number(
        "ratio to nothing", {name: round(each / best["nothing"], 3) for name, each in best.items()}
    )
    report.number("rounds", len(times["nothing"]))
    if OF_LINES in best and UNRECORDED in best:
        report.number(
            "ratio of steps with lines to steps without",
            round(best[OF_LINES] / best[UNRECORDED], 4),
        )
    for extra in EXTRAS:
        theirs, ours = (
            best.get(f"torch.profiler {extra}".strip()),
            best.get(f"fathom run {extra}".strip()),
        )
        if theirs is None or ours is None:
            continue
        bare = best["nothing"]
        bare_too = {"bare": f"{bare / 1e6:.3f} ms", "rounds": len(times["nothing"])}
        name = f"steps cost what torch.profiler costs, {extra or 'nothing more'}"
        if context.gpu:
            wanted = f"at most {AT_MOST} of {theirs / 1e6:.3f} ms, with torch.profiler alone, and 0.1 ms"
            right = ours <= AT_MOST * theirs + 0.1e6
            report.compare(name, wanted, f"{ours / 1e6:.3f} ms", right, **bare_too)
        else:
            got = f"{ours / 1e6:.3f} ms and {theirs / 1e6:.3f} ms"
            report.compare("both ran", "times of both", got, ours > 0 and theirs > 0, **bare_too)


def configurations() -> list[tuple[str, str | None, tuple[str, ...] | None]]:
    """Name; extras of the program's own profiler and options of `fathom run`, None without them."""
    found: list[tuple[str, str | None, tuple[str, ...] | None]] = [
        ("nothing", None, None),
        ("torch.profiler", "", None),
        ("fathom run", None, ("--steps", SCHEDULE)),
        (UNRECORDED, None, ("--steps", NEVER)),
        (OF_LINES, None, ("--steps", NEVER, "--with", "lines")),
    ]
    for extra in EXTRAS[1:]:
        found.append((f"torch.profiler {extra}", extra, None))
        found.append((f"fathom run {extra}", None, ("--steps", SCHEDULE, "--with", extra)))
    return found


def slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def median_step(
    context: Context, label: str, own: str | None, options: tuple[str, ...] | None
) -> float:
    """Of the steps that are recorded, or would be, ns."""
    device = "cuda" if context.gpu else "cpu"
    words: list[object] = [context.python, HERE / "train.py", "--device", device, "--steps", STEPS]
    if own is not None:
        words += [
            "--profile",
            f"{FIRST}-{LAST}",
            "--extras",
            own,
            "--export",
            context.work / f"{label}.json",
        ]
    if options is not None:
        session = context.work / label
        recorder = [
            context.fathom,
            "run",
            "-q",
            "--no-diagnose",
            "--no-overhead",
            *options,
            "-o",
            session,
            "--",
        ]
        words = [*recorder, *words]
    times = last_json(context.run(*words, seconds=120))["step_ns"]
    # The first recorded step holds the profiler's start.
    return float(statistics.median(times[FIRST + 2 : LAST]))
