"""What a thread does: computes, waits, or is ready and has no processor.

Of the thread that steps it is read at the ends of stretches of steps, not in each: a stretch that
nobody looks at costs nothing. Of the main thread of a program without PyTorch it is read once it
has stopped importing, and at the end.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

monotonic_ns = time.monotonic_ns
thread_time_ns = getattr(time, "thread_time_ns", time.process_time_ns)

_MOST_PLACES = 5
# Of all that a fetch calls, samples and collating included, it is further out on the stack.
_LOADER = os.path.join("torch", "utils", "data", "dataloader.py")
_LIBRARY = (os.sep + "lib" + os.sep + "python", "<frozen")


class Looks:
    """Where threads are found asleep, by looks from another thread."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._looks = 0
        self._asleep = 0
        self._fetching = 0

    def look(self, ident: int, tid: int) -> None:
        self._looks += 1
        if not _sleeps(tid):
            return
        frame = sys._current_frames().get(ident)
        if frame is None:
            return
        self._asleep += 1
        if _fetches(frame):
            self._fetching += 1
            return
        place = _place_of(frame)
        self._places[place] = self._places.get(place, 0) + 1

    def add(self, more: Looks) -> None:
        self._looks += more._looks
        self._asleep += more._asleep
        self._fetching += more._fetching
        for place, count in more._places.items():
            self._places[place] = self._places.get(place, 0) + count

    def facts(self) -> dict[str, Any]:
        places = sorted(self._places.items(), key=lambda place: -place[1])
        return {
            "looks": self._looks,
            "asleep": self._asleep,
            "fetching": self._fetching,
            "waits": [list(each) for each in places[:_MOST_PLACES]],
        }


class TimeSums:
    """What steps or requests took, by whether they were recorded."""

    def __init__(self) -> None:
        # How many, wall, processor, ready without a processor.
        self._sums: dict[bool, list[int]] = {}
        self._queued = True

    def add(self, recorded: bool, count: int, wall: int, processor: int, queued: int | None) -> None:
        sums = self._sums.setdefault(recorded, [0, 0, 0, 0])
        sums[0] += count
        sums[1] += wall
        sums[2] += processor
        if queued is None:
            self._queued = False
        else:
            sums[3] += queued

    def facts(self, looks: Looks) -> dict[str, Any]:
        found: dict[str, Any] = {}
        # A thread that serves may add the first of its kind meanwhile.
        for recorded, (count, wall, processor, queued) in list(self._sums.items()):
            found["recorded" if recorded else "other"] = {
                "steps": count,
                "wall_ns": wall,
                "cpu_ns": processor,
                "preempted_ns": queued if self._queued else None,
            }
        if found:
            found.update(looks.facts())
        return {"thread_time": found or None}


class ThreadTime:
    """Of one thread; `begin` and `end` are called by it, `look` by another."""

    def __init__(self) -> None:
        self._base: tuple[int, int, int | None] | None = None
        self._sums = TimeSums()
        self._looks = Looks()
        self._ident = 0
        self._tid = 0

    def begin(self, ident: int, tid: int) -> None:
        """A stretch of steps begins now."""
        if ident != self._ident:
            self._ident, self._tid = ident, tid
        self._base = self._read()

    def end(self, steps: int, recorded: bool) -> None:
        """So many steps have passed since `begin`."""
        base, self._base = self._base, None
        if base is None or steps <= 0:
            return
        now = self._read()
        queued = None if now[2] is None or base[2] is None else now[2] - base[2]
        self._sums.add(recorded, steps, now[0] - base[0], now[1] - base[1], queued)

    def _read(self) -> tuple[int, int, int | None]:
        return monotonic_ns(), thread_time_ns(), queued_ns(self._tid)

    def look(self) -> None:
        """From our thread: where the other one is, if it sleeps in a step."""
        if self._base is not None and self._ident:
            self._looks.look(self._ident, self._tid)

    def facts(self) -> dict[str, Any]:
        return self._sums.facts(self._looks)


class MainTime(ThreadTime):
    """Of the main thread of a program that nobody knows the steps of. Any thread may ask."""

    def _read(self) -> tuple[int, int, int | None]:
        times = _scheduled_ns(self._tid)
        return monotonic_ns(), times[0] if times else -1, times[1] if times else None

    def facts(self) -> dict[str, Any]:
        base, now = self._base, self._read()
        if base is None or base[1] < 0 or now[1] < 0 or base[2] is None or now[2] is None:
            return {}
        found: dict[str, Any] = {
            "main": {
                "wall_ns": now[0] - base[0],
                "cpu_ns": now[1] - base[1],
                "preempted_ns": now[2] - base[2],
            }
        }
        return {"thread_time": {**found, **self._looks.facts()}}


def queued_ns(tid: int) -> int | None:
    """How long the thread was ready and another had the processor."""
    times = _scheduled_ns(tid)
    return times[1] if times else None


def _scheduled_ns(tid: int) -> tuple[int, int] | None:
    """How long the thread had a processor, and was ready without one."""
    try:
        with open(f"/proc/self/task/{tid}/schedstat", "rb", 0) as file:
            words = file.read(100).split()
            return int(words[0]), int(words[1])
    except (OSError, ValueError, IndexError):
        return None


def _sleeps(tid: int) -> bool:
    try:
        with open(f"/proc/self/task/{tid}/stat", "rb", 0) as file:
            return file.read(400).rpartition(b")")[2].split()[0] in (b"S", b"D")
    except (OSError, IndexError):
        return False


def _fetches(frame: Any) -> bool:
    """In a data loader of PyTorch: no time of Python's own."""
    while frame is not None:
        if frame.f_code.co_filename.endswith(_LOADER):
            return True
        frame = frame.f_back
    return False


def _place_of(frame: Any) -> str:
    """The innermost of the program's own frames, else the innermost."""
    innermost = frame
    while frame is not None and any(part in frame.f_code.co_filename for part in _LIBRARY):
        frame = frame.f_back
    frame = frame or innermost
    code = frame.f_code
    return f"{os.path.basename(code.co_filename)}:{frame.f_lineno} in {code.co_name}"
