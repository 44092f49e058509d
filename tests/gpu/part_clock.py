"""The device's own clock, %globaltimer, against the times of kernels, for five minutes."""

from __future__ import annotations

from pathlib import Path

import timeline
from common import Context
from outcome import Report
from programs_of import Recording, ready

SECONDS = 300


def run(context: Context, report: Report) -> None:
    program = ready(context, report, ("clock",)).get("clock")
    if program is not None:
        against_device(context, report, program, SECONDS)


def against_device(context: Context, report: Report, program: Path, seconds: int) -> None:
    name = f"%globaltimer, {seconds} s"
    with Recording(context, report, f"clock of {seconds} s") as recording:
        recording.run(program, seconds, seconds=seconds + 60)
        facts = recording.facts()
        events = timeline.load(context, recording.session)
        kernels = timeline.spans(events, "kernel", "fathom_clock")
        # The first launch is of the kernel that measures the tick.
        calls = timeline.spans(events, "cuda_runtime", "LaunchKernel")[1:]
        truth = timeline.clock_truth(recording.expected["readings"], kernels, calls)
        report.number(f"{name}: device against host, ppm", round(truth.drift_ppm, 3))
        report.number(f"{name}: measured to, ns", round(truth.within))
        most = timeline.CLOCK_MOST_NS + truth.within
        report.compare(
            f"{name}: recorded ends of kernels",
            f"at most {most:.0f} ns off",
            f"{truth.worst:.0f} ns",
            abs(truth.worst) <= most,
            **facts,
        )
        report.compare(
            f"{name}: from the beginning to the end",
            f"at most {timeline.CLOCK_CHANGE_NS} ns of change",
            f"{truth.change:.0f} ns",
            abs(truth.change) <= timeline.CLOCK_CHANGE_NS,
            **facts,
        )
