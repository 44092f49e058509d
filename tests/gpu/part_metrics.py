"""Hardware counters as tracks (PM sampling), or their refusal in words; and what the hardware's buffer has no room for."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import timeline
from common import CommandFailed, Context, option_named
from outcome import Report
from part_cuda import compiled, told
from programs_of import Recording

# Every GPU since Turing has these.
EXPECTED = ("gpu.sm_active", "gpu.dram_bandwidth")
MOST_BYTES_PER_SECOND = 1e14
# Launches take half a second at least; a sample is taken every millisecond, once that is set up.
LAUNCHES = 300_000
LEAST_SAMPLES = 50
# Stopped, the process takes no samples out, and the GPU goes on taking them: 30,000 into 64 MiB.
RATE = 10_000
SECONDS, RUNS_S, STOPPED_S = 5, 3, 3
STOPS = (
    f"(sleep {RUNS_S}; kill -STOP $$; sleep {STOPPED_S}; kill -CONT $$) >/dev/null 2>&1 & "
    'exec "$0" "$@"'
)
# Of a gap's length: samples are not taken to the nanosecond.
GAP_PART = 0.05


def run(context: Context, report: Report) -> None:
    if not context.gpu:
        report.not_possible("PM sampling", "no GPU")
        return
    options = option_named(context.run_help(), "gpu-metrics")
    if options is None:
        report.not_possible("PM sampling", "run has no option for it")
        return
    programs = compiled(context, Report("compiling"), ("many", "clock"))
    program = programs.get("many")
    if program is None:
        report.not_possible("PM sampling", "nvcc is not there")
        return
    session = context.work / "session"
    try:
        context.run(
            *(context.fathom, "run", "-q", "--no-diagnose", *options, "-o", session),
            *("--", program, LAUNCHES),
        )
    except CommandFailed as error:
        report.failed("PM sampling", str(error))
        return
    rows = [
        row
        for row in context.rows("telemetry", session, "--limit", "0")
        if is_metric(row["counter"])
    ]
    report.number(
        "counters",
        {row["counter"]: [row["min"], row["p50"], row["max"], row["samples"]] for row in rows},
    )
    said = refusals(session)
    report.number("not recorded", said)
    if not rows:
        # A device may refuse; that it is reported, and how it would be allowed, is what can be checked.
        named = any("gpu.sm_active" in lost["what"] and lost["remedy"] for lost in said)
        report.compare("the refusal is named, with its remedy", "gpu.sm_active and a remedy", str(said)[:300], named)
        report.not_possible("PM sampling", said[0]["why"] if said else "nothing says why")
        return
    facts = told(context, session)
    found = {row["counter"] for row in rows}
    for counter in EXPECTED:
        report.compare(f"{counter} is there", counter, ", ".join(sorted(found)), counter in found, **facts)
    for row in rows:
        most = 100 if row["unit"] == "percent" else MOST_BYTES_PER_SECOND
        sane = row["samples"] >= LEAST_SAMPLES and 0 <= row["min"] and row["max"] <= most
        wanted = f"0 … {most:g} {row['unit']}, {LEAST_SAMPLES} samples at least"
        got = f"{row['min']:g} … {row['max']:g} {row['unit']}, {row['samples']} samples"
        report.compare(row["counter"], wanted, got, sane, **facts)
    busy = [row["max"] for row in rows if row["counter"] == "gpu.sm_active"]
    if busy:
        report.compare("kernels keep SMs active", "more than 0 %", f"{max(busy):g} %", max(busy) > 0, **facts)
    if "clock" in programs:
        overflow(context, report, programs["clock"], options)


def overflow(context: Context, report: Report, program: Path, options: Sequence[str]) -> None:
    """A process that is stopped for a while, at a high rate."""
    name = "a hardware buffer that overflows"
    with Recording(context, report, name) as recording:
        rate = ("--gpu-metrics-rate", RATE)
        recording.run("sh", "-c", STOPS, program, SECONDS, options=(*options, *rate))
        facts = recording.facts()
        values = timeline.samples(timeline.load(context, recording.session), "gpu.sm_active")
        times = [time for time, _ in values]
        held(report, name, times, recording.dropped(), overflows(facts), facts)


def overflows(facts: dict[str, Any]) -> int:
    """Of all GPUs; a fact of a session has the name of its file behind its own."""
    found = [value for key, value in facts.items() if re.match(r"cuda\.metrics\.\d+\.overflows( |$)", key)]
    return round(sum(float(value) for value in found))


def held(
    report: Report, name: str, times: Sequence[int], dropped: int, overflown: int, facts: dict[str, Any]
) -> None:
    """What is missing between the samples is counted as dropped, and by which overflows."""
    steps = [later - earlier for earlier, later in zip(times, times[1:], strict=False)]
    interval = statistics.median(steps) if steps else 0.0
    if interval <= 0:
        report.compare(f"{name}: samples", "some", len(times), False, **facts)
        return
    missing = sum(round(step / interval) - 1 for step in steps if step > 1.5 * interval)
    report.number(f"{name}: samples, missing, dropped, overflows", [len(times), missing, dropped, overflown])
    near = abs(missing - dropped) <= max(GAP_PART * missing, 2 * overflown + 5)
    report.compare(f"{name}: missing samples are counted", missing, dropped, near, **facts)
    report.compare(f"{name}: overflows are named", dropped > 0, overflown > 0, **facts)


def refusals(session: Path) -> list[dict[str, Any]]:
    """What the manifest says of counters that are not there."""
    try:
        manifest = json.loads((session / "manifest.json").read_text())
    except (OSError, ValueError):
        return []
    lost: list[dict[str, Any]] = manifest.get("not_recorded", [])
    return [each for each in lost if "hardware counters" in each.get("what", "")]


def is_metric(counter: str) -> bool:
    """Not the counters of PCIe that NVML has."""
    return re.fullmatch(
        r"gpu\.((sm|tensor|warps)_active|dram_\w+|pcie_(read|write)_throughput)", counter
    ) is not None
