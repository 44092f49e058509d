"""Hardware counters beside torch.profiler: SMs become active and idle when its kernels begin and end."""

from __future__ import annotations

import json
import statistics

import timeline
from common import HERE, Context, option_named
from outcome import Report
from part_metrics import refusals
from programs_of import Recording

RATE = 1000
INTERVAL_NS = 1_000_000_000 // RATE
INTERVALS = 2
# Kernels with less between them are one burst: samples cannot show the gap.
PAUSE_NS = 20_000_000
ACTIVE_PERCENT = 5


def run(context: Context, report: Report) -> None:
    name = "counters beside torch.profiler"
    if not context.gpu or not context.python:
        report.not_possible(name, "no GPU" if not context.gpu else "no Python with torch")
        return
    options = option_named(context.run_help(), "gpu-metrics")
    if options is None:
        report.not_possible(name, "run has no option for them")
        return
    # The second profile of the process, too: by then CUPTI has the processor's counter for its clock.
    with Recording(context, report, name) as recording:
        trace = context.work / "own.json"
        rate = ("--gpu-metrics-rate", RATE)
        recording.run(
            context.python, HERE / "bursts.py", trace, options=(*options, *rate), seconds=100
        )
        facts = recording.facts()
        events = timeline.load(context, recording.session)
        values = timeline.samples(events, "gpu.sm_active")
        if not values:
            said = refusals(recording.session)
            named = any("gpu.sm_active" in lost["what"] and lost["remedy"] for lost in said)
            report.compare(f"{name}: the refusal", "named", json.dumps(said)[:300], named)
            report.not_possible(name, said[0]["why"] if said else "nothing says why")
            return
        judged(report, name, timeline.spans(events, "kernel"), values, facts)


def judged(
    report: Report,
    name: str,
    kernels: list[timeline.Span],
    values: list[tuple[int, float]],
    facts: dict[str, object],
) -> None:
    # Only while kernels are recorded is it known what the samples should show.
    wanted = timeline.bursts(kernels, PAUSE_NS)
    seen = timeline.active(values, ACTIVE_PERCENT)
    report.compare(f"{name}: bursts of kernels", "at least 10", len(wanted), len(wanted) >= 10, **facts)
    steps = [later - earlier for (earlier, _), (later, _) in zip(values, values[1:], strict=False)]
    interval = max(INTERVAL_NS, round(statistics.median(steps))) if steps else INTERVAL_NS
    off = timeline.edges_off(wanted, seen)
    worst = max(off, key=abs, default=0)
    report.number(f"{name}: edges, ns", sorted(off))
    report.compare(
        f"{name}: edges of sm_active",
        f"at most {INTERVALS} intervals of {interval} ns off",
        f"{worst} ns",
        bool(off) and abs(worst) <= INTERVALS * interval,
        **facts,
    )
