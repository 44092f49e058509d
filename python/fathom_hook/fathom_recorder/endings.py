"""Ends the recording where a process ends without atexit: by os._exit, by becoming another program,
or by a signal that nobody handles while torch.profiler records."""

from __future__ import annotations

import functools
import os
import signal
import threading
from typing import Any, Callable

from .failures import quietly

# What a terminal, a scheduler or a container ends programs with.
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


def watch_exit(end: Callable[[], None]) -> None:
    """Calls `end` before os._exit does what it does. It must not raise."""
    leave = os._exit

    def _exit(status: int) -> Any:
        end()
        return leave(status)

    _exit.__name__, _exit.__qualname__ = leave.__name__, leave.__qualname__
    _exit.__doc__ = leave.__doc__
    os._exit = _exit


def watch_exec(save: Callable[[], None]) -> None:
    """Calls `save` before os.exec… do what they do, which may fail: the process then goes on.
    All of them come to these two. It must not raise."""
    for name in ("execv", "execve"):
        _before(name, save)


def _before(name: str, save: Callable[[], None]) -> None:
    original = getattr(os, name)

    @functools.wraps(original)
    def replaced(*args: Any, **kwargs: Any) -> Any:
        save()
        return original(*args, **kwargs)

    setattr(os, name, replaced)


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
