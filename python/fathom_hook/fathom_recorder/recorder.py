"""The recording of one process: what is installed at its start, what happens when it forks and
ends."""

from __future__ import annotations

import _thread
import atexit
import os
import sys
import time

from . import endings, failures, options, process
from .canary import Canary
from .crashes import Crashes
from .facts import Facts
from .gc_pauses import Pauses
from .imports import Finder
from .threads import Threads
from .ticker import Ticker
from .wire import BEGIN, Writer, get_native_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

monotonic_ns = time.monotonic_ns

# The file of facts is written this often while new ones come, and at the end.
FACTS_NS = 5_000_000_000
# What torch may need to write a trace that is not finished when the program is.
SAVE_S = 300.0

current: Recorder | None = None


class Recorder:
    """What survives a fork is what is installed in the interpreter; files are each process's
    own."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.options = options.from_environment()
        self.finder = Finder()
        self.ticker = Ticker()
        self.began_ns = monotonic_ns()
        self.role, self.rank = process.role_and_rank()
        self.name = process.name_of_command()
        self.crashes = Crashes()
        self._open(os.getppid())
        self.pauses = Pauses(self.writer, self.ticker.wake)
        self.threads = Threads(self.writer, self.ticker.wake)
        self._learn_of_collections()
        self.torch: Any = None
        # Of functions, of lines.
        self.profiles: list[Any] = []
        self.lines: Any = None
        self._step_open = False
        self._held = False
        self._over = False
        self._phase = "import"
        self._writer_main_tid = get_native_id()
        self._main_ident = _thread.get_ident()
        self._main_time: Any = None
        self.writer.moment(BEGIN, "import", "phase", self.began_ns)

    def _open(self, parent: int) -> None:
        given = self.options
        path = os.path.join(self.session, f"process-{os.getpid()}.fathom")
        self.writer = Writer(path, given.max_memory, given.max_size, given.last_ns)
        self.writer.process(parent, self.rank, self.name, self.role)
        self.facts = Facts(self.session)
        self.facts.values.update(role=self.role, rank=self.rank, name=self.name)
        self.crashes.begin(self.session)
        self._facts_at = monotonic_ns()

    def _learn_of_collections(self) -> None:
        self.facts.add_source(lambda: {"gc": self.pauses.facts()})
        self.facts.add_source(lambda: {"threads_started": self.threads.started})

    def _learn_of_profiles(self) -> None:
        for profile in self.profiles:
            self.facts.add_source(profile.facts)

    def install(self) -> None:
        process.mark_for_children(self.rank, self.role)
        # Before the ticker's thread begins, which is not to be profiled.
        if self.options.with_functions():
            from . import functions

            self._begin_profile(functions)
        if "lines" in self.options.extras:
            from . import lines

            self.lines = self._begin_profile(lines)
        self._learn_of_profiles()
        self.finder.install()
        self.pauses.install()
        self.finder.when_imported("threading", self._see_threading)
        self.ticker.add(self._tick)
        canary = Canary()
        self.ticker.begins.append(lambda: canary.show(self.ticker.code()))
        self.ticker.ends.append(canary.hide)
        atexit.register(self._last)
        endings.watch_exit(self.end)
        endings.watch_exec(self._hand_over)
        os.register_at_fork(
            before=self._before_fork,
            after_in_parent=self._after_fork_in_parent,
            after_in_child=self._after_fork_in_child,
        )
        self.finder.when_imported("multiprocessing.util", self._see_multiprocessing)
        self.finder.when_imported("torch", self._see_torch)
        self.writer.flush()
        self.ticker.wake()

    def _begin_profile(self, module: Any) -> Any:
        profile = module.start(self)
        if profile is not None:
            self.profiles.append(profile)
        return profile

    # While it runs

    def become(self, role: str, rank: int, name: str = "") -> None:
        """The process turned out to be something else than it looked like at its start."""
        self.role, self.rank = role, rank
        self.name = name or self.name
        self.facts.values.update(role=role, rank=rank, name=self.name)
        self.writer.process(os.getppid(), rank, self.name, role)
        process.mark_for_children(rank, role)

    def works(self) -> None:
        """The program does something that ends importing: a step, a batch."""
        if self._phase == "import":
            self._begin_main(self.finder.settle())

    def _begin_main(self, when: int) -> None:
        self._phase = "main"
        # A program that imports nothing for long was last seen to before this recorder began.
        when = max(when, self.began_ns)
        self.writer.end(when, self._writer_main_tid)
        self.writer.moment(BEGIN, "main", "phase", when, self._writer_main_tid)

    @failures.quietly
    def _tick(self) -> bool:
        """Twice a second. True while there is something to come back for."""
        now = monotonic_ns()
        if self._phase == "import":
            quiet = self.finder.first_quiet(now)
            if quiet is not None:
                self._begin_main(quiet)
        else:
            self._record_late_imports(now)
        for profile in self.profiles:
            profile.tick()
            profile.write_parts(self.writer)
        if self.torch is not None:
            self.torch.tick(now)
            if now - self._facts_at > FACTS_NS:
                self._facts_at = now
                self.facts.write()
        elif self._phase == "main" and self.role == "main":
            self._look_at_main_thread()
        waiting = self.writer.pending()
        self.writer.flush()
        return bool(waiting or self.torch is not None or self._phase == "import" or self._main_time)

    def _record_late_imports(self, now: int, ended: bool = False) -> None:
        for begin, end in self.finder.late_bursts(now, ended):
            self.writer.slice("late import", "phase", begin, end - begin, -1, self._writer_main_tid)

    def _look_at_main_thread(self) -> None:
        """Of a program without PyTorch: whether it computes or waits, and where."""
        if self._main_time is None:
            from .thread_time import MainTime

            self._main_time = MainTime()
            self._main_time.begin(self._main_ident, self._writer_main_tid)
            self.facts.add_source(self._main_thread)
        self._main_time.look()

    def _main_thread(self) -> dict[str, Any]:
        # PyTorch's watch has the thread that steps.
        return self._main_time.facts() if self._main_time and self.torch is None else {}

    def record(self, *fields: Any) -> None:
        """A slice, written within half a second."""
        self.writer.slice(*fields)
        self.ticker.wake()

    def window_begins(self) -> None:
        """Operators and what devices do are recorded from here on."""
        for profile in self.profiles:
            profile.window_begins()

    def window_ends(self, kept: bool) -> None:
        for profile in self.profiles:
            profile.window_ends(kept)

    def write_windows(self) -> None:
        """What ended windows left, once nothing that takes time is recorded."""
        for profile in self.profiles:
            profile.write_windows(self.writer)

    def step_begins(self) -> None:
        """A step begins that does not begin with the end of another."""
        self._step_open = True
        for profile in self.profiles:
            profile.step_begins()

    def step_ends(self, number: int, start: int, end: int) -> None:
        """The next one begins. One whose beginning was learnt of later has no part of its own."""
        was_open, self._step_open = self._step_open, True
        for profile in self.profiles:
            if was_open:
                profile.step_ends(number, start, end)
            else:
                profile.step_begins()

    # Forks

    @failures.quietly
    def _before_fork(self) -> None:
        self.ticker.pause()
        self._held = self.writer.hold()

    @failures.quietly
    def _after_fork_in_parent(self) -> None:
        if self._held:
            self.writer.release()
        # The thread comes back with the next record: Python warns of threads right after this.
        if not self._over:
            self.ticker.resume()

    @failures.quietly
    def _after_fork_in_child(self) -> None:
        parent, _, _ = os.environ.get(process.PARENT, "0").partition(":")
        failures.clear()
        self._over = False
        self.finder.forked()
        self._step_open = False
        self.began_ns = monotonic_ns()
        self._main_time = None
        self.role = "child"
        self._open(int(parent))
        self._learn_of_collections()
        self.pauses.restart(self.writer)
        self.threads.restart(self.writer)
        process.mark_for_children(self.rank, self.role)
        self._phase = "main"
        self._writer_main_tid = get_native_id()
        self.writer.moment(BEGIN, "main", "phase", self.began_ns)
        if self.torch is not None:
            self.torch.forked()
        for profile in self.profiles:
            profile.forked()
        self._learn_of_profiles()
        self.ticker.resume()
        self.writer.flush()
        self.ticker.wake()

    def _see_multiprocessing(self, util: Any) -> None:
        """Its children end without atexit; their finalizers run."""

        def child_began(this: Recorder) -> None:
            try:
                this.name = sys.modules["multiprocessing"].current_process().name
                if this.role == "child":
                    this.become("child", this.rank, this.name)
                util.Finalize(None, this.end, exitpriority=-1000)
            except Exception as error:
                failures.note("the end of a child", repr(error))

        try:
            util.register_after_fork(self, child_began)
        except Exception as error:
            failures.note("the end of children", repr(error))

    @failures.quietly
    def _see_threading(self, threading: Any) -> None:
        self.threads.install(threading)

    def _see_torch(self, torch: Any) -> None:
        wanted, sys.dont_write_bytecode = sys.dont_write_bytecode, False
        try:
            from .torch_watch import TorchWatch

            self.torch = TorchWatch(self, torch)
            self.torch.install()
        except Exception as error:
            failures.note("PyTorch", f"{type(error).__name__}: {error}")
        finally:
            sys.dont_write_bytecode = wanted
        # Registered last, so it runs before what the program registered earlier.
        atexit.register(self._exiting)
        self.ticker.wake()

    # The end

    @failures.quietly
    def _exiting(self) -> None:
        if self._phase == "exit":
            return
        self.works()
        now = monotonic_ns()
        self._record_late_imports(now, True)
        self.writer.end(now, self._writer_main_tid)
        self._phase = "exit"
        self.writer.moment(BEGIN, "exit", "phase", now, self._writer_main_tid)
        if self.torch is not None:
            # Our thread may be writing a trace. In torch's C++ when the interpreter is gone, it
            # would abort the program.
            if not self.ticker.pause(SAVE_S):
                why = f"it was still being written {SAVE_S:.0f} s after the program's end"
                failures.note("a trace", why)
            self.torch.end()
            self.ticker.resume()
            self.ticker.wake()

    @failures.quietly
    def _hand_over(self) -> None:
        """The process becomes another program, unless that fails."""
        if self.torch is not None:
            self.torch.stop()
        self.ticker.pause()
        for profile in self.profiles:
            # If it goes on, and makes steps, the parts are to sum to all that is saved.
            profile.step_begins()
            profile.save(self.writer)
        self.writer.finish()
        self.ticker.resume()
        self.facts.write()

    def _last(self) -> None:
        self.end()

    @failures.quietly
    def end(self) -> None:
        """Everything that is known, to the files. The program may still go on a little."""
        if self._over:
            return
        self._over = True
        self._exiting()
        # What our thread has taken from a profile, and not yet written, would end with it. Nor does
        # it begin any more: a thread that does while the interpreter ends may crash the program.
        self.ticker.pause()
        for profile in self.profiles:
            profile.end(self.writer)
        now = monotonic_ns()
        self.writer.end(now, self._writer_main_tid)
        self.writer.exit(now, *process.exit_fields(self.began_ns))
        self.writer.finish()
        self.facts.write()
        self.crashes.end()


def begin() -> None:
    """Starts the recording of this process, once."""
    global current
    if current is not None:
        return
    session = os.environ["FATHOM_SESSION"]
    current = Recorder(session)
    current.install()
