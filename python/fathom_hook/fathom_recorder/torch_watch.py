"""Puts the parts of the recording of PyTorch together: what is called leads to steps, and steps
to traces."""

from __future__ import annotations

import signal
import sys
import threading
import time
from typing import Any

from .failures import note, quietly, withdraw
from .imports import is_importing
from .overhead import EDGE, UNPROFILED, Overhead
from .pieces import Pieces
from .plan import FAR, Plan, Window
from .signals import Signals
from .steps import Steps
from .torch_calls import Calls
from .torch_facts import TorchFacts
from .torch_foreign import ForeignProfiler, note_given_way
from .torch_frameworks import Frameworks
from .torch_learner import Learner
from .torch_loader import Loaders
from .torch_memory import TorchMemory
from .torch_phases import Phases
from .torch_profile import Profiling, compiles_so_far, quiet_kineto
from .torch_requests import TorchRequests, servers
from .torch_threads import Kineto
from .thread_time import ThreadTime
from .traces import Target, Traces
from .wire import get_native_id

monotonic_ns = time.monotonic_ns
get_ident = threading.get_ident

# Outermost modules that come later (for evaluation, say) are looked for at these steps. Each search
# changes torch.nn.Module, which makes all calls of modules slower for some steps.
_SEARCH_AT = frozenset((1, 2, 3, 5, 10, 50, 200, 1000))
_SEARCH_WITH_OPTIMIZER_AT = frozenset((1, 3))
# By then it is known what the steps of a program are.
_REST_AFTER = 5
# A rest is at most so long; then it is looked whether it may go on.
_REST_NS = 200_000_000
_REST_STEPS = 1000
_UNFINISHED = "a trace that was being recorded"


class TorchWatch:
    """All of it happens in the thread that steps; calls from others are timed but make no steps."""

    def __init__(self, recorder: Any, torch: Any) -> None:
        self.recorder = recorder
        self.torch = torch
        self.options = recorder.options
        self.range_name: str | None = self.options.range
        # Whether slices of loaders and steps are kept: within --delay and --duration.
        self.recording = self.options.delay_ns == 0
        self.memory: TorchMemory | None = None
        self.foreign = ForeignProfiler(self, torch)
        self.calls = Calls(self, torch)
        self.loaders = Loaders(self, torch)
        self.facts = TorchFacts(torch)
        self.frameworks = Frameworks()
        self.signals = Signals(recorder.end)
        self.kineto = Kineto(torch, lambda: self.foreign.seen)
        self.servers = servers(self)
        self.phases = Phases(self, torch)
        # Whether this process has had a profile.
        self.warmed = False
        self._begin_state()
        recorder.facts.add_source(self._facts)

    def _begin_state(self) -> None:
        self.traces = Traces(self.recorder.session)
        step_by = "mark" if self.range_name else self.options.step_by
        self.steps = Steps(step_by, self._step, self._evaluated, self.recorder.step_begins)
        self.learner = Learner(self.torch)
        self.plan = Plan(self.options)
        self.pieces = Pieces(self.options)
        self.overhead = Overhead()
        self.requests = TorchRequests(self)
        self.thread_time = ThreadTime()
        self.profiling: Profiling | None = None
        self.memory = (
            TorchMemory(self.torch, self.recorder.session)
            if "memory" in self.options.extras
            else None
        )
        self._owner = 0
        self._hook_ns = 0
        self._edge = False
        self._ranges = 0
        self._imported_ns = monotonic_ns()
        self._timed: Any = None
        self._ended = False
        self._discarded_note = ""
        self._stop_wanted = False
        self._kineto_asked = False
        self._give_up_asked = False
        # Steps that --max-size keeps from being recorded: the next one to be counted, the end.
        self._lost = 0, 0
        # While at rest: the only optimizer or leading module, its thread, and until when.
        self._sole = 0
        self._tid = 0
        self._rest_until = 0
        self._rest_to = 0
        self._rested = 0

    def install(self) -> None:
        quiet_kineto()
        parts = self.foreign, self.calls, self.loaders, self.facts, self.servers, self.phases
        for part in parts:
            try:
                part.install()
            except Exception as error:
                note("PyTorch: " + type(part).__name__, repr(error))
        self.frameworks.install(self.recorder.finder, self.facts.trains)
        self._watch_distributed()
        if self.options.on_signal:
            self._listen(self.options.on_signal)
        from .torch_timed import Timed

        self._timed = Timed(self)
        if threading.current_thread() is threading.main_thread():
            self.kineto.watch_threads()
        else:
            self.kineto.prepare(at_once=True)  # nobody else may, and this thread may be gone later
        self.recorder.threads.ends.append(self._thread_ends)

    # What the program calls

    def _mine(self) -> bool:
        """Whether this thread is the one that steps: the first that is seen to."""
        ident = get_ident()
        if not self._owner:
            self._owner = ident
            self.calls._owner = ident
            self.recorder.works()
        return self._owner == ident

    def _serves_others(self) -> bool:
        """Requests are this program's steps, and what this thread calls is none."""
        return self.requests.seen and not self.steps.has_optimizer()

    @quietly
    def _thread_ends(self) -> None:
        """Whoever stepped steps no more, and another may; its profile ends with it."""
        if self._owner != get_ident():
            return
        profiling = self.profiling
        self._ended = True  # no step follows the one that ends here
        self.steps.last(monotonic_ns())
        self._ended = False
        if profiling is not None and profiling is self.profiling and profiling.is_mine():
            profiling.finish()
            self._over()
        self.calls.wake()
        self.steps.forget()
        self._owner = self.calls._owner = 0

    def prepare_kineto(self) -> None:
        """Asks the main thread, which begins none any more."""
        if self._timed is not None and not self._kineto_asked:
            self._kineto_asked = True
            self._timed._in_main_thread(lambda: self.kineto.prepare(at_once=True))

    def give_up_profiling(self) -> None:
        """From our thread: the profile that the main one has begun is none of requests."""
        if self._timed is not None and not self._give_up_asked:
            self._give_up_asked = True
            self._timed._in_main_thread(self._give_up)

    @quietly
    def _give_up(self) -> None:
        if self.profiling is not None and self.profiling.is_mine():
            self.profiling.give_up()
            self.closed()
        self._give_up_asked = False

    @quietly
    def optimizer_made(self, optimizer: Any) -> None:
        self.steps.optimizer_made(id(optimizer))

    @quietly
    def optimizer_done(self, optimizer: Any) -> None:
        begin = monotonic_ns()
        if self._mine():
            self.facts.optimizer(optimizer)
            if self.memory:
                self.memory.phase("optimizer")
            self.learner.learnt()
            self.loaders.learns()
            self.steps.optimizer_done(id(optimizer))
        self._hook_ns += monotonic_ns() - begin

    def scaler_used(self, scaler: Any) -> None:
        self.facts.scaler(scaler)

    @quietly
    def module_begin(self, module: Any, args: Any, kwargs: Any) -> None:
        begin = monotonic_ns()
        if self.requests.takes():
            self.requests.call_begins(module, args, kwargs)
        elif self._mine() and not self._serves_others():
            self.steps.module_begin(id(module), self.learner.call(module))
            self.facts.module_call(module, args, kwargs)
        self._hook_ns += monotonic_ns() - begin

    @quietly
    def module_done(self, module: Any) -> None:
        begin = monotonic_ns()
        if self.requests.takes():
            self.requests.call_ends()
        elif self._mine() and not self._serves_others():
            if self.memory:
                self.memory.phase("forward")
            self.steps.module_done(id(module))
        self._hook_ns += monotonic_ns() - begin

    @quietly
    def mode_set(self) -> None:
        """A module was put into evaluation mode."""
        if self._owner == get_ident():
            self.steps.mode_set(self.learner.quiet())
            if self.steps.evaluating is not None:
                self.calls.wake()  # its end is to be seen

    @quietly
    def backward_done(self) -> None:
        if self.memory and self._mine():
            self.memory.phase("backward")

    @quietly
    def fetch(self) -> None:
        begin = monotonic_ns()
        if self._mine():
            self.steps.fetch(self.learner.quiet())
        self._hook_ns += monotonic_ns() - begin

    @quietly
    def makes_iterator(self) -> None:
        """A data loader begins anew: with its workers, maybe."""
        if self._owner == get_ident():
            self.steps.begins(self.learner.quiet())

    @quietly
    def annotation(self) -> None:
        if self._owner == get_ident():
            begin = monotonic_ns()
            self.steps.annotation(self.learner.quiet())
            self._hook_ns += monotonic_ns() - begin

    @quietly
    def become_worker(self) -> None:
        """This process turns out to be a worker of a data loader."""
        name = sys.modules["multiprocessing"].current_process().name
        self.recorder.become("loader-worker", self.recorder.rank, name)

    def record_function(self, name: str) -> Any:
        return self.torch.autograd.profiler.record_function(name)

    # Steps

    @quietly
    def _step(self, number: int, start: int, end: int) -> None:
        if self._timed is not None:
            self._timed.steps_came()
        age = end - self.recorder.began_ns
        kind = self._kind(number)
        self.thread_time.end(1 + self._rested, kind not in (UNPROFILED, EDGE))
        self.plan.skip(self._rested)
        self._rested = 0
        self._heed_duration(age)
        if self.recording:
            self.recorder.record("step", "step", start, end - start, number)
        self.recorder.step_ends(number, start, end)
        if self.memory:
            self.memory.step(number)
        self.overhead.step(number, kind, end - start, self._hook_ns)
        self._hook_ns = 0
        by_optimizer = self.steps.source == "optimizer"
        self.facts.step(self.loaders.fetched_since())
        if number in (_SEARCH_WITH_OPTIMIZER_AT if by_optimizer else _SEARCH_AT):
            self.calls.search()
        # Not into a step that is recorded: what follows the window writes them, too.
        if number in (0, 2) and self.profiling is None:
            self.recorder.facts.write()
        # torch.profiler's own work between two steps is not the hook's: whoever called adds it all.
        before = monotonic_ns()
        self._drive(number, end - start, age)
        self._rest_or_wake(number, age)
        if not self._ended:
            self.thread_time.begin(self._owner, get_native_id())
        self._hook_ns -= monotonic_ns() - before

    @quietly
    def _evaluated(self, begin: int, end: int) -> None:
        """The program evaluated, which is no part of a step; not even a moment, where it turned out
        to be one."""
        if self.profiling is not None and not self._ended:
            self.profiling.resume()
        self.thread_time.begin(self._owner, get_native_id())
        if end == begin:
            return
        self.recorder.step_begins()
        if self.recording:
            self.recorder.record("evaluation", "phase", begin, end - begin, self.steps.number)
        self.loaders.fetched_since()
        self.facts.skip_calls()
        self._hook_ns = 0

    def _rest_or_wake(self, number: int, age: int) -> None:
        """While nothing is recorded, and nothing will be soon, modules and annotations are not
        looked at: steps end where the optimizer's does, or with the next batch."""
        source = self.steps.source
        if self.range_name or self.memory or source is None or number < _REST_AFTER:
            return
        far = FAR if self.foreign.seen else self.plan.far_steps(age)
        busy = self.profiling is not None or self.steps.evaluating is not None
        if busy or not far or not self.overhead.is_settled():
            self.calls.wake()
            return
        if not self.calls.resting and self.calls.rest(source != "module"):
            self.steps.rest()
        self._sole = self.steps.sole()
        self._tid = get_native_id()
        self._rest_until = monotonic_ns() + _REST_NS
        self._rest_to = number + min(far, _REST_STEPS)

    def step_at_rest(self, stepped: Any) -> bool:
        """The one thing that is done while nothing is recorded: the only optimizer has stepped, or
        the leading module was called, and that is a step. False where it takes more."""
        steps = self.steps
        now = monotonic_ns()
        start, number = steps.start, steps.number
        if (
            id(stepped) != self._sole
            or now > self._rest_until
            or number >= self._rest_to
            or start is None
            or steps.evaluating is not None
            or not steps.ends_at_once()
            or get_ident() != self._owner
        ):
            return False
        steps.number = number + 1
        steps.start = now
        self._rested += 1
        if self.recording:
            self.recorder.writer.slice("step", "step", start, now - start, number, self._tid)
        if self.recorder.profiles:
            self.recorder.step_ends(number, start, now)
            steps.start = monotonic_ns()
        self.overhead.step_at_rest(now - start)
        return True

    def _heed_duration(self, age: int) -> None:
        options = self.options
        over = options.duration_ns is not None and age > options.delay_ns + options.duration_ns
        self.recording = age >= options.delay_ns and not over

    def _kind(self, number: int) -> str:
        edge, self._edge = self._edge, False
        if self.profiling is None:
            return EDGE if edge else UNPROFILED
        return self.profiling.window.kind() if self.profiling.is_recording(number) else EDGE

    def _drive(self, number: int, duration: int, age: int) -> None:
        """Moves the profiler on to step number + 1."""
        if self.range_name:
            return
        if self.profiling is not None:
            self.plan.heed_compiles(compiles_so_far())
            if self.plan.runs_out(age) or self._stop_wanted:
                self.profiling.finish()
            else:
                # The step after the last never begins.
                paused = self._ended or self.steps.evaluating is not None
                self.profiling.step(number, paused)
            if self.profiling.done:
                self._over(number + 1)
            return
        if self.foreign.seen or self.plan.is_idle():
            return
        window = self.plan.window(duration, compiles_so_far(), age, self.overhead.median)
        if window is None:
            return
        if not self._is_out_of_space(window):
            self._open(window, number + 1)

    def _is_out_of_space(self, window: Window) -> bool:
        if not window.kept or self.traces.bytes() <= self.options.max_size:
            return False
        note("further traces", "those that there are reached --max-size", "--max-size")
        self.plan.over(window)
        self._lost_from(self.steps.number, window.warmup + window.active)
        return True

    def _lost_from(self, number: int, steps: int) -> None:
        """Step `number` and as many steps as the window had, those that come, are not recorded."""
        self._count_lost()
        self._lost = number, number + steps

    def _count_lost(self) -> None:
        """Of the steps that were to be recorded and are not, those that have been by now."""
        first, end = self._lost
        now = min(end, self.steps.number)
        if now > first:
            self.recorder.writer.drop("steps of torch's trace, beyond --max-size", now - first)
            self._lost = now, end

    def _open(self, window: Window, number: int, by_steps: bool = True, config: Any = None) -> None:
        profiling = Profiling(self, window, number, by_steps, config)
        try:
            if self.memory and window.kept:
                self.memory.begin_history()
            profiling.begin(self.steps.evaluating is not None)
            self.profiling = profiling
            self.signals.begin()
            if window.kept:
                # Whoever kills the process now finds it said.
                from_step = f" from step {number} on" if by_steps else ""
                why = f"the process was ended while torch.profiler recorded it{from_step}"
                note(_UNFINISHED, why, "--steps active=1,repeat=0 writes a trace after each step")
                self.recorder.facts.write()
        except Exception as error:
            self.plan.ended = by_steps
            note("a trace of torch.profiler", repr(error))

    def _over(self, number: int | None = None) -> None:
        """The window, or a piece of it, has ended; where `number` is the next step, what is left of
        it begins there."""
        profiling = self.profiling
        if profiling is None:
            return
        self.closed()
        self._edge = True
        if self.memory and profiling.window.kept:
            self.memory.end_history(len(self.traces.targets))
        rest = profiling.rest
        if number is not None and rest is not None and not self._is_out_of_space(rest):
            self._open(rest, number)
            return
        self.plan.over(profiling.window)
        self.recorder.facts.write()

    def closed(self) -> None:
        """The window that was open is no longer."""
        self.profiling = None
        self._stop_wanted = False
        self.signals.end()
        withdraw(_UNFINISHED)

    def next_trace(self) -> Target:
        return self.traces.next()

    def published(self, target: Target, steps: int) -> None:
        """A trace of ours, of so many steps, is in its file."""
        self.pieces.written(target.path, steps)
        if self.options.last_ns is not None:
            self.traces.discard_older(self.options.last_ns)

    def give_way(self) -> None:
        """The program profiles itself."""
        lost = self.profiling is not None
        if self.profiling is not None:
            self.profiling.give_up()
            self.closed()
        note_given_way(lost)

    # What the program, a signal or a range ask for

    @quietly
    def start(self) -> None:
        """Records from here on, until `stop`."""
        if self.profiling is None and not self.foreign.seen and self._mine():
            self.plan.ask()
            self.calls.wake()
            if is_importing():  # a signal came; the next step begins
                return
            window = Window(0, 1 << 40, self.plan.extras, True)
            self._open(window, self.steps.number)

    @quietly
    def stop(self) -> None:
        if self.profiling is not None and self._mine():
            self.profiling.finish()
            self._over()

    @quietly
    def mark(self) -> None:
        begin = monotonic_ns()
        if self._mine():
            self.steps.mark()
        self._hook_ns += monotonic_ns() - begin

    @quietly
    def range_begin(self) -> None:
        """An occurrence of --range begins: it is a step, and each recorded one a trace."""
        if self.profiling is not None or self.foreign.seen or not self._mine():
            return
        self.steps.start = monotonic_ns()
        schedule = self.options.steps
        skipped = schedule.skip_first + schedule.wait
        number, self._ranges = self._ranges, self._ranges + 1
        if skipped <= number < skipped + schedule.active * max(1, schedule.repeat):
            self._open(Window(0, 1, self.plan.extras, True), number)

    @quietly
    def range_end(self) -> None:
        if not self._mine():
            return
        self.steps.mark()
        if self.profiling is not None:
            self.profiling.finish()
            self._over()

    def _listen(self, name: str) -> None:
        def asked(*_: Any) -> None:
            # A signal comes in the middle of a step: recording begins and ends with one.
            steps = self.steps.number > 0
            if self.profiling is not None and steps:
                self._stop_wanted = True
            elif self.profiling is not None:
                self.stop()
            elif steps:
                self.plan.ask()
                self.calls.wake()
            else:
                self.start()

        try:
            number = getattr(signal, name, None) or getattr(signal, "SIG" + name)
            if signal.getsignal(number) in (signal.SIG_DFL, signal.SIG_IGN, None):
                signal.signal(number, asked)
                self._asked = number, asked
            else:
                note("--on-signal", f"the program handles {name} itself", "another signal")
        except (AttributeError, ValueError, OSError) as error:
            note("--on-signal", repr(error))

    # Processes

    def _watch_distributed(self) -> None:
        """A rank that no environment variable names."""
        distributed: Any = getattr(self.torch, "distributed", None)
        original = getattr(distributed, "init_process_group", None)
        if original is None:
            return
        import functools

        @functools.wraps(original)
        def init_process_group(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            try:
                rank = distributed.get_rank()
                if self.recorder.role != "rank" or rank != self.recorder.rank:
                    self.recorder.become("rank", rank)
            except Exception as error:
                note("the rank", repr(error))
            return result

        distributed.init_process_group = init_process_group

    def forked(self) -> None:
        """In the child: nothing of the parent's recording is ours to end."""
        self.signals.end()
        self._begin_state()
        self.loaders.restart()
        self.recorder.facts.add_source(self._facts)

    @quietly
    def tick(self, now: int) -> None:
        """Twice a second, from a thread of ours."""
        if self._ended:
            return
        if self._timed is not None:
            self._timed.tick(now)
        self.requests.tick(now)
        self.thread_time.look()
        self.requests.time.look()

    @quietly
    def end(self) -> None:
        """The process ends."""
        if self._ended:
            return
        self._ended = True
        self.steps.last(monotonic_ns())
        self._count_lost()
        if self.profiling is not None and not self.profiling.is_mine():
            self.closed()
            note("a trace", "the thread that was recorded still ran at the end", _JOIN)
        if self.profiling is not None:
            begun = self.profiling
            begun.finish()
            if begun.target is None and begun.window.kept:
                note("a trace", "the program ended before the profiler was warm", _EARLIER)
            self._over()
        self.foreign.end()
        if self.memory:
            self.memory.write()
        self._explain_absence()

    def _explain_absence(self) -> None:
        if self.traces.targets or self.foreign.seen or self.recorder.role == "loader-worker":
            return
        steps = self.steps.number
        if self.requests.seen:
            why = f"the program answered {self.requests.facts()['steps']} requests and ended"
            note(
                "a trace",
                why + " before some could be recorded",
                "more requests, or --steps wait=0",
            )
            return
        if steps == 0 and self.recorder.role == "child":
            return
        if self._timed is not None and self._timed.is_idle_launcher():
            return
        if self.options.on_demand():
            note("a trace", "nothing asked for it", "call fathom.start(), or send the signal")
        elif self.range_name:
            why = f"{self._ranges} annotations named {self.range_name!r} were seen"
            note("a trace", why, "the name as the program spells it; " + _EARLIER)
        elif self.options.delay_ns > monotonic_ns() - self.recorder.began_ns:
            why = f"the program ended, after {steps} steps, before --delay was over"
            note("a trace", why, "a shorter --delay")
        elif steps == 0:
            note("a trace", *_NO_STEPS.get(self.options.step_by, _NO_STEPS["auto"]))
        else:
            why = "the program made {} steps; the first that could be recorded was number {}"
            note("a trace", why.format(steps, self.plan.first_step()), _EARLIER)

    def _facts(self) -> Any:
        found = {**self.facts.facts(), **self.steps.facts(), **self.requests.facts()}
        time_of = self.requests.time if self.requests.seen else self.thread_time
        found.update(time_of.facts())
        found["loader"] = self.loaders.settings
        found["profiler"] = self.foreign.facts() or "torch.profiler, by the hook"
        found["traces"] = len(self.traces.targets)
        if self.traces.discarded:
            found["traces_discarded"] = self.traces.discarded
            self._note_discarded()
        self._count_lost()
        found["unfinished_trace"] = self.profiling is not None and self.profiling.window.kept
        found.update(self.frameworks.facts())
        found["overhead"] = self.overhead.facts("+".join(self.plan.extras) or "plain")
        if self.plan.still_compiling:
            note(
                "steps without compilation",
                "torch.compile compiled during the steps that were recorded",
                "--steps skip_first=N, with N beyond the last compilation",
            )
        return found

    def _note_discarded(self) -> None:
        count = f"{self.traces.discarded} earlier traces"
        withdraw(self._discarded_note)
        self._discarded_note = count
        note(count, "--last keeps the newest stretch", "a longer --last")


_JOIN = "let the program wait for the thread, or --steps wait=0,warmup=0,active=1"
_EARLIER = "--steps wait=0,warmup=0,active=1"
# By --step-by: why a program has no steps, and what to do.
_NO_STEPS = {
    "auto": ("the program made no step that is recognised", "--step-by time"),
    "optimizer": ("no optimizer of torch stepped", "leave --step-by out, or --step-by time"),
    "module": ("no module of torch was called", "leave --step-by out, or --step-by time"),
    "loader": ("no batch was fetched twice from a loader of torch", "leave --step-by out"),
    "mark": ("the program never called fathom.step()", "call it after each, or no --step-by mark"),
    "time": (
        "the program ended, or worked without torch, before a trace by time was complete",
        "a shorter --delay or --duration, or leave --step-by out",
    ),
}
