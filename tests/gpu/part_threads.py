"""Many threads, much work, little memory; two contexts; and children made before and after the first use of CUDA."""

from __future__ import annotations

import check
from common import Context
from outcome import Report
from programs_of import Recording, ready

# Name, program, its arguments, options of run, seconds.
RUNS = (
    ("200 threads", "threads", (200, 100), (), 60),
    ("2 million launches", "many", (2_000_000,), (), 150),
    ("fork after cuInit", "ends", ("fork",), (), 60),
    # Both processes use CUDA.
    ("fork before cuInit", "ends", ("fork_before",), (), 60),
    ("two contexts", "contexts", (), (), 60),
)


def run(context: Context, report: Report) -> None:
    programs = ready(context, report, ("threads", "many", "ends", "contexts"))
    for name, program, arguments, options, seconds in RUNS:
        if program not in programs:
            continue
        with Recording(context, report, name) as recording:
            recording.run(programs[program], *arguments, options=options, seconds=seconds)
            if not recording.expected.get("possible", True):
                report.not_possible(name, recording.expected["reason"])
                continue
            recording.compare_kernels(f"{name}: kernels", recording.launched())
            if program == "contexts":
                contexts(report, recording)
    if "threads" in programs:
        with Recording(context, report, "little memory") as recording:
            recording.run(programs["threads"], 200, 1000, options=("--max-memory", "4M"))
            found, made = recording.kernels(), recording.launched()
            # Each launch makes records of its kernel and of the calls that launch: of as many as are there of any.
            rows = recording.rows("launches")
            calls = [row["calls"] for row in rows if "LaunchKernel" in check.plain_call(row["name"])]
            kinds = 1 + len(calls)
            facts = {"dropped": recording.dropped(), "calls": sum(calls)}
            kept = found + facts["calls"]
            right = found <= made and kept + facts["dropped"] >= kinds * made and (
                found == made or facts["dropped"] > 0
            )
            text = f"{kinds * made} records of {made} launches"
            report.compare("little memory: recorded or counted", text, kept, right, **facts)


def contexts(report: Report, recording: Recording) -> None:
    """Each context's kernels, and its own stream."""
    for kernel in recording.expected["kernels"]:
        name = kernel["name"]
        recording.compare_kernels(f"two contexts: {name}", kernel["calls"], name)
    rows = [row["value"] for row in recording.rows("info") if row["name"] == "device streams"]
    streams = int(rows[0]) if rows else 0
    report.compare("two contexts: device streams", "at least 2", streams, streams >= 2)
