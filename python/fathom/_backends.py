"""Who does the recording: the recorder of `fathom run`, torch.profiler, or a plain capture file."""

from __future__ import annotations

import gc
import os
import sys
import time
from contextlib import AbstractContextManager
from typing import Any, Protocol

from fathom._errors import FathomError
from fathom._folder import Folder
from fathom._schedule import Schedule


class Options(Protocol):
    """What a profile was asked for."""

    schedule: Any
    with_stacks: bool
    shapes: bool
    memory: bool
    flops: bool


class Backend(Protocol):
    """One recording, from start() to stop()."""

    def start(self) -> None: ...
    def step(self) -> None: ...
    def stop(self) -> None: ...


def recorder() -> Any:
    """The recorder of `fathom run`, or None where this process is not captured."""
    if not os.environ.get("FATHOM_SESSION"):
        return None
    import fathom_recorder

    # The start-up hook has begun already, except where Python does not read it (-I, -S).
    fathom_recorder.begin()
    from fathom_recorder import api

    return api if api.active() else None


class Captured:
    """Passes everything on to the recorder; the launcher decides what is recorded."""

    def __init__(self, api: Any) -> None:
        self._api = api

    def start(self) -> None:
        self._api.start()

    def step(self) -> None:
        self._api.step()

    def stop(self) -> None:
        self._api.stop()


class Torch:
    """torch.profiler, with its traces in a session folder."""

    def __init__(self, options: Options, folder: Folder) -> None:
        import torch

        if torch.autograd._profiler_enabled():  # type: ignore[attr-defined,unused-ignore]
            raise FathomError(
                "torch.profiler is recording already; give it "
                "on_trace_ready=fathom.trace_handler('folder') instead",
                "unsupported",
            )
        self._profiler: Any = torch.profiler.profile(
            schedule=options.schedule,
            on_trace_ready=lambda profiler: export(profiler, folder, gzip=False),
            record_shapes=options.shapes,
            profile_memory=options.memory,
            with_stack=options.with_stacks,
            with_flops=options.flops,
        )

    def start(self) -> None:
        self._profiler.start()

    def step(self) -> None:
        self._profiler.step()

    def stop(self) -> None:
        self._profiler.stop()


def export(profiler: Any, folder: Folder, *, gzip: bool) -> str:
    """Writes a profiler's trace into the folder; returns its path."""
    path = folder.next_trace(gzip=gzip)
    profiler.export_chrome_trace(path)
    return path


# Annotations of a program without torch go to the innermost plain recording.
_plain: list[Plain] = []


class Plain:
    """A capture file with steps, annotations and the garbage collector's pauses."""

    def __init__(self, options: Options, folder: Folder) -> None:
        if options.schedule is not None and not isinstance(options.schedule, Schedule):
            raise FathomError("schedule: a program without torch needs one of fathom.schedule()")
        self._schedule: Schedule | None = options.schedule
        self._folder = folder
        self._number = 0
        self._began = 0
        self._started = 0
        self._writer: Any = None
        self._pauses: Any = None
        # Processor time before the recording began: user, system.
        self._used = (0, 0)

    def start(self) -> None:
        self._began = time.monotonic_ns()
        _plain.append(self)
        self._attend()

    def step(self) -> None:
        now = time.monotonic_ns()
        if self.recording():
            self._writer.slice("step", "step", self._began, now - self._began, self._number)
        self._number += 1
        self._began = now
        self._attend()

    def stop(self) -> None:
        _plain.remove(self)
        if self._writer is None:
            return
        from fathom_recorder import process

        gc.callbacks.remove(self._pauses)
        self._writer.exit(time.monotonic_ns(), *process.exit_fields(self._started, self._used))
        self._writer.close()

    def recording(self) -> bool:
        """Whether the current step is kept."""
        if self._schedule is None:
            return True
        return self._schedule.phase(self._number) in ("record", "record_and_save")

    def annotate(self, name: str, begin: int, end: int) -> None:
        """Keeps a range that ended."""
        if self.recording() and self._writer is not None:
            self._writer.slice(name, "annotation", begin, end - begin)

    def _attend(self) -> None:
        """Opens the file before the first step that is kept."""
        if self._writer is not None or not self.recording():
            return
        from fathom_recorder import gc_pauses, options, process, wire

        defaults = options.Options()
        path = self._folder.make() / f"process-{os.getpid()}.fathom"
        self._started = time.monotonic_ns()
        self._used = process.processor_time()
        self._writer = wire.Writer(str(path), defaults.max_memory, defaults.max_size)
        rank = process.rank_of_environment()
        role = "main" if rank < 0 else "rank"
        self._writer.process(os.getppid(), rank, process.name_of_command(), role)
        # Nothing needs to be woken: what is queued is written when it is much, and at the end.
        self._pauses = gc_pauses.Pauses(self._writer, lambda: None)
        gc.callbacks.append(self._pauses)


def choose(options: Options, folder: Folder) -> Backend:
    """The recorder under `fathom run`, torch.profiler once torch is imported, else our own."""
    api = recorder()
    if api is not None:
        return Captured(api)
    return Torch(options, folder) if "torch" in sys.modules else Plain(options, folder)


def scope(name: str) -> AbstractContextManager[object]:
    """A named range wherever something records."""
    api = recorder()
    if api is not None:
        named: AbstractContextManager[object] = api.annotate(name)
        return named
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "profiler"):
        ranged: AbstractContextManager[object] = torch.profiler.record_function(name)
        return ranged
    return _PlainRange(name)


class _PlainRange:
    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        self._begin = time.monotonic_ns()

    def __exit__(self, *error: object) -> None:
        if _plain:
            _plain[-1].annotate(self._name, self._begin, time.monotonic_ns())
