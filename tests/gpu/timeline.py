"""What lies when: single kernels, calls and samples of an exported recording. Pure but for `load`."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import Context

Span = tuple[int, int]
# A kernel's record ends a little after its last instruction; the device's clock ticks in 1 µs on some GPUs.
CLOCK_MOST_NS = 50_000
CLOCK_CHANGE_NS = 20_000


def load(context: Context, session: Path) -> list[dict[str, Any]]:
    """The events of a session, as Chrome has them."""
    file = context.work / f"{session.name}.json"
    context.run(context.fathom, "export", "-q", "--to", "chrome", "-o", file, session, seconds=120)
    events: list[dict[str, Any]] = json.loads(file.read_text())["traceEvents"]
    return events


def spans(events: Sequence[dict[str, Any]], category: str, name: str = "") -> list[Span]:
    """Begin and end in ns of what has that category, in time's order; `name` is a part of its name."""
    return sorted(
        (round(each["ts"] * 1000), round((each["ts"] + each["dur"]) * 1000))
        for each in events
        if each.get("cat") == category and each["ph"] == "X" and name in each["name"]
    )


def samples(events: Sequence[dict[str, Any]], counter: str) -> list[tuple[int, float]]:
    """Time in ns and value; of several GPUs those of the one that had most of it."""
    of_each: dict[str, list[tuple[int, float]]] = {}
    for each in events:
        # A counter of a device is named so, and its argument is the device's number.
        if each.get("ph") == "C" and each["name"] in (counter, f"{counter} device"):
            for key, value in each["args"].items():
                of_each.setdefault(key, []).append((round(each["ts"] * 1000), float(value)))
    return sorted(max(of_each.values(), key=lambda of: sum(value for _, value in of), default=[]))


# The device's clock against ours


@dataclass
class ClockTruth:
    """How far the recorded ends of kernels lie behind those that the program measured, in ns."""

    off: list[float]
    within: float  # half of what the measurement leaves open, at most
    drift_ppm: float  # of the device's clock against the host's, by the program

    @property
    def worst(self) -> float:
        return max(self.off, key=abs)

    @property
    def change(self) -> float:
        """From the first tenth to the last."""
        some = max(1, len(self.off) // 10)
        return statistics.median(self.off[-some:]) - statistics.median(self.off[:some])


def clock_truth(readings: Sequence[int], kernels: Sequence[Span], calls: Sequence[Span]) -> ClockTruth:
    """`readings` are six to a kernel: the host before and after the launch, before the word and after the answer;
    the device when it answered and at its end. `calls` are the launches as recorded. ValueError where they differ in number.
    """
    rows = [readings[i : i + 6] for i in range(0, len(readings), 6)]
    if not rows or not len(rows) == len(kernels) == len(calls):
        raise ValueError(f"{len(kernels)} kernels and {len(calls)} launches of {len(rows)}")
    # The recording's zero on the host's clock: each launch's call lies within what was measured around it.
    low = max(row[0] - call[0] for row, call in zip(rows, calls, strict=True))
    high = min(row[1] - call[1] for row, call in zip(rows, calls, strict=True))
    zero = (low + high) / 2
    off = []
    for (_, _, said, answered, begin, end), kernel in zip(rows, kernels, strict=True):
        off.append(kernel[1] + zero - ((said + answered) / 2 + end - begin))
    within = max((row[3] - row[2]) / 2 for row in rows) + abs(high - low) / 2
    host = (rows[-1][2] + rows[-1][3] - rows[0][2] - rows[0][3]) / 2
    drift = 1e6 * (rows[-1][4] - rows[0][4] - host) / host if host else 0.0
    return ClockTruth(off, within, drift)


# Hardware counters against kernels


def bursts(kernels: Sequence[Span], pause: int) -> list[Span]:
    """Stretches of kernels that are less than `pause` apart."""
    found: list[Span] = []
    for begin, end in kernels:
        if found and begin - found[-1][1] < pause:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def active(values: Sequence[tuple[int, float]], level: float) -> list[Span]:
    """Stretches of samples above `level`; a sample's time is the beginning of its interval."""
    found: list[Span] = []
    begin = None
    for time, value in values:
        if value > level and begin is None:
            begin = time
        elif value <= level and begin is not None:
            found.append((begin, time))
            begin = None
    if begin is not None:
        found.append((begin, values[-1][0]))
    return found


def edges_off(ours: Sequence[Span], theirs: Sequence[Span]) -> list[int]:
    """Of each stretch how far both edges are from the other's that overlaps it most. ValueError where one has none."""
    off = []
    for begin, end in ours:
        shared = [(min(end, last) - max(begin, first), first, last) for first, last in theirs]
        best = max(shared, default=(0, 0, 0))
        if best[0] <= 0:
            raise ValueError(f"nothing is active from {begin} to {end} ns")
        off += [best[1] - begin, best[2] - end]
    return off
