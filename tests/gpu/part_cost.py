"""What recording from inside costs a program of launches alone: time, processor, memory of the host and of the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from common import Context, last_json
from outcome import Report
from programs_of import Recording, ready

LAUNCHES = 300_000
ROUNDS = 3
# What recording may add to each, and in which unit.
LIMITS: dict[str, tuple[float, str]] = {
    "launch_ns": (3_000, "ns a launch"),
    # Our thread converts and writes, CUPTI's collects.
    "other_threads_ns": (6_000, "ns of processor time a launch"),
    # --max-memory is 256 MiB; libcupti and its helpers are mapped.
    "resident_bytes": (400 << 20, "bytes of resident memory"),
    "device_bytes": (256 << 20, "bytes of device memory"),
}


def run(context: Context, report: Report) -> None:
    program = ready(context, report, ("cost",)).get("cost")
    if program is None:
        return
    bare: list[dict[str, Any]] = []
    recorded: list[dict[str, Any]] = []
    facts: dict[str, Any] = {}
    for number in range(ROUNDS):
        with Recording(context, report, f"round {number}") as recording:
            bare.append(last_json(context.run(program, LAUNCHES, seconds=40)))
            recording.run(program, LAUNCHES, seconds=40)
            recorded.append(recording.expected)
            facts = recording.facts()
            recording.compare_kernels(f"round {number}: kernels", recording.launched())
    if bare and recorded:
        judged(report, bare, recorded, facts)


def judged(
    report: Report,
    bare: Sequence[Mapping[str, Any]],
    recorded: Sequence[Mapping[str, Any]],
    facts: Mapping[str, Any],
) -> None:
    """Each by the best round: what else the machine does only adds."""
    for name, (limit, unit) in LIMITS.items():
        without, with_us = (min(float(each[name]) for each in runs) for runs in (bare, recorded))
        report.number(name, {"unrecorded": round(without), "recorded": round(with_us)})
        more = with_us - without
        report.compare(
            name, f"at most {limit:.0f} {unit} more", f"{more:.0f}", more <= limit, **facts
        )
