"""What it takes to record all threads of a program at once, from a thread of ours.

Kineto has to be initialised by the thread that imported torch: otherwise it complains on the
program's standard error. That takes a millisecond, and is done before the first thread is started.
A profile of all threads can be begun and ended by any thread. There may be only one in a process:
an operator of another thread may be open when it ends, and would write its end into the next one.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Callable

from .failures import note

get_ident = threading.get_ident

# Each shows that there is a driver: of the kernel module, in containers too, or of Windows through WSL.
_DRIVER = ("/dev/nvidiactl", "/dev/dxg", "/proc/driver/nvidia/version")


def config_of_all_threads(torch: Any) -> Any:
    """What torch.profiler is given; None where this torch can only record the calling thread."""
    try:
        return torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    except (AttributeError, TypeError):
        return None


class AllThreads:
    """A profile of all threads, like torch.profiler.profile as far as it is used here. That one
    imports torch._inductor when it begins: a second of work and a thousand modules, which is too
    much to do beside a program that goes on."""

    def __init__(self, torch: Any, config: Any, arguments: dict[str, Any]) -> None:
        kinds = torch.profiler.ProfilerActivity
        names = ("record_shapes", "profile_memory", "with_stack", "with_flops")
        chosen = {name: arguments[name] for name in names}
        device = "cuda" if kinds.CUDA in arguments["activities"] else None
        self._on_trace_ready = arguments["on_trace_ready"]
        self._add = torch.autograd._add_metadata_json
        self._stated = [name for name in names if chosen[name]]
        self._profile = torch.autograd.profiler.profile(
            use_device=device, use_kineto=True, experimental_config=config, **chosen
        )

    def start(self) -> None:
        self._profile._prepare_trace()
        self._profile._start_trace()
        for name in self._stated:
            self._add(name, "1")

    def stop(self) -> None:
        self._profile.__exit__(None, None, None)
        self._on_trace_ready(self._profile)


class Kineto:
    """Whether, and by whom, it was initialised."""

    def __init__(self, torch: Any, is_profiled: Callable[[], bool]) -> None:
        self._torch = torch
        self._importer = get_ident()
        # Whether the program profiles itself, which initialises it as well.
        self._is_profiled = is_profiled
        self.ready = False

    def is_mine(self) -> bool:
        """Whether this is the thread that imported torch."""
        return get_ident() == self._importer

    def begins(self) -> None:
        """A profile of ours begins in this thread."""
        self.ready = self.ready or self.is_mine()

    def prepare(self, at_once: bool = False) -> None:
        """Initialises it, once, where this is the right thread; before a profile is due only where
        that leaves the GPU as it is."""
        if self.ready or not self.is_mine() or not (at_once or self._may_touch_device()):
            return
        self.ready = True
        if self._is_profiled():
            return
        try:
            self._empty_profile()
        except Exception as error:
            note("all threads", f"Kineto could not be initialised: {error!r}")

    def _may_touch_device(self) -> bool:
        return not any(map(os.path.exists, _DRIVER)) or self._torch.cuda.is_initialized()

    def _empty_profile(self) -> None:
        profiler, autograd = self._torch._C._profiler, self._torch._C._autograd
        if autograd._profiler_enabled():
            return  # the program's own has done it
        plain = profiler._ExperimentalConfig()
        config = profiler.ProfilerConfig(
            profiler.ProfilerState.KINETO, False, False, False, False, False, plain
        )
        kinds = {self._torch.profiler.ProfilerActivity.CPU}
        autograd._prepare_profiler(config, kinds)
        autograd._enable_profiler(config, kinds)
        autograd._disable_profiler()

    def watch_threads(self) -> None:
        """Looks at each start of a thread, in the thread that starts it."""
        kind: Any = threading.Thread
        original = kind.start
        kineto = self

        def start(this: Any) -> Any:
            if not kineto.ready:
                kineto.prepare()
            return original(this)

        for name in ("__module__", "__qualname__", "__doc__"):
            setattr(start, name, getattr(original, name))
        kind.start = start
