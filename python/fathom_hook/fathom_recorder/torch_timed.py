"""Records by time in a program that never steps.

torch's profiler sees the thread that started it, so in a program of one thread it has to be
started on that one, which calls nothing of ours. CPython runs a *pending call* there between two
instructions; a thread may ask for one.
"""

from __future__ import annotations

import collections
import ctypes
import sys
import threading
import time
from typing import Any

from .failures import note, quietly
from .imports import is_importing
from .plan import Window
from .torch_scopes import is_inside_torch
from .torch_threads import config_of_all_threads

monotonic_ns = time.monotonic_ns

# A program without a step is recorded after this time, for this time.
QUIET_NS = 3_000_000_000
RECORD_NS = 2_000_000_000
# One that made an optimizer or called a module is likely to step soon.
PATIENCE_NS = 60_000_000_000
_TRIES = 1000

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


def _is_importing_torch() -> bool:
    """Whether some module of torch has begun to load and is not there yet."""
    return any(
        getattr(getattr(module, "__spec__", None), "_initializing", False)
        for name, module in list(sys.modules.items())
        if name.startswith("torch")
    )


class Timed:
    def __init__(self, watch: Any) -> None:
        self._watch = watch
        self._asked = watch.options.step_by == "time"
        self._window: Any = None
        self._requested = False
        self._begun: int | None = None
        self._over = False
        # Where several threads work, all of them are recorded, from ours.
        self._config: Any = None
        self._kept: collections.deque[Any] = collections.deque(maxlen=4)
        self._target: Any = None

    def steps_came(self) -> None:
        """Steps are what is recorded, now that there are some: what was recorded by time is given
        up."""
        if self._asked or (self._over and self._target is None):
            return
        self._over = True
        watch = self._watch
        if watch.profiling is not None and watch.profiling is self._window:
            watch.profiling.give_up()
            watch.closed()
        if self._target is not None and watch.traces.targets[-1:] == [self._target]:
            watch.traces.discard_last()
            self._target = None

    def tick(self, now: int) -> None:
        """From our thread: asks the main one for what is due."""
        if self._over or self.is_idle_launcher():
            return
        if not self._requested:
            if self._due(now):
                self._requested = True
                self._config = self._config_of_threads()
                if self._config is not None:
                    self._begin()
                else:
                    self._in_main_thread(self._begin)
        elif self._begun is not None and self._is_done(now - self._begun):
            begun, self._begun = self._begun, None
            self._over = not self._is_ring()
            if self._config is not None:
                self._finish(begun)
            else:
                self._in_main_thread(lambda: self._finish(begun))

    def _config_of_threads(self) -> Any:
        """None for a program of one thread. A ring would need more than one such profile."""
        watch = self._watch
        if self._is_ring() or threading.active_count() < 2 or not watch.kineto.ready:
            return None
        return config_of_all_threads(watch.torch)

    def _is_done(self, recorded: int) -> bool:
        if recorded > self._length():
            return True
        if not self._watch.pieces.is_too_large():
            return False
        if not self._is_ring():
            note("the rest of the time", "the trace reached --max-memory", "a greater --max-memory")
        return True

    def _is_ring(self) -> bool:
        """--last without --duration: one trace after the other, to the end."""
        options = self._watch.options
        return options.last_ns is not None and options.duration_ns is None

    def _length(self) -> int:
        if self._is_ring():
            return int(self._watch.pieces.longest_ns)
        duration = self._watch.options.duration_ns
        return RECORD_NS if duration is None else int(duration)

    def _due(self, now: int) -> bool:
        watch = self._watch
        options = watch.options
        if options.on_demand() or watch.range_name or watch.foreign.seen:
            return False
        if watch.steps.number or watch.requests.seen or watch.profiling is not None:
            return False
        if watch.recorder.role not in ("main", "rank"):
            return False
        if self._asked:
            return bool(now - watch.recorder.began_ns >= options.delay_ns)
        if options.step_by != "auto":
            return False
        imported = max(watch._imported_ns, watch.recorder.finder.seen_ns)
        started = imported + options.delay_ns
        patience = PATIENCE_NS if watch._owner or watch.steps._made else QUIET_NS
        return bool(now - started > patience)

    @quietly
    def _begin(self) -> None:
        if _is_importing_torch():
            self._requested = False  # a profiler begun now would fail: ask again
            return
        watch = self._watch
        if is_importing():
            # The profiler imports modules of torch itself: later.
            self._requested = False
            return
        if watch.profiling is None and not watch.steps.number and not watch.foreign.seen:
            watch._open(Window(0, 1, watch.plan.extras, True), 0, False, self._config)
            self._window = watch.profiling
        # torch takes seconds to load its profiler.
        self._begun = monotonic_ns()

    @quietly
    def _finish(self, begun: int, tries: int = 0) -> None:
        if self._is_ring() and is_inside_torch():
            # A pending call often runs where a long operator returns: some bytecodes later it is
            # out of torch. Else the next tick asks again.
            if tries < _TRIES:
                self._in_main_thread(lambda: self._finish(begun, tries + 1))
            else:
                self._begun = begun
            return
        watch = self._watch
        if watch.profiling is not None and watch.profiling is self._window:
            self._window.finish()
            self._target = self._window.target
            # It does not count as a window of steps.
            watch.closed()
            watch.plan.ended = self._asked and not self._is_ring()
            if self._is_ring():
                self._window = None
                self._begin()

    def _in_main_thread(self, call: Any) -> None:
        def pending(_: Any) -> int:
            call()
            return 0

        callback = _CALLBACK(pending)
        self._kept.append(callback)  # it must outlive the call, before which no other is asked for
        if ctypes.pythonapi.Py_AddPendingCall(callback, None) != 0:
            note("recording by time", "the interpreter had no room for a pending call")

    def is_idle_launcher(self) -> bool:
        """torchrun's own process: it waits for its ranks."""
        spec = getattr(sys.modules.get("__main__"), "__spec__", None)
        name = getattr(spec, "name", "") or ""
        file = getattr(sys.modules.get("__main__"), "__file__", "") or ""
        return name.startswith("torch.distributed.") or file.endswith("/torchrun")
