"""One thread that calls us twice a second while there is something to do, and is gone when the
program forks.

A second thread while forking would bring a warning of Python 3.12 and later into programs that
have none.
"""

from __future__ import annotations

import _thread
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

PERIOD_S = 0.5
# A fork does not wait for longer.
PAUSE_S = 2.0


class Ticker:
    def __init__(self) -> None:
        self._calls: list[Callable[[], bool]] = []
        self._reset()

    def _reset(self) -> None:
        self._running = False
        self._stop = False
        self._tid = 0
        self._wake = _thread.allocate_lock()
        self._wake.acquire()
        self._done = _thread.allocate_lock()

    def add(self, call: Callable[[], bool]) -> None:
        """`call` says whether it wants to be called again; `wake` starts it anew."""
        self._calls.append(call)

    def wake(self) -> None:
        if self._running or self._stop:
            return
        self._running = True
        self._done.acquire(False)
        try:
            _thread.start_new_thread(self._run, ())
        except RuntimeError:  # the interpreter is ending
            self._running = False

    def _run(self) -> None:
        self._tid = getattr(_thread, "get_native_id", lambda: 0)()
        try:
            while not self._wake.acquire(True, PERIOD_S) and not self._stop:
                wanted = [call() for call in self._calls]
                if not any(wanted):
                    break
        finally:
            self._running = False
            self._done.release()

    def pause(self, limit_s: float = PAUSE_S) -> bool:
        """Ends the thread and waits for that, and so for a call that it is in. Until `resume`,
        none begins. False where it took longer than `limit_s` seconds."""
        was = self._running
        self._stop = True
        if was:
            self._wake.release()
            if not self._done.acquire(True, limit_s):
                return False
            self._await_end()
        return True

    def _await_end(self) -> None:
        """The lock is free a moment before the operating system's thread is gone."""
        path = f"/proc/self/task/{self._tid}"
        end = time.monotonic() + 0.01
        while self._tid and os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.0001)

    def resume(self) -> None:
        """The thread may begin again, with the next `wake`."""
        self._reset()
