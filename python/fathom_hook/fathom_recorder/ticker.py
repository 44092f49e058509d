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
    from types import CodeType
    from typing import Callable

# As they are now: gevent puts others into the module, whose threads are none.
allocate_lock = _thread.allocate_lock
start_new_thread = _thread.start_new_thread

PERIOD_S = 0.5
# For a caller that waits for something that is about to happen.
SOON_S = 0.02
# A fork does not wait for longer.
PAUSE_S = 2.0
# Nor for longer until a thread that has left our code is gone.
GONE_S = 1.0


class _Run:
    """One thread of ours, and how it is ended. A thread whose call outlasts a pause keeps its own:
    it is never taken for the next one."""

    def __init__(self) -> None:
        self.tid = 0
        self.left_at = 0.0
        self.leave = allocate_lock()  # free: it is to end
        self.leave.acquire()
        self.over = allocate_lock()  # free: it has
        self.over.acquire()


class Ticker:
    def __init__(self) -> None:
        self._calls: list[Callable[[], bool]] = []
        # Called first in the thread, each time that it begins. They must not raise.
        self.begins: list[Callable[[], None]] = []
        # Called in it just before it ends. They must not raise.
        self.ends: list[Callable[[], None]] = []
        self._soon = False
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._run: _Run | None = None
        self._ending: _Run | None = None  # one that has left its loop by itself
        self._stop = False
        self._starting = allocate_lock()

    def add(self, call: Callable[[], bool]) -> None:
        """`call` says whether it wants to be called again; `wake` starts it anew."""
        self._calls.append(call)

    def code(self) -> CodeType:
        """Of the function in which the thread is."""
        return type(self)._loop.__code__

    def soon(self) -> None:
        """From a call: the next one comes soon, once."""
        self._soon = True

    def _period_s(self) -> float:
        soon, self._soon = self._soon, False
        return SOON_S if soon else PERIOD_S

    def wake(self) -> None:
        # Any thread may call, but one of them starts it.
        if self._run is not None or self._stop or not self._starting.acquire(False):
            return
        try:
            if self._run is None:
                self._run = run = _Run()
                start_new_thread(self._loop, (run,))
        except RuntimeError:  # the interpreter is ending
            self._run = None
        finally:
            self._starting.release()

    def _loop(self, run: _Run) -> None:
        run.tid = getattr(_thread, "get_native_id", lambda: 0)()
        for begins in self.begins:
            begins()
        try:
            while not run.leave.acquire(True, self._period_s()):
                wanted = [call() for call in self._calls]
                if not any(wanted):
                    break
        finally:
            for ends in self.ends:
                ends()
            run.left_at = time.monotonic()
            self._ending = run
            self._run = None
            run.over.release()

    def pause(self, limit_s: float = PAUSE_S) -> bool:
        """Ends the thread and waits for that, and so for a call that it is in. Until `resume`,
        none begins. False where it took longer than `limit_s` seconds."""
        self._stop = True
        run = self._run
        if run is None:
            ending, self._ending = self._ending, None
            # Another thread may have its number by now.
            if ending is not None and time.monotonic() - ending.left_at < GONE_S:
                self._await_end(ending)
            return True
        run.leave.release()
        if not run.over.acquire(True, limit_s):
            return False
        self._await_end(run)
        return True

    def _await_end(self, run: _Run) -> None:
        """The lock is free a moment before the operating system's thread is gone: a longer one where
        all processors are busy."""
        path = f"/proc/self/task/{run.tid}"
        end = time.monotonic() + GONE_S
        while run.tid and os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.0001)

    def resume(self) -> None:
        """The thread may begin again, with the next `wake`. One that is still in a call that a
        pause did not wait for goes on instead; in a forked child it is not there."""
        if self._pid != os.getpid():
            self._begin()
            return
        run = self._run
        if run is not None and not run.leave.acquire(False):
            # It has heard that it is to end.
            run.over.acquire(True, PAUSE_S)
        self._stop = False
