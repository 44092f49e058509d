"""The deterministic function profile of plain Python, where it is asked for: calls, total and own
time.

Python 3.12 and later report calls by sys.monitoring, under a number that no profiler of the standard
library uses, so that the program may still profile itself. Before that it is cProfile, per thread.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any, Tuple

from .failures import note, quietly
from .wire import Writer

perf_ns = time.perf_counter_ns
HERE = os.path.dirname(__file__) + os.sep

# The costliest functions are kept, the others summed up as one.
MOST = 2000

Key = Tuple[str, int, str]


def start(recorder: Any) -> Any:
    """Begins the profile of all threads that there will be."""
    profile: Any = Monitored() if hasattr(sys, "monitoring") else Profiled()
    try:
        profile.begin()
    except Exception as error:
        note("functions", repr(error), "run without another profiler in the same program")
        return None
    return profile


class Totals:
    """Calls, total and own time of functions, ns."""

    def __init__(self) -> None:
        self.rows: dict[Key, list[int]] = {}

    def add(self, key: Key, calls: int, total: int, own: int) -> None:
        row = self.rows.setdefault(key, [0, 0, 0])
        row[0] += calls
        row[1] += total
        row[2] += own

    def write(self, writer: Writer) -> None:
        # What recording itself does is none of the program's.
        theirs = [item for item in self.rows.items() if not item[0][0].startswith(HERE)]
        rows = sorted(theirs, key=lambda item: -item[1][2])
        for (file, line, name), (calls, total, own) in rows[:MOST]:
            writer.function(file, max(line, 0), name, calls, total, own)
        rest = rows[MOST:]
        if rest:
            own = sum(row[2] for _, row in rest)
            calls = sum(row[0] for _, row in rest)
            writer.function("", 0, f"({len(rest)} other functions)", calls, own, own)


class Profiled:
    """cProfile in each thread."""

    def __init__(self) -> None:
        self._profiles: list[Any] = []

    def begin(self) -> None:
        import cProfile

        self._make = cProfile.Profile
        threading.setprofile(self._begin_thread)
        self._enable()

    def forked(self) -> None:
        """A child counts from nothing."""
        for profile in self._profiles:
            profile.clear()

    def _begin_thread(self, *_: Any) -> None:
        """The first event of a new thread: from here on cProfile listens in it."""
        self._enable()

    def _enable(self) -> None:
        profile = self._make()
        self._profiles.append(profile)
        profile.enable()

    @quietly
    def write(self, writer: Writer) -> None:
        own = sys.getprofile()
        if own is not None and own not in self._profiles:
            note("functions", "the program set a profile function of its own, which replaced ours")
        totals = Totals()
        for profile in self._profiles:
            profile.disable()
            for entry in profile.getstats():
                key = _key_of(entry.code)
                calls = entry.callcount + entry.reccallcount
                totals.add(key, calls, int(entry.totaltime * 1e9), int(entry.inlinetime * 1e9))
        totals.write(writer)


class Monitored:
    """sys.monitoring: calls of Python functions, in all threads."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._totals: list[dict[Any, list[int]]] = []
        self._tool = -1

    def begin(self) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        for tool in (3, 4):
            if monitoring.get_tool(tool) is None:
                break
        else:
            raise RuntimeError("all numbers of sys.monitoring are taken")
        monitoring.use_tool_id(tool, "fathom")
        self._tool = tool
        events = monitoring.events
        for event in (events.PY_START, events.PY_RESUME, events.PY_THROW):
            monitoring.register_callback(tool, event, self._enter)
        for event in (events.PY_RETURN, events.PY_YIELD, events.PY_UNWIND):
            monitoring.register_callback(tool, event, self._leave)
        monitoring.set_events(
            tool,
            events.PY_START
            | events.PY_RESUME
            | events.PY_THROW
            | events.PY_RETURN
            | events.PY_YIELD
            | events.PY_UNWIND,
        )

    def forked(self) -> None:
        for totals in self._totals:
            totals.clear()

    def _state(self) -> tuple[list[list[Any]], dict[Any, list[int]]]:
        local = self._local
        try:
            return local.state  # type: ignore[no-any-return]
        except AttributeError:
            totals: dict[Any, list[int]] = {}
            self._totals.append(totals)
            stack: list[list[Any]] = []
            local.state = (stack, totals)
            return stack, totals

    def _enter(self, code: Any, *_: Any) -> None:
        stack, _totals = self._state()
        # code, beginning, time of callees
        stack.append([code, perf_ns(), 0])

    def _leave(self, code: Any, *_: Any) -> None:
        now = perf_ns()
        stack, totals = self._state()
        while stack:
            function, begin, callees = stack.pop()
            spent = now - begin
            row = totals.get(function)
            if row is None:
                row = totals[function] = [0, 0, 0]
            row[0] += 1
            # A function that is open further out counts this time there.
            row[1] += spent if all(frame[0] is not function for frame in stack[-50:]) else 0
            row[2] += spent - callees
            if stack:
                stack[-1][2] += spent
            if function is code:
                return

    @quietly
    def write(self, writer: Writer) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        monitoring.set_events(self._tool, 0)
        monitoring.free_tool_id(self._tool)
        totals = Totals()
        for rows in self._totals:
            for code, (calls, total, own) in list(rows.items()):
                totals.add(_key_of(code), calls, total, own)
        totals.write(writer)


def _key_of(code: Any) -> Key:
    if isinstance(code, str):  # a function of C
        return "", 0, code
    name = getattr(code, "co_qualname", code.co_name)
    return code.co_filename, code.co_firstlineno, name
