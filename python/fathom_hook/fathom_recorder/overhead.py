"""What recording costs: steps that were profiled beside the steps of the same run, just before and
after them, that were not."""

from __future__ import annotations

import collections
from typing import Any

# The first steps are slower for reasons of their own.
WARM_UP_STEPS = 2
# So many steps on each side of a window are what it is compared with.
NEIGHBOURS = 4
MOST_WINDOWS = 1000
_LATEST = 1000

UNPROFILED = "unprofiled"
EDGE = "edge"


class _Window:
    """Consecutive steps that were recorded alike."""

    def __init__(self, kind: str, before: list[int]) -> None:
        self.kind = kind
        self.times: list[int] = []
        self.before = before
        self.after: list[int] = []


class Overhead:
    def __init__(self) -> None:
        self._windows: list[_Window] = []
        self._plain: collections.deque[int] = collections.deque(maxlen=_LATEST)
        self._hook: collections.deque[int] = collections.deque(maxlen=_LATEST)

    def step(self, number: int, kind: str, duration: int, hook_ns: int) -> None:
        """A step of `duration` that was recorded as `kind` says; `hook_ns` were ours, outside
        torch.profiler."""
        if kind == EDGE or number < WARM_UP_STEPS:
            return
        self._hook.append(hook_ns)
        last = self._windows[-1] if self._windows else None
        if kind == UNPROFILED:
            self._plain.append(duration)
            if last is not None and len(last.after) < NEIGHBOURS:
                last.after.append(duration)
            return
        if last is None or last.kind != kind or last.after:
            if len(self._windows) >= MOST_WINDOWS:
                return
            last = _Window(kind, list(self._plain)[-NEIGHBOURS:])
            self._windows.append(last)
        last.times.append(duration)

    def step_at_rest(self, duration: int) -> None:
        """An unprofiled step, far from any window."""
        self._plain.append(duration)

    def is_settled(self) -> bool:
        """Whether the latest window has all its neighbours."""
        return not self._windows or len(self._windows[-1].after) >= NEIGHBOURS

    def facts(self, profiled: str) -> dict[str, Any]:
        """`profiled` is the kind of the steps that were kept."""
        kinds = sorted({window.kind for window in self._windows})
        options = {kind: self._compared(kind) for kind in kinds}
        kept = options.get(profiled, {})
        plain = _neighbours(self._windows) or list(self._plain)
        return {
            "unprofiled_median_ns": _median(plain),
            "unprofiled_steps": len(plain),
            # Half of the steps without a profiler lie so far apart, of their median.
            "noise": _spread(plain),
            "profiled_median_ns": kept.get("median_ns"),
            "profiled_steps": kept.get("steps", 0),
            "ratio": kept.get("ratio"),
            "ratio_interval": kept.get("ratio_interval"),
            "hook_ns_per_step": _median(list(self._hook)),
            "options": options,
        }

    def _compared(self, kind: str) -> dict[str, Any]:
        """The median of these steps against that of their neighbours, which a program that becomes
        slower or faster has in equal number on both sides."""
        windows = [window for window in self._windows if window.kind == kind]
        times = [time for window in windows for time in window.times]
        others = _neighbours(windows)
        own, other = _median(times), _median(others)
        known = own is not None and bool(other)
        return {
            "steps": len(times),
            "median_ns": own,
            "fastest_ns": min(times),
            "unprofiled_median_ns": other,
            "ratio": round(own / other, 4) if known and own and other else None,
            "ratio_interval": _interval(times, others) if known else None,
        }

    def median(self) -> int | None:
        """Of unprofiled steps, ns."""
        return _median(list(self._plain))


def _neighbours(windows: list[_Window]) -> list[int]:
    return [time for window in windows for time in window.before + window.after]


def _median(times: list[int]) -> int | None:
    if not times:
        return None
    ordered = sorted(times)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) // 2


def _bounds(times: list[int]) -> tuple[int, int]:
    """Between these lies the median of such steps in 19 of 20 cases: ranks of the order, by the
    binomial distribution; of few steps the shortest and the longest."""
    ordered = sorted(times)
    count = len(ordered)
    rank = max(0, int((count - 1.96 * count**0.5) / 2))
    return ordered[rank], ordered[count - 1 - rank]


def _interval(times: list[int], others: list[int]) -> list[float] | None:
    """In which the ratio of the medians lies."""
    low, high = _bounds(times)
    least, most = _bounds(others)
    return [round(low / most, 4), round(high / least, 4)] if least > 0 else None


def _spread(times: list[int]) -> float | None:
    middle = _median(times)
    if len(times) < NEIGHBOURS or not middle:
        return None
    ordered = sorted(times)
    quarter = len(ordered) // 4
    return round((ordered[-1 - quarter] - ordered[quarter]) / middle, 4)
