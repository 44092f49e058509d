"""Times what a run does beside its steps: compilation, checkpoints, loading of files. Each is a
phase of the capture file, in every process and recorded or not."""

from __future__ import annotations

import threading
import time
from typing import Any

from .failures import note, quietly
from .wrapping import named_like

monotonic_ns = time.monotonic_ns


class Phases:
    def __init__(self, watch: Any, torch: Any) -> None:
        self._watch = watch
        self._torch = torch
        self._local = threading.local()

    def install(self) -> None:
        self._wrap("save", "checkpoint")
        self._wrap("load", "load")
        finder = self._watch.recorder.finder
        finder.when_imported("torch._dynamo.callback", self._watch_compiler)

    def _wrap(self, name: str, phase: str) -> None:
        original = getattr(self._torch, name)
        local = self._local

        @named_like(original)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if getattr(local, "inside", False):  # one may call the other
                return original(*args, **kwargs)
            local.inside = True
            begin = monotonic_ns()
            try:
                return original(*args, **kwargs)
            finally:
                local.inside = False
                self._record(phase, begin)

        setattr(self._torch, name, timed)

    @quietly
    def _record(self, phase: str, begin: int) -> None:
        self._watch.recorder.record(phase, "phase", begin, monotonic_ns() - begin, -1)

    def _watch_compiler(self, module: Any) -> None:
        """Called at the outermost begin and end of each compilation, in its thread."""
        try:
            kind = module.CompilationCallbackHandler
            start, end = kind.run_start_callbacks, kind.run_end_callbacks
            local = self._local

            @named_like(start)
            def run_start_callbacks(this: Any, *args: Any) -> Any:
                local.compiles = monotonic_ns()
                return start(this, *args)

            @named_like(end)
            def run_end_callbacks(this: Any, *args: Any) -> Any:
                begin = getattr(local, "compiles", 0)
                if begin:
                    local.compiles = 0
                    self._record("compilation", begin)
                return end(this, *args)

            kind.run_start_callbacks = run_start_callbacks
            kind.run_end_callbacks = run_end_callbacks
        except Exception as error:
            note("how long torch.compile takes", repr(error))
