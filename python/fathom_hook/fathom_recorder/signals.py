"""Saves what there is where a signal that nobody handles ends the process while torch.profiler
records."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any, Callable

from .failures import quietly

# What a terminal, a scheduler or a container ends programs with.
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Signals:
    """Handles the signals that nobody handles, between `begin` and `end`: saves what there is, and
    lets the signal do what it would have done. A handler runs between two instructions of Python,
    so a program that hangs in native code while it is recorded does not end by these signals."""

    def __init__(self, save: Callable[[], None]) -> None:
        self._save = save
        self._ours: list[int] = []

    @quietly
    def begin(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _SIGNALS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._asked)
                self._ours.append(number)

    @quietly
    def end(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        while self._ours:
            number = self._ours.pop()
            if signal.getsignal(number) == self._asked:
                signal.signal(number, signal.SIG_DFL)

    def _asked(self, number: int, frame: Any) -> None:
        self._save()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
