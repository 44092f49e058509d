"""Ends the recording where a process ends without atexit: by os._exit, or by becoming another
program. What signals.py does about signals belongs to it."""

from __future__ import annotations

import os

from .wrapping import named_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


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

    @named_like(original)
    def replaced(*args: Any, **kwargs: Any) -> Any:
        save()
        return original(*args, **kwargs)

    setattr(os, name, replaced)
