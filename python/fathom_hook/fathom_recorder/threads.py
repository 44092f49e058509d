"""Threads that the program starts, with their names and how long they live."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable

from .failures import note, quietly
from .wire import BEGIN, Writer, get_native_id


class Threads:
    """Wraps the method that a thread runs in, which no program overrides and no traceback shows."""

    def __init__(self, writer: Writer, wake: Callable[[], None]) -> None:
        self._wake = wake
        self.restart(writer)

    def restart(self, writer: Writer) -> None:
        """Counts from nothing, as a forked child does."""
        self.writer = writer
        self.started = 0

    def install(self) -> None:
        thread: Any = threading.Thread
        original = getattr(thread, "_bootstrap_inner", None)
        if original is None:
            note("threads", "this Python has no place to see them start")
            return

        def _bootstrap_inner(this: Any) -> None:
            self._begin(this.name)
            try:
                original(this)
            finally:
                self.writer.end(time.monotonic_ns())

        thread._bootstrap_inner = _bootstrap_inner

    @quietly
    def _begin(self, name: str) -> None:
        self.started += 1
        tid = get_native_id()
        self.writer.thread(tid, name)
        self.writer.moment(BEGIN, "thread", "phase", time.monotonic_ns(), tid)
        self._wake()
