"""Ends of a program: what is in the file."""

from __future__ import annotations

from common import Context
from outcome import Report
from programs_of import Recording, ready

KERNELS = 30
# How it ends, kernels that are at least recorded (docs/cuda.md), whether the exit code is a failure.
ENDS = (
    ("return", KERNELS, False),
    ("_exit", KERNELS, False),
    ("abort", KERNELS, True),
    ("segv", KERNELS, True),
    ("term", KERNELS, True),
    # A quarter of a second after the work the GPU has had a pause.
    ("kill", KERNELS, True),
    # Two runs of it in one session.
    ("exec", 2 * KERNELS, False),
    ("nosync", KERNELS, False),
    ("reset", KERNELS, False),
    ("short", 3, False),
)
# What had not begun by then is counted.
UNENDED = ("nosync",)


def run(context: Context, report: Report) -> None:
    program = ready(context, report, ("ends",)).get("ends")
    if program is None:
        return
    for how, least, fails in ENDS:
        with Recording(context, report, how) as recording:
            recording.run(program, how, fails=fails)
            facts = recording.facts()
            found, dropped = recording.kernels(), recording.dropped()
            if how in UNENDED:
                right = 0 < found <= least <= found + dropped
                report.compare(f"{how}: kernels", f"{least}, recorded or counted", found, right, **facts)
            else:
                recording.compare_kernels(f"{how}: kernels", least)
            bare = context.ended(program, how)[1]
            report.compare(f"{how}: exit code", f"{bare}, as without Fathom", recording.code, bare == recording.code)
    with Recording(context, report, "busy") as recording:
        recording.run(program, "busy", fails=True)
        # A number: what a kill loses while the GPU always has work.
        report.number("kernels recorded of 3000, killed with a full queue", recording.kernels())
