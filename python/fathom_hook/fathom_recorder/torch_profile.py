"""Runs torch.profiler for one window of steps, and saves its trace."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from typing import Any, Callable, TypeVar

from .cuda_library import holds_cupti
from .failures import note, quietly
from .options import from_environment
from .plan import LONG_STEP_NS, Window
from .torch_scopes import end_open_ranges
from .torch_threads import AllThreads
from .traces import Target

monotonic_ns = time.monotonic_ns
get_ident = threading.get_ident
Result = TypeVar("Result")

_LOOKED_AT = 16 << 20
# Named like the profiler's own, so that it is no annotation of the program.
WARMING = "ProfilerStep#warm"
_FIRST_KERNELS = (
    "a step before each further trace of one recording",
    "CUPTI of CUDA 12.6 to 13.0 loses the first kernels of each profile but the first: a step of warm-up has them",
    "PyTorch for CUDA 13.1 or later, or a higher --max-memory, so that there are fewer traces",
)
# Between two steps; src/analysis/structure/steps.cc knows the name.
EVALUATION = "evaluation"
# What the profiler does between two steps is time of ours, if it is worth telling.
OWN_WORK = "recorder"
_LEAST_OWN_NS = 1_000_000


class Profiling:
    """One torch.profiler.profile. `step` is called between steps, from the thread that called
    `begin`."""

    def __init__(
        self, watch: Any, window: Window, number: int, by_steps: bool = True, config: Any = None
    ) -> None:
        self._watch = watch
        self._torch = watch.torch
        self.window = window
        self._first = number
        self._by_steps = by_steps
        # Of a profile of all threads, which any thread may end; else the one that began it.
        self._config = config
        self._thread = get_ident()
        self._profile: Any = None
        self._began_ns = 0
        self._last = number - 1
        self.target: Target | None = None
        # What is left to record of a window whose trace had to be written before.
        self.rest: Window | None = None
        self._paused = False
        self._kinds: Any = None  # of activities: those of the CPU first
        self._evaluation: Any = None
        self._ranges_ended = False
        self.done = False

    def begin(self, paused: bool = False) -> None:
        """`paused`: the program evaluates, the first step begins with `resume`."""
        profiler = self._torch.profiler
        extras = self.window.extras
        self._kinds = self._activities(profiler.ProfilerActivity)
        arguments = {
            "activities": self._kinds,
            "record_shapes": "shapes" in extras,
            "profile_memory": "memory" in extras,
            "with_stack": "stacks" in extras,
            "with_flops": "flops" in extras,
            "on_trace_ready": self._save,
        }
        if self._by_steps:
            arguments["schedule"] = self._action
        if self._config is not None:
            self._profile = AllThreads(self._torch, self._config, arguments)
            self._silently(self._profile.start)
            self._begin_active()
            return
        self._watch.kineto.begins()
        self._silently(lambda: self._warm(arguments))
        self._profile = self._silently(lambda: profiler.profile(**arguments))
        # The steps are called by their number in the program.
        self._profile.step_num = self._first
        if paused:
            self._pause()
        self._silently(self._profile.start)
        if paused:
            self._begin_evaluation()
        self._begin_active()

    def _begin_active(self) -> None:
        self._began_ns = monotonic_ns()
        self._watch.pieces.begin()
        if self.window.kept:
            self._watch.recorder.window_begins()

    def _warm(self, arguments: dict[str, Any]) -> None:
        """A process's first profile loads and allocates what all of them use, some of it with the
        first operator. So an empty one goes before, between two steps as well."""
        if self._watch.warmed:
            return
        self._watch.warmed = True
        torch = self._torch
        chosen = {name: value for name, value in arguments.items() if name.startswith("with_")}
        # One of the CPU alone costs less; but with CUDA 13.0 profiles after it were seen without kernels.
        risky = str(getattr(torch.version, "cuda", None)).startswith("13.0")
        kinds = arguments["activities"] if risky else [torch.profiler.ProfilerActivity.CPU]
        with torch.profiler.profile(activities=kinds, **chosen):
            with torch.autograd.profiler.record_function(WARMING), torch.no_grad():
                torch.empty(1, device="cpu").add_(1)

    def _activities(self, kinds: Any) -> Any:
        chosen = [kinds.CPU]
        # A process that has not touched its GPU is left so.
        cuda = self._torch.cuda
        if not cuda.is_available() or (not cuda.is_initialized() and _is_bad_fork(cuda)):
            return chosen
        # To ask whether there is a GPU has the driver load what is injected.
        elsewhere = from_environment().cuda_elsewhere and holds_cupti(bool(cuda.is_initialized()))
        return chosen if elsewhere else [*chosen, kinds.CUDA]

    def _action(self, step: int) -> Any:
        """What torch.profiler is to do in `step`."""
        actions = self._torch.profiler.ProfilerAction
        at = max(0, step - self._first)
        if at < self.window.warmup:
            return actions.WARMUP
        if at >= self.window.warmup + self.window.active:
            return actions.NONE
        last = at == self.window.warmup + self.window.active - 1
        return actions.RECORD_AND_SAVE if last else actions.RECORD

    def is_recording(self, number: int) -> bool:
        """Whether step `number` is an active one, rather than one of warm-up."""
        at = number - self._first
        return self.window.warmup <= at < self.window.warmup + self.window.active

    def step(self, number: int, paused: bool = False) -> None:
        """Step `number` has ended. Afterwards `done` shows whether the window is over, or its
        `rest` begins anew. `paused`: the next step begins with `resume`."""
        self._last = number
        if paused:
            self._pause()
        if number + 1 == self._first + self.window.warmup:
            self._begin_active()
        if number + 1 >= self._first + self.window.warmup + self.window.active:
            self._end_ranges()
            self._silently(self._profile.step)
            self.finish()
        elif self.window.kept and self._recorded(number) and self._is_full(number):
            self.rest = self._rest(self._recorded(number))
            self.finish()
        else:
            self._silently(self._profile.step)
            if paused and self._watch.steps.evaluating is not None:
                self._begin_evaluation()

    def _rest(self, steps: int) -> Window:
        """What is left of the window after so many steps. Where CUPTI loses the first kernels of each profile, they
        are of a step of warm-up, which is not kept, unless steps are so long that each is worth more than that."""
        length = (monotonic_ns() - self._began_ns) // steps
        on_gpu = self._kinds is not None and len(self._kinds) > 1
        loses = on_gpu and loses_first_kernels(self._torch) and length <= LONG_STEP_NS
        if loses:
            note(*_FIRST_KERNELS)
        return Window(1 if loses else 0, self.window.active - steps, self.window.extras, True)

    def _pause(self) -> None:
        """Ends the range of the step that is open; the profiler opens none by itself."""
        self._end_step_range()
        self._paused = True

    def _end_step_range(self) -> None:
        profile = self._profile
        scope, profile.step_rec_fn = getattr(profile, "step_rec_fn", None), None
        profile.record_steps = False
        if scope is not None:
            scope.__exit__(None, None, None)

    def _begin_evaluation(self) -> None:
        """A range of ours shows readers that what follows is no part of a step."""
        scope = self._watch.record_function(EVALUATION)
        self._watch.calls.unseen()[0](scope)
        self._evaluation = scope

    def _end_evaluation(self) -> None:
        scope, self._evaluation = self._evaluation, None
        if scope is not None:
            self._watch.calls.unseen()[1](scope, None, None, None)

    def resume(self) -> None:
        """The step begins that was waited for."""
        if not self._paused or self.done:
            return
        self._paused = False
        self._end_evaluation()
        profile = self._profile
        profile.record_steps = True
        profile.step_rec_fn = self._watch.record_function(f"ProfilerStep#{profile.step_num}")
        profile.step_rec_fn.__enter__()

    def _end_ranges(self) -> None:
        """The step's first: looking for the others, and taking what was recorded beside it, takes
        no time of a step."""
        if self._ranges_ended:
            return
        self._ranges_ended = True
        self._end_evaluation()
        self._end_step_range()
        self._watch.recorder.window_ends(self.window.kept)
        # Of all threads there is no other profile that an open range could write its end into.
        if self._config is None:
            end_open_ranges(self._torch)

    def _recorded(self, number: int) -> int:
        """How many active steps there are with step `number`."""
        return max(0, number + 1 - self._first - self.window.warmup)

    def _is_full(self, number: int) -> bool:
        return bool(self._watch.pieces.is_full(self._recorded(number)))

    def is_mine(self) -> bool:
        """Whether the calling thread may end it."""
        return self._config is not None or self._thread == get_ident()

    def finish(self) -> None:
        """Ends the window now; what was recorded by then is saved."""
        if not self.done:
            self._stop()

    def _stop(self) -> None:
        self.done = True
        self._end_ranges()
        self._silently(self._profile.stop)
        self._profile = None
        self._watch.recorder.write_windows()

    def give_up(self) -> None:
        """Ends the window without a trace."""
        if not self.done:
            self.window.kept = False
            self._stop()

    @quietly
    def _save(self, profile: Any) -> None:
        ended = monotonic_ns()
        if not self.window.kept:
            return
        target = self._watch.next_trace()
        profile.export_chrome_trace(target.temporary)
        if not self._by_steps and not _has_operators(target.temporary):
            self._watch.traces.discard_last()
            return
        target.publish()
        self.target = target
        self._watch.published(target, self._recorded(self._last) if self._by_steps else 0)
        self._watch.recorder.record(
            "torch.profiler", "profile", self._began_ns, ended - self._began_ns, target.number
        )

    def _silently(self, call: Callable[[], Result]) -> Result:
        """Without torch's warnings, which are meant for people who write profilers, and known as
        ours. In the thread of the program it is no time of the program."""
        foreign = self._watch.foreign
        foreign.ours = True
        begin = monotonic_ns()
        try:
            if self._config is not None:  # other threads' warnings are the program's
                return call()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return call()
        finally:
            foreign.ours = False
            took = monotonic_ns() - begin
            if self._config is None and took >= _LEAST_OWN_NS:
                self._watch.recorder.record(OWN_WORK, "phase", begin, took, -1)


def loses_first_kernels(torch: Any) -> bool:
    """Whether CUPTI, as this PyTorch brings it, loses the first k kernels of a process's k-th profile: that of CUDA
    12.6 update 2 to 13.0 (pytorch #192021)."""
    words = str(getattr(torch.version, "cuda", None)).split(".")
    if len(words) < 2 or not (words[0].isdigit() and words[1].isdigit()):
        return False
    return (12, 6) <= (int(words[0]), int(words[1])) <= (13, 0)


def quiet_kineto() -> None:
    """Kineto's own messages, unless somebody asked for them. Those that it marks USDT have the
    highest level, so that nothing else could stay."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")


def _has_operators(path: str) -> bool:
    """Whether a trace by time caught anything of torch."""
    with open(path, "rb") as file:
        return b'"cpu_op"' in file.read(_LOOKED_AT)


def _is_bad_fork(cuda: Any) -> bool:
    return bool(getattr(cuda, "_is_in_bad_fork", lambda: False)())


def compiles_so_far() -> int:
    """How often torch.compile has compiled a frame in this process."""
    utils = sys.modules.get("torch._dynamo.utils")
    if utils is None:
        return 0
    counters = getattr(utils, "counters", {})
    return int(counters["frames"]["total"]) if "frames" in counters else 0
