"""What recording costs: steps that were profiled beside steps that were not, in the same run."""

from __future__ import annotations

from typing import Any

# The first steps are slower for reasons of their own.
WARM_UP_STEPS = 2
MOST_STEPS = 10000

UNPROFILED = "unprofiled"
EDGE = "edge"


class Overhead:
    def __init__(self) -> None:
        self._times: dict[str, list[int]] = {}
        self._hook: list[int] = []

    def step(self, number: int, kind: str, duration: int, hook_ns: int) -> None:
        """A step of `duration` that was recorded as `kind` says; `hook_ns` were ours, outside
        torch.profiler."""
        if kind == EDGE or number < WARM_UP_STEPS:
            return
        if len(self._hook) < MOST_STEPS:
            self._hook.append(hook_ns)
        times = self._times.setdefault(kind, [])
        if len(times) < MOST_STEPS:
            times.append(duration)

    def facts(self, profiled: str) -> dict[str, Any]:
        """`profiled` is the kind of the steps that were kept."""
        plain = _summary(self._times.get(UNPROFILED, []))
        kept = _summary(self._times.get(profiled, []))
        hook = _summary(self._hook)
        found: dict[str, Any] = {
            "unprofiled_median_ns": plain and plain["median_ns"],
            "unprofiled_steps": plain["steps"] if plain else 0,
            "profiled_median_ns": kept and kept["median_ns"],
            "profiled_steps": kept["steps"] if kept else 0,
            "ratio": _ratio(kept, plain),
            "hook_ns_per_step": hook and hook["median_ns"],
            "options": {},
        }
        for kind, times in sorted(self._times.items()):
            if kind != UNPROFILED:
                summary = _summary(times)
                found["options"][kind] = {**(summary or {}), "ratio": _ratio(summary, plain)}
        return found

    def median(self) -> int | None:
        """Of unprofiled steps, ns."""
        summary = _summary(self._times.get(UNPROFILED, []))
        return int(summary["median_ns"]) if summary else None


def _summary(times: list[int]) -> dict[str, Any] | None:
    if not times:
        return None
    ordered = sorted(times)
    return {
        "steps": len(ordered),
        "median_ns": (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) // 2,
        "fastest_ns": ordered[0],
    }


def _ratio(one: dict[str, Any] | None, other: dict[str, Any] | None) -> float | None:
    if not one or not other or not other["median_ns"]:
        return None
    return float(round(one["median_ns"] / other["median_ns"], 4))
