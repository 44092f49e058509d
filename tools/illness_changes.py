"""What-if predictions from one recording of a program to another, compared with that one. Used by tools/eval.

Between batch sizes the work of each kernel changes, and the host's does not: all activities are scaled by the ratio
of their summed times in both recordings, and what is predicted is how host and device then overlap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Ask = Callable[..., Any]  # of the program: arguments in, its JSON out


@dataclass
class Change:
    about: str
    before_ns: int
    predicted_ns: int
    measured_ns: int

    @property
    def error(self) -> float:
        return self.predicted_ns / self.measured_ns - 1


def device_time(ask: Ask, trace: str) -> int:
    return sum(row["total_ns"] for row in ask("kernels", trace, "--limit", "0")["rows"])


def longest_gaps(ask: Ask, trace: str, count: int) -> int:
    if count == 0:
        return 0
    rows = ask("gaps", trace, "--sort", "-duration_ns", "--limit", str(count))["rows"]
    return sum(row["duration_ns"] for row in rows)


def predicted(ask: Ask, case: dict[str, Any], source: str, target: str) -> Change:
    ratio = device_time(ask, target) / device_time(ask, source)
    answer = ask("whatif", source, "--scale", f"kernel:.={ratio:.4f}", *case["arguments"])
    measured = ask("diagnose", target)["baseline"]["step_mean_ns"]
    return Change(
        case["about"],
        answer["before"]["step_mean_ns"],
        answer["best"]["step_mean_ns"],
        measured - longest_gaps(ask, target, case["to_without_gaps"]),
    )
