"""Recording from inside the program."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import Any

from fathom._backends import Backend, Captured, choose, export, recorder
from fathom._diagnosis import Diagnosis
from fathom._errors import FathomError
from fathom._folder import Folder
from fathom._schedule import Schedule
from fathom._session import Session
from fathom._session import open as open_session


class profile:
    """Records a stretch of the program into a session folder.

    with fathom.profile(schedule=fathom.schedule(wait=1, warmup=1, active=3)) as p:
        for batch in loader:
            train(batch)
            p.step()
    print(p.diagnose())

    Uses torch.profiler once torch is imported; without it, records steps, annotations and the
    garbage collector's pauses. Under `fathom run`, asks that recorder to start, step and
    stop, and what is recorded is what was asked for there.

    schedule: which steps; fathom.schedule() or torch.profiler.schedule(); None for all of it.
    with_stacks, shapes, memory, flops: what torch.profiler records beside times; each costs time.
    output: the folder, by default fathom-runs/<time>-<program>.
    """

    def __init__(
        self,
        *,
        schedule: Schedule | Callable[[int], Any] | None = None,
        with_stacks: bool = False,
        shapes: bool = False,
        memory: bool = False,
        flops: bool = False,
        output: str | os.PathLike[str] | None = None,
    ) -> None:
        self.schedule = schedule
        self.with_stacks = with_stacks
        self.shapes = shapes
        self.memory = memory
        self.flops = flops
        self._folder = Folder(output)
        self._backend: Backend | None = None
        self._steps = 0
        self._captured = False

    @property
    def output(self) -> pathlib.Path | None:
        """The session folder, once something was recorded."""
        if self._captured:
            return pathlib.Path(os.environ["FATHOM_SESSION"])
        return self._folder.path

    def start(self) -> None:
        """Begins; what `with` does on entry. FathomError: recording already."""
        if self._backend is not None:
            raise FathomError("this profile is recording already")
        backend = choose(self, self._folder)
        backend.start()
        self._captured = isinstance(backend, Captured)
        self._backend = backend
        _running.append(self)

    def step(self) -> None:
        """A step of the program ends here."""
        if self._backend is None:
            raise FathomError("this profile is not recording: start() it, or use it in `with`")
        self._steps += 1
        self._backend.step()

    def stop(self) -> None:
        """Ends, and writes what was recorded. Does nothing when it ended before."""
        backend, self._backend = self._backend, None
        if backend is None:
            return
        _running.remove(self)
        try:
            backend.stop()
        finally:
            self._folder.finish()

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def open(self) -> Session:
        """What was recorded, several traces as one session. FathomError: nothing was, and why."""
        return self._open()

    def diagnose(self, **request: Any) -> Diagnosis:
        """Why it is slow, and what to change; takes what Session.diagnose() takes."""
        return self._open().diagnose(**request)

    def _open(self) -> Session:
        if self._backend is not None:
            raise FathomError("stop() the recording first, or leave its `with` block")
        if self._captured:
            api = recorder()
            if api is not None:
                api.flush()
        folder = self.output
        if folder is None or not any(folder.iterdir()):
            raise FathomError(self._why_empty(), "not_found")
        return open_session(folder)

    def _why_empty(self) -> str:
        if isinstance(self.schedule, Schedule):
            return (
                f"nothing was recorded: there were {self._steps} calls of step(), and the schedule "
                f"has its first recording after {self.schedule.first_trace_after}"
            )
        return f"nothing was recorded; there were {self._steps} calls of step()"


# Those between start and stop, the innermost last.
_running: list[profile] = []


def start(**options: Any) -> profile:
    """Begins to record; takes what profile() takes, and returns it.

    Under `fathom run --profile-from-start=off` this is where recording begins."""
    begun = profile(**options)
    begun.start()
    return begun


def step(samples: float | None = None) -> None:
    """A step of the program ends here, of that many samples. Does nothing where nothing records.

    `fathom bench` makes samples per second of them; elsewhere they are a counter."""
    api = recorder()
    if api is not None and samples is not None:
        api.samples(samples)
    if _running:
        _running[-1].step()
    elif api is not None:
        api.step()


def stop() -> profile | None:
    """Ends what start() began, and returns it. Does nothing where nothing records."""
    if not _running:
        api = recorder()
        if api is not None:
            api.stop()
        return None
    ended = _running[-1]
    ended.stop()
    return ended


def trace_handler(
    output: str | os.PathLike[str], *, use_gzip: bool = False
) -> Callable[[Any], None]:
    """For torch.profiler.profile(on_trace_ready=…): each trace goes into that session folder.

    `fathom diagnose FOLDER`, or fathom.open(FOLDER), reads it; ranks may share the folder.
    """
    folder = Folder(output)

    def handle(profiler: Any) -> None:
        export(profiler, folder, gzip=use_gzip)
        folder.finish()

    return handle
