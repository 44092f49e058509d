"""What a program may say to the recorder; the package `fathom` passes its calls on to here.

Each of these is cheap and does nothing where nothing is recorded.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any, Iterator

from . import recorder
from .failures import quietly


class _PlainSteps:
    """Steps of a program without torch: from call to call, the first from the last import."""

    def __init__(self) -> None:
        self._writer: Any = None
        self._number = 0
        self._began = 0

    def mark(self, current: Any) -> None:
        now = time.monotonic_ns()
        if self._writer is not current.writer:  # a forked child counts anew
            self._writer, self._number = current.writer, 0
            self._began = max(current.began_ns, current.finder.settle())
        current.works()
        current.record("step", "step", self._began, now - self._began, self._number)
        current.step_ends(self._number, self._began, now)
        self._number += 1
        self._began = time.monotonic_ns() if current.profiles else now


_steps = _PlainSteps()


def active() -> bool:
    """Whether this process is being captured."""
    return recorder.current is not None


def start() -> None:
    """Begins to record: what --profile-from-start=off waits for."""
    watch = _watch()
    if watch is not None:
        watch.start()


def stop() -> None:
    """Ends what start() began; the trace is written before this returns."""
    watch = _watch()
    if watch is not None:
        watch.stop()


def samples(count: float) -> None:
    """Of how many samples the step is that ends next, and those after it."""
    current = recorder.current
    if current is not None:
        current.writer.sample("step.samples", "samples", count)


def step() -> None:
    """A step of the program ends here. From the first call on, steps are counted by these calls."""
    watch = _watch()
    if watch is not None:
        watch.mark()
    elif recorder.current is not None:
        _steps.mark(recorder.current)


@quietly
def lines(function: Any) -> None:
    """With --with lines: those of this function, too, whoever wrote it."""
    current = recorder.current
    if current is None or current.lines is None:
        return
    # A method's function, and what decorators have wrapped; a chain of these may be a ring.
    for _ in range(32):
        function = getattr(function, "__func__", function)
        code = getattr(function, "__code__", None)
        if code is not None:
            current.lines.ask(code)
        function = getattr(function, "__wrapped__", None)
        if function is None:
            return


def flush() -> None:
    """Everything that is known so far goes to the files, for whoever reads them now."""
    current = recorder.current
    if current is not None:
        current.writer.finish()
        current.facts.write()


@contextlib.contextmanager
def annotate(name: str) -> Iterator[None]:
    """A named range, in torch's trace where one is being recorded, and always in the capture
    file."""
    current = recorder.current
    if current is None:
        yield
        return
    scope = _torch_scope(current, name)
    begin = time.monotonic_ns()
    try:
        if scope is None:
            yield
        else:
            with scope:
                yield
    finally:
        current.record(name, "annotation", begin, time.monotonic_ns() - begin, -1)


def _torch_scope(current: Any, name: str) -> Any:
    try:
        return current.torch.record_function(name) if current.torch is not None else None
    except Exception:
        return None


def _watch() -> Any:
    current = recorder.current
    return current.torch if current is not None else None
