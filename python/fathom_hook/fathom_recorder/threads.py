"""Threads that the program starts, with their names and how long they live."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable

from .failures import note
from .wire import BEGIN, Writer, get_native_id


class Threads:
    """Wraps two small methods that a starting and an ending thread calls itself."""

    def __init__(self, writer: Writer, wake: Callable[[], None]) -> None:
        self._wake = wake
        self.restart(writer)

    def restart(self, writer: Writer) -> None:
        """Counts from nothing, as a forked child does."""
        self.writer = writer
        self.started = 0

    def install(self) -> None:
        thread = threading.Thread
        begin = getattr(thread, "_set_native_id", None)
        end = getattr(thread, "_delete", None)
        if begin is None or end is None:
            note("threads", "this Python has no place to see them start")
            return
        thread._set_native_id = self._beginning(begin)  # type: ignore[attr-defined]
        thread._delete = self._ending(end)  # type: ignore[attr-defined]

    def _beginning(self, original: Any) -> Any:
        def _set_native_id(this: Any) -> None:
            original(this)
            try:
                if this is not threading.main_thread():
                    self.started += 1
                    tid = get_native_id()
                    self.writer.thread(tid, this.name)
                    self.writer.moment(BEGIN, "thread", "phase", time.monotonic_ns(), tid)
                    self._wake()
            except Exception:
                note("threads", "a thread could not be named")

        return _set_native_id

    def _ending(self, original: Any) -> Any:
        def _delete(this: Any) -> None:
            if getattr(this, "native_id", None) == get_native_id():
                self.writer.end(time.monotonic_ns())
            original(this)

        return _delete
