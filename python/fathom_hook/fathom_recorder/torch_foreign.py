"""Notices that the program profiles itself, and takes a copy of its trace.

A trace can be saved only once, so ours is a copy of the file that the program writes; of a
profile that it never writes, we save the trace when the next one begins, or at the end.
"""

from __future__ import annotations

import functools
import shutil
from typing import Any

from .failures import note, quietly


class ForeignProfiler:
    def __init__(self, watch: Any, torch: Any) -> None:
        self._watch = watch
        self._torch = torch
        self.seen = False
        self._unsaved: Any = None
        # What we start ourselves is not foreign.
        self.ours = False

    def install(self) -> None:
        self._schedules(self._torch.profiler.profile)
        self._traces(self._torch.autograd.profiler.profile)

    def _schedules(self, kind: Any) -> None:
        """A profile with a schedule is there long before it records."""
        original = kind.start

        @functools.wraps(original)
        def start(this: Any) -> Any:
            if not self.ours:
                self._begin()
            return original(this)

        kind.start = start

    def _traces(self, kind: Any) -> None:
        prepare: Any = getattr(kind, "_prepare_trace", None)
        begin: Any = getattr(kind, "_start_trace", None)
        export, leave = kind.export_chrome_trace, kind.__exit__

        def _prepare_trace(this: Any) -> Any:
            if not self.ours:
                self._begin()
                self._save()
            return prepare(this)

        def _start_trace(this: Any) -> Any:
            # Of a schedule this is the end of the warm-up.
            if not self.ours:
                self._watch.recorder.window_begins()
            return begin(this)

        @functools.wraps(leave)
        def __exit__(this: Any, *error: Any) -> Any:
            is_its_own = not self.ours and getattr(this, "enabled", True)
            if is_its_own:
                self._watch.recorder.window_ends(True)
            result = leave(this, *error)
            if is_its_own:
                self._watch.recorder.write_windows()
                self._unsaved = this
            return result

        @functools.wraps(export)
        def export_chrome_trace(this: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
            result = export(this, path, *args, **kwargs)
            if this is self._unsaved:
                self._unsaved = None
                self._copy(path)
            return result

        if prepare is not None:
            kind._prepare_trace = functools.wraps(prepare)(_prepare_trace)
        if begin is not None:
            kind._start_trace = functools.wraps(begin)(_start_trace)
        kind.__exit__, kind.export_chrome_trace = __exit__, export_chrome_trace
        self._export = export

    @quietly
    def _begin(self) -> None:
        if not self.seen:
            self.seen = True
            self._watch.give_way()

    @quietly
    def _copy(self, path: Any) -> None:
        target = self._watch.next_trace()
        shutil.copyfile(path, target.temporary)
        target.publish()

    @quietly
    def _save(self) -> None:
        profile, self._unsaved = self._unsaved, None
        if profile is None or getattr(profile, "kineto_results", None) is None:
            return
        target = self._watch.next_trace()
        self._export(profile, target.temporary)
        target.publish()

    def end(self) -> None:
        """What the program recorded and never wrote."""
        self._save()

    def facts(self) -> str | None:
        return "the program's own" if self.seen else None


def note_given_way(lost: bool) -> None:
    why = "the program runs torch.profiler itself; its own trace is used"
    if lost:
        why += ", and the one that was being recorded was given up"
    note("a trace of steps chosen here", why, "leave out the program's profiler for this run")
