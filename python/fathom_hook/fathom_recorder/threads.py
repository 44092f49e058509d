"""Threads that the program starts, with their names and how long they live."""

from __future__ import annotations

import time

from .failures import note, quietly
from .wire import BEGIN, Writer, get_native_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


class Threads:
    """Wraps the method that a thread runs in, which no program overrides and no traceback shows."""

    def __init__(self, writer: Writer, wake: Callable[[], None]) -> None:
        self._wake = wake
        # Called in each thread that ends.
        self.ends: list[Callable[[], None]] = []
        self.restart(writer)

    def restart(self, writer: Writer) -> None:
        """Counts from nothing, as a forked child does."""
        self.writer = writer
        self.started = 0

    def install(self, threading: Any) -> None:
        """The module is there."""
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
                self._end()

        thread._bootstrap_inner = _bootstrap_inner

    @quietly
    def _end(self) -> None:
        for call in self.ends:
            call()
        self.writer.end(time.monotonic_ns())

    @quietly
    def _begin(self, name: str) -> None:
        self.started += 1
        tid = get_native_id()
        self.writer.thread(tid, name)
        self.writer.moment(BEGIN, "thread", "phase", time.monotonic_ns(), tid)
        self._wake()
