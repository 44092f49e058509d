"""Hardware counters as samples beside those that Nsight Compute reads, for a copy and a matrix multiplication."""

from __future__ import annotations

import csv
import io
import shutil
import statistics
from pathlib import Path

import timeline
from common import Context, option_named
from outcome import Report
from part_metrics import refusals
from programs_of import Recording, ready

# Ours, and what ncu calls it; both in percent.
METRICS = {
    "gpu.sm_active": "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
    "gpu.dram_bandwidth": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu.tensor_active": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "gpu.warps_active": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
KERNELS = {"copy": "fathom_copy", "gemm": "fathom_gemm"}
POINTS = 10.0
NEEDED = {"copy": ("gpu.dram_bandwidth",), "gemm": ("gpu.sm_active",)}


def run(context: Context, report: Report) -> None:
    program = ready(context, report, ("counted",)).get("counted")
    if program is None:
        return
    ncu = shutil.which("ncu")
    if ncu is None:
        report.not_possible("counters against ncu", "ncu is not installed")
        return
    options = option_named(context.run_help(), "gpu-metrics")
    if options is None:
        report.not_possible("counters against ncu", "run has no option for them")
        return
    for what, kernel in KERNELS.items():
        with Recording(context, report, what) as recording:
            words: list[object] = [ncu, "--csv", "--kernel-name", kernel, "--launch-count", "3"]
            words += ["--clock-control", "none", "--metrics", ",".join(METRICS.values())]
            out = context.run(*words, program, what, 5, seconds=90, check=False)
            theirs = ncu_values(out)
            if not theirs:
                reason = next((line for line in out.splitlines() if "ERR_" in line), out[-200:])
                report.not_possible(f"{what}: ncu", reason.strip() or "it says nothing")
                continue
            compare(context, report, recording, program, what, options, theirs)


def compare(
    context: Context,
    report: Report,
    recording: Recording,
    program: Path,
    what: str,
    options: tuple[str, ...],
    theirs: dict[str, float],
) -> None:
    recording.run(program, what, options=options, seconds=60)
    facts = recording.facts()
    events = timeline.load(context, recording.session)
    work = timeline.bursts(timeline.spans(events, "kernel", KERNELS[what]), 20_000_000)
    if not work:
        report.failed(f"{what}: kernels", "none is recorded")
        return
    # The longest stretch, without the samples at its ends.
    begin, end = max(work, key=lambda span: span[1] - span[0])
    margin = (end - begin) // 10
    for counter, name in METRICS.items():
        values = [
            value
            for time, value in timeline.samples(events, counter)
            if begin + margin <= time <= end - margin
        ]
        if len(values) < 20 or name not in theirs:
            said = refusals(recording.session)
            reason = said[0]["why"] if said else f"{len(values)} samples, ncu: {theirs.get(name)}"
            report.not_possible(f"{what}: {counter}", reason)
            continue
        ours = statistics.median(values)
        label = f"{what}: {counter}"
        expected = f"{theirs[name]:.1f} % by ncu, within {POINTS:g} points"
        near = abs(ours - theirs[name]) <= POINTS
        report.number(label, {"ours": round(ours, 2), "ncu": round(theirs[name], 2)})
        if counter in NEEDED[what] or theirs[name] > POINTS:
            report.compare(label, expected, f"{ours:.1f} %", near, **facts)


def ncu_values(text: str) -> dict[str, float]:
    """Of ncu's table in CSV, the median of each metric over launches. Lines before it are the program's and ncu's own."""
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines) if '"Metric Name"' in line), None)
    if first is None:
        return {}
    found: dict[str, list[float]] = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines[first:]))):
        try:
            value = float((row.get("Metric Value") or "").replace(",", ""))
        except ValueError:
            continue
        found.setdefault(row.get("Metric Name") or "", []).append(value)
    return {name: statistics.median(values) for name, values in found.items()}
