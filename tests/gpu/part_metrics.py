"""Hardware counters as tracks (PM sampling), or their refusal in words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from common import CommandFailed, Context, option_named
from outcome import Report
from part_cuda import compiled

# Every GPU since Turing has these.
EXPECTED = ("gpu.sm_active", "gpu.dram_bandwidth")
MOST_BYTES_PER_SECOND = 1e14
# Launches take half a second at least; a sample is taken every millisecond, once that is set up.
LAUNCHES = 300_000
LEAST_SAMPLES = 50


def run(context: Context, report: Report) -> None:
    if not context.gpu:
        report.not_possible("PM sampling", "no GPU")
        return
    options = option_named(context.run_help(), "gpu-metrics")
    if options is None:
        report.not_possible("PM sampling", "run has no option for it")
        return
    program = compiled(context, Report("compiling"), ("many",)).get("many")
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
        report.expect("the refusal is named, with its remedy", named, str(said)[:300])
        report.not_possible("PM sampling", said[0]["why"] if said else "nothing says why")
        return
    found = {row["counter"] for row in rows}
    for counter in EXPECTED:
        report.expect(f"{counter} is there", counter in found, ", ".join(sorted(found)))
    for row in rows:
        most = 100 if row["unit"] == "percent" else MOST_BYTES_PER_SECOND
        sane = row["samples"] >= LEAST_SAMPLES and 0 <= row["min"] and row["max"] <= most
        report.expect(
            row["counter"],
            sane,
            f"{row['min']:g} … {row['max']:g} {row['unit']}, {row['samples']} samples",
        )
    busy = [row["max"] for row in rows if row["counter"] == "gpu.sm_active"]
    if busy:
        report.expect("kernels keep SMs active", max(busy) > 0, f"{max(busy):g} %")


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
