"""Records a program that answers requests: each request is a step, in the thread that answers it,
and one profile of all threads has the operators of some."""

from __future__ import annotations

import threading
import time
from typing import Any

from .failures import note, quietly
from .overhead import EDGE, UNPROFILED
from .plan import Window
from .request_time import RequestTime, Spent
from .requests import Requests, Servers
from .torch_threads import config_of_all_threads
from .wire import get_native_id

monotonic_ns = time.monotonic_ns
get_ident = threading.get_ident

# A profile of requests is looked at twice a second. It lasts at least this long …
SHORTEST_NS = 400_000_000
# … and at most this long, once it has a whole request, and in any case.
LONG_NS = 10_000_000_000
LONGEST_NS = 60_000_000_000
# How often it is looked whether the main thread has made Kineto ready, before that is left to the
# usual ticks: a short program would have ended by then.
_LOOKS = 50
# So many requests of a thread, the last, are looked at for one that another crosses.
_MOST_WRITTEN = 64
# Where many cross, fewer are looked at, for the look is the program's time; those beyond are timed and
# counted, and not on the timeline.
_MANY_LANES = 16
_MOST_OF_MANY = 8
_MOST_LANES = 64
# From one lane beside a thread to the next: above all ids that Linux gives to threads.
_LANE = 1 << 22
_NO_THREADS = "this PyTorch records the calling thread alone, and requests came in several"


def _crosses(written: list[tuple[int, int]], begin: int, end: int) -> bool:
    return any(b < begin < e < end or begin < b < end < e for b, e in written)


class TorchRequests:
    """Calls come from the threads that serve; `tick` comes from ours, which records."""

    def __init__(self, watch: Any) -> None:
        self._watch = watch
        self.time = RequestTime()
        self.requests = Requests(self._done, self.time)
        self.seen = False
        self._lock = threading.Lock()
        self._written = threading.local()
        self._main = threading.main_thread().ident
        self._number = 0
        self._since: int | None = None
        self._until: int | None = None
        self._whole = 0
        self._window: Any = None
        self._over = False
        self._looks = 0

    def takes(self) -> bool:
        """Whether a call of a module in this thread belongs to a request, rather than to the loop
        that trains or evaluates."""
        watch = self._watch
        steps = watch.steps
        if steps.is_asked_for() or steps.has_optimizer() or watch.range_name:
            return False
        ident = get_ident()
        if ident != self._main and ident != watch._owner:
            return True
        return self.requests.is_serving()

    @quietly
    def call_begins(self, module: Any, args: Any, kwargs: Any) -> None:
        if not self.seen:
            self._begin()
        self._watch.facts.module_call(module, args, kwargs)
        self.requests.call_begins()

    @quietly
    def call_ends(self) -> None:
        self.requests.call_ends()

    def _begin(self) -> None:
        """The first request: what was seen before was a trial."""
        self.seen = True
        watch = self._watch
        watch.recorder.works()
        self._number = watch.steps.number
        watch.steps.forget()
        self._began_ns = monotonic_ns()
        watch.recorder.ticker.wake()

    @quietly
    def _done(self, begin: int, end: int, spent: Spent | None) -> None:
        watch = self._watch
        with self._lock:
            number = self._number
            self._number += 1
            kind = self._kind(begin, end)
            watch.overhead.step(number, kind, end - begin, 0)
        self.time.add(end - begin, spent, kind not in (UNPROFILED, EDGE))
        if watch.recording:
            tid = self._lane(begin, end)
            if tid is None:
                note("requests on the timeline", f"more than {_MOST_LANES} crossed in a thread")
                return
            watch.recorder.record("step", "step", begin, end - begin, number, tid)

    def _lane(self, begin: int, end: int) -> int | None:
        """The thread to write it to, 0 for the calling one, None for none. Slices of a thread lie in each other
        or beside each other; requests of an event loop that cross get lanes beside theirs."""
        lanes = self._written.__dict__.setdefault("lanes", [])
        free = (i for i, written in enumerate(lanes) if not _crosses(written, begin, end))
        lane = next(free, len(lanes))
        if lane == _MOST_LANES:
            return None
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append((begin, end))
        del lanes[lane][: -(_MOST_WRITTEN if len(lanes) <= _MANY_LANES else _MOST_OF_MANY)]
        return get_native_id() + lane * _LANE if lane else 0

    def _kind(self, begin: int, end: int) -> str:
        since, until = self._since, self._until
        if since is None or end <= since or (until is not None and begin >= until):
            return UNPROFILED
        if begin < since or until is not None and end > until:
            return EDGE
        self._whole += 1
        return str(self._window.kind())

    # From our thread

    @quietly
    def tick(self, now: int) -> None:
        if not self.seen or self._over:
            return
        watch = self._watch
        if watch.profiling is not None and watch.profiling is not self._profiling():
            watch.give_up_profiling()
        elif self._since is None:
            if self._is_due(now):
                self._open()
        elif self._is_done(now):
            self.close()

    def _profiling(self) -> Any:
        return self._watch.profiling if self._since is not None else None

    def _is_due(self, now: int) -> bool:
        watch = self._watch
        options, schedule = watch.options, watch.options.steps
        age = now - watch.recorder.began_ns
        watch._heed_duration(age)
        if options.on_demand() or watch.foreign.seen or age < options.delay_ns:
            return False
        if watch.recorder.role == "loader-worker" or watch.plan.runs_out(age):
            return False
        return bool(self._number >= schedule.skip_first + schedule.wait + schedule.warmup)

    def _open(self) -> None:
        watch = self._watch
        config = config_of_all_threads(watch.torch)
        if config is None:
            self._over = True
            note("a trace of requests", _NO_THREADS, "a newer PyTorch")
            return
        if not watch.kineto.ready:
            watch.prepare_kineto()
            self._looks += 1
            if self._looks <= _LOOKS:
                watch.recorder.ticker.soon()
            return
        window = Window(0, watch.options.steps.active, watch.plan.extras, True)
        self._window = window
        watch._open(window, self._number, by_steps=False, config=config)
        if watch.profiling is None:
            self._over = True
            return
        self._whole = 0
        self._since = monotonic_ns()

    def _is_done(self, now: int) -> bool:
        watch = self._watch
        lasted = now - (self._since or now)
        if watch.plan.runs_out(now - watch.recorder.began_ns) or watch.pieces.is_too_large():
            return True
        if watch.options.duration_ns is not None:
            return False
        if lasted > LONGEST_NS or (lasted > LONG_NS and self._whole):
            return True
        return lasted >= SHORTEST_NS and self._whole >= self._window.active

    def close(self) -> None:
        """Ends the profile, and saves its trace."""
        watch = self._watch
        self._until = monotonic_ns()
        self._over = True
        if watch.profiling is not None:
            watch.profiling.finish()
            watch.closed()
        watch.plan.ended = True
        watch.recorder.facts.write()

    def facts(self) -> dict[str, Any]:
        if not self.seen:
            return {}
        begun_by = sorted(self.requests.begun_by)
        return {"steps": self._number, "step_by": "request", "requests_begun_by": begun_by}


def servers(watch: Any) -> Servers:
    return Servers(watch.recorder.finder, lambda: watch.requests.requests)
