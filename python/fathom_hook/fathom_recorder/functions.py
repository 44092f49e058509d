"""The deterministic function profile of Python, where it is asked for: calls, total and own time,
and who called.

The native recorder does it where it knows the interpreter (native.py). Elsewhere Python 3.12 and
later report calls by sys.monitoring, under a number that no profiler of the standard library uses,
so that the program may still profile itself. Before that it is cProfile, per thread.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

from . import native
from .calls import Calls
from .failures import note, note_beginning, quietly
from .function_sums import Sums, key_of, write_prof
from .own_code import OwnCode
from .parts import Parts
from .profile_module import expect_a_return
from .wire import Writer

perf_ns = time.perf_counter_ns


def start(recorder: Any) -> Any:
    """Begins the profile of all threads that there will be."""
    with_c = "functions=c" in recorder.options.extras
    try:
        profile = Functions(recorder.session)
        profile.begin(native.load(recorder.session), with_c, recorder.options.max_memory)
        profile.begin_calls(recorder.options.least_call_ns)
    except Exception as error:
        note_beginning("functions", error, native.ASK)
        return None
    recorder.ticker.begins.append(profile.ignore_thread)
    recorder.finder.when_imported("profile", expect_a_return)
    return profile


class Functions:
    """The profile by one of the ways below, and its files."""

    RECORDS = "functions"

    def __init__(self, session: str) -> None:
        self._session = session
        self._own = OwnCode(session)
        self._sums = Sums()
        self._calls: Calls | None = None

    def begin(self, module: Any, with_c: bool, most_bytes: int) -> None:
        self._way: Any = None
        if not isinstance(module, str):
            self._way = native.Native(module, with_c, most_bytes)
            self._facts = {"by": "native"}
        else:
            self._way = Monitored() if hasattr(sys, "monitoring") else Profiled(with_c)
            self._facts = {"by": self._way.name, "why": module}
            if with_c and isinstance(self._way, Monitored):
                note("functions of C", module, "see docs/capture.md for the interpreters it knows")
        self._way.begin()
        self._parts: Parts | None = self._way.parts()

    def begin_calls(self, least_ns: int | None) -> None:
        """Calls of that length are recorded one by one."""
        if least_ns is None:
            return
        self._calls = self._way.calls(least_ns)
        if self._calls is None:
            note("single calls", self._facts["why"], "their sums are there")
        else:
            self._facts["least_call_ns"] = least_ns
            self._calls.begin()

    def facts(self) -> dict[str, Any]:
        return {"functions": self._facts}

    @quietly
    def tick(self) -> None:
        """Twice a second, while there is something to come back for."""
        self._way.tick()

    @quietly
    def ignore_thread(self) -> None:
        """This thread is the recorder's."""
        self._way.ignore_thread()

    @quietly
    def forked(self) -> None:
        """A child counts from nothing."""
        self._sums = Sums()
        self._way.forked()
        if self._parts is not None:
            self._parts.clear()
        if self._calls is not None:
            self._calls.forked()

    def window_begins(self) -> None:
        """It has no timeline."""

    def window_ends(self, kept: bool) -> None:
        pass

    def write_windows(self, writer: Writer) -> None:
        pass

    @quietly
    def step_begins(self) -> None:
        """What came before it belongs to no step."""
        if self._parts is not None:
            self._parts.step_begins()

    @quietly
    def step_ends(self, number: int, start: int, end: int) -> None:
        if self._parts is not None:
            self._parts.step_ends(number, start, end)
        else:
            note("functions by step", self._facts["why"], "their sums of the whole run are there")

    @quietly
    def write_parts(self, writer: Writer) -> None:
        """Those of steps that ended, and calls that did."""
        if self._calls is not None:
            self._calls.write(writer)
        if self._parts is not None:
            self._parts.write(writer, writer.function_parts)

    @quietly
    def save(self, writer: Writer) -> None:
        """What is new since the last time, where this process may go on or not."""
        if self._calls is not None:
            self._calls.write(writer)
        parts = self._parts if self._parts is not None and self._parts.any else None
        if parts is not None:
            parts.rest()
            self.write_parts(writer)
        new = self._way.take(parts is None)
        new.write(writer, self._own.is_own)
        self._sums.merge(new)
        write_prof(os.path.join(self._session, f"functions-{os.getpid()}.prof"), self._sums)

    @quietly
    def end(self, writer: Writer) -> None:
        if self._calls is not None:
            self._calls.write(writer, True)
        self._way.end()
        self.save(writer)


class Profiled:
    """cProfile in each thread."""

    name = "cProfile"

    def __init__(self, with_c: bool) -> None:
        self._with_c = with_c
        self._profiles: list[Any] = []

    def begin(self) -> None:
        import cProfile

        if sys.getprofile() is not None:
            raise RuntimeError(native.OTHER)
        self._make = cProfile.Profile
        threading.setprofile(self._begin_thread)
        self._enable()

    def tick(self) -> None:
        pass

    def ignore_thread(self) -> None:
        """A thread that `threading` knows nothing of is not profiled anyway."""

    def forked(self) -> None:
        for profile in self._profiles:
            profile.clear()

    def _begin_thread(self, *_: Any) -> None:
        """The first event of a new thread: from here on cProfile listens in it."""
        self._enable()

    def _enable(self) -> None:
        profile = self._make(builtins=self._with_c)
        self._profiles.append(profile)
        profile.enable()

    def end(self) -> None:
        own = sys.getprofile()
        if own is not None and own not in self._profiles:
            note("functions", native.REPLACED)
        for profile in self._profiles:
            profile.disable()

    def parts(self) -> Parts | None:
        return None

    def calls(self, least_ns: int) -> Calls | None:
        return None

    def take(self, part_ends: bool) -> Sums:
        sums = Sums()
        for profile in self._profiles:
            for entry in profile.getstats():
                key = key_of(entry.code)
                calls, own, total = _fields_of(entry)
                sums.add_call(key, calls, own)
                sums.add_outermost(key, entry.reccallcount, total)
                for callee in entry.calls or ():
                    calls, own, total = _fields_of(callee)
                    sums.add_caller(
                        key_of(callee.code), key, calls, callee.reccallcount, own, total
                    )
            profile.clear()
        return sums


def _fields_of(entry: Any) -> tuple[int, int, int]:
    return entry.callcount, int(entry.inlinetime * 1e9), int(entry.totaltime * 1e9)


class Monitored:
    """sys.monitoring: calls of Python functions, in all threads. It does not know who called."""

    name = "sys.monitoring"

    def __init__(self) -> None:
        self._local = threading.local()
        self._totals: list[dict[Any, list[int]]] = []

    def begin(self) -> None:
        self._tool = native.free_tool()
        native.listen(self._tool, native.ENTER, self._enter)
        native.listen(self._tool, native.LEAVE, self._leave)
        native.switch_on(self._tool, *native.ENTER, *native.LEAVE)

    def tick(self) -> None:
        pass

    def ignore_thread(self) -> None:
        # Nobody asks for these totals.
        self._local.state = ([], {})

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
        stack, totals = self._state()
        row = totals.get(code)
        if row is None:
            # calls, recursive calls, total, own, how often it is open
            row = totals[code] = [0, 0, 0, 0, 0]
        row[0] += 1
        row[1] += row[4] > 0
        row[4] += 1
        # code, beginning, time of callees
        stack.append([code, perf_ns(), 0])

    def _leave(self, code: Any, *_: Any) -> None:
        now = perf_ns()
        stack, totals = self._state()
        while stack:
            function, begin, callees = stack.pop()
            spent = now - begin
            row = totals.get(function)
            if row is not None:  # else the process forked meanwhile
                row[4] -= 1
                # A function that is open further out counts this time there.
                row[2] += spent if row[4] <= 0 else 0
                row[3] += spent - callees
            if stack:
                stack[-1][2] += spent
            if function is code:
                return

    def end(self) -> None:
        if native.switch_off(self._tool):
            native.give_back(self._tool)

    def parts(self) -> Parts | None:
        return None

    def calls(self, least_ns: int) -> Calls | None:
        return None

    def take(self, part_ends: bool) -> Sums:
        sums = Sums()
        for rows in self._totals:
            for code, row in list(rows.items()):
                key = key_of(code)
                sums.add_call(key, row[0], row[3])
                sums.add_outermost(key, row[1], row[2])
                row[:4] = 0, 0, 0, 0
        return sums
