"""Times: kernels after their launch calls and within the waits for them, on a clock whose error is known and which agrees
with the device's own."""

from __future__ import annotations

import check
from common import Context
from outcome import Report
from part_clock import against_device
from programs_of import Recording, ready, worst

LOST = check.WITHOUT_KERNEL
CHECKS = ("activities_before_launch", "work_after_wait", "negative_durations", LOST)
MOST_ERROR_NS = 50_000


def run(context: Context, report: Report) -> None:
    programs = ready(context, report, ("kernels", "syncs", "streams", "clock"))
    if "clock" in programs:
        against_device(context, report, programs.pop("clock"), context.clock_seconds)
    for name, program in programs.items():
        with Recording(context, report, name) as recording:
            recording.run(program)
            facts = recording.facts()
            health = {row["check"]: row for row in recording.rows("health")}
            for each in CHECKS:
                count = health[each]["count"] if each in health else 0
                known = recording.lost() if each == LOST else 0
                report.compare(f"{name}: {each}", known, count, **facts)
            error = worst(facts, "cuda.clock.error_ns", float("inf"))
            report.compare(
                f"{name}: the clock's error", f"at most {MOST_ERROR_NS} ns", error, error <= MOST_ERROR_NS
            )
            report.compare(f"{name}: the clock's jumps", 0, int(worst(facts, "cuda.clock.jumps", 0)))
