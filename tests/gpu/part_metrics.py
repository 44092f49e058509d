"""Hardware counters as tracks (PM sampling), where Fathom and the device can."""

from __future__ import annotations

import re

from common import CommandFailed, Context
from outcome import Report
from part_cuda import compiled

# How `fathom run --help` may spell it.
OPTION = re.compile(r"--gpu-metrics|--pm-sampling|\bgpu-metrics\b|\bpm-sampling\b")


def run(context: Context, report: Report) -> None:
    if not context.gpu:
        report.not_possible("PM sampling", "no GPU")
        return
    found = OPTION.search(context.run_help())
    if found is None:
        report.not_possible("PM sampling", "run has no option for it")
        return
    options = [found.group()] if found.group().startswith("--") else ["--with", found.group()]
    program = compiled(context, Report("compiling"), ("kernels",)).get("kernels")
    if program is None:
        report.not_possible("PM sampling", "nvcc is not there")
        return
    session = context.work / "session"
    try:
        context.run(
            context.fathom, "run", "-q", "--no-diagnose", *options, "-o", session, "--", program
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
    if not rows:
        report.not_possible("PM sampling", "the session has no such counters; doctor says why")
        return
    for row in rows:
        sane = (
            row["samples"] > 0
            and row["min"] >= 0
            and (row["unit"] != "percent" or row["max"] <= 100)
        )
        report.expect(
            row["counter"],
            sane,
            f"{row['min']:g} … {row['max']:g} {row['unit']}, {row['samples']} samples",
        )


def is_metric(counter: str) -> bool:
    return bool(re.search(r"sm_active|tensor_active|dram|gpu\.metrics|pm\.", counter))
