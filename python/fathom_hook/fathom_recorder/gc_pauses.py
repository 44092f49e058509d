"""Pauses of Python's garbage collector: the long ones one by one, the short ones counted."""

from __future__ import annotations

import gc
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .wire import Writer

# Shorter pauses are too many to keep; their number and sum are.
LONG_NS = 100_000

monotonic_ns = time.monotonic_ns


class Pauses:
    def __init__(self, writer: Writer, wake: Callable[[], None]) -> None:
        self._wake = wake
        self.restart(writer)

    def restart(self, writer: Writer) -> None:
        """Counts from nothing, as a forked child does."""
        self.writer = writer
        self._start = 0
        self.short_count = 0
        self.short_ns = 0
        self.long_count = 0
        self.long_ns = 0
        self.longest_ns = 0

    def install(self) -> None:
        gc.callbacks.append(self)

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            self._start = monotonic_ns()
            return
        start = self._start
        if not start:
            return
        pause = monotonic_ns() - start
        self._start = 0
        if pause < LONG_NS:
            self.short_count += 1
            self.short_ns += pause
            return
        self.long_count += 1
        self.long_ns += pause
        self.longest_ns = max(self.longest_ns, pause)
        self.writer.slice("garbage collection", "gc", start, pause, info.get("generation", -1))
        self._wake()

    def facts(self) -> dict[str, Any]:
        return {
            "pauses": self.short_count + self.long_count,
            "total_ns": self.short_ns + self.long_ns,
            "longest_ns": self.longest_ns,
            "not_listed": self.short_count,
            "enabled": gc.isenabled(),
            "thresholds": _list(gc.get_threshold()),
        }


def _list(values: Any) -> list[int]:
    return list(values)
