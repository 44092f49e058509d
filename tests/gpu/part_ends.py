"""Ends of a program: what is in the file."""

from __future__ import annotations

from typing import Any

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
# Of a program that is killed with a full queue (programs/ends.cu): it launches so many, which take four seconds.
BUSY, KERNEL_US = 40_000, 100
# What the driver queues, and has not ended; two buffers of 440 launches; what comes in half a second.
LOST_AT_MOST = 2 * 1024 + 2 * 440 + 500_000 // KERNEL_US


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
        killed(report, recording.kernels(), recording.facts())


def killed(report: Report, found: int, facts: dict[str, Any]) -> None:
    """What a kill loses while the GPU always has work; the program runs for seconds before."""
    lost_ms = (BUSY - found) * KERNEL_US // 1000
    report.number(f"kernels recorded of {BUSY}, killed with a full queue; milliseconds that are missing", [found, lost_ms])
    wanted = f"at least {BUSY - LOST_AT_MOST} of {BUSY}"
    right = BUSY - LOST_AT_MOST <= found <= BUSY
    report.compare("busy, killed: kernels", wanted, f"{found}, without the last {lost_ms} ms", right, **facts)
