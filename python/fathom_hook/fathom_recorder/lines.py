"""Hits and time of each statement of the program's own code, where that is asked for.

The native recorder does it: from Python 3.12 on by events of sys.monitoring of the code objects
concerned, before by the trace function of each thread. Code that is not watched is asked about
once.
"""

from __future__ import annotations

import os
import struct
import sys
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

from . import native, sources
from .failures import is_of_signal, note, note_beginning, quietly
from .own_code import OwnCode
from .statements import CodeLines, statements_of
from .parts import Parts
from .wire import Writer

if TYPE_CHECKING:
    from .statements import Bodies, Stretches

ASK = "run without another tracer in the same program"
OTHER = "the program has a trace function"
REPLACED = "the program set a trace function of its own, which replaced ours"

RESUME = ("PY_RESUME", "PY_THROW")
LEAVE = ("PY_RETURN", "PY_YIELD")
EVERYWHERE = ("PY_START", "PY_THROW", "PY_UNWIND")  # the last two cannot be of some code only
OF_CODE = ("PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD", "LINE")

GENERATES = 0x20 | 0x80 | 0x200  # a generator, a coroutine, an asynchronous generator

# File, first and last line, function and its line.
Key = Tuple[str, int, int, str, int]
# Start, duration, thread; file, first line and function of the statement.
Run = Tuple[int, int, int, Tuple[str, int, str]]
# At the most, of a process.
MOST = 200_000
MOST_RUNS = 4_000_000
MOST_CODES = 50_000
# Of the timeline, as the library gives them: start, duration, thread, code object, statement.
RUN = struct.Struct("<qqqQQ")
RUNS_OF_BLOCK = 256
# Of NVIDIA's driver, the second in WSL.
DRIVERS = ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg")
# Of a part: code object, statement, hits, own and total time.
PART_ROW = "<QQQqq"
# Of all that is queued as objects of Python: a few megabytes.
RUNS_OF_FLUSH = 64 * RUNS_OF_BLOCK


def start(recorder: Any) -> Any:
    """Begins to record the lines of all threads that there will be."""
    options = recorder.options
    module = native.load(recorder.session)
    if isinstance(module, str):
        note("lines", module, "docs/python-profiles.md has the interpreters that it knows")
        return None
    try:
        lines = Lines(module, recorder.session, options.lines_of, options.sources)
        lines.beside_functions = options.with_functions()
        lines.begin(options.max_memory)
        lines.time_beside_cuda()
    except Exception as error:
        note_beginning("lines", error, ASK)
        return None
    return lines


class Lines:
    """The lines of all threads, and the sources that they are of."""

    RECORDS = "lines"

    def __init__(
        self, module: Any, session: str, modules: tuple[str, ...], keep_sources: str
    ) -> None:
        self._module = module
        self._own = OwnCode(session, modules)
        self._sources = sources.Sources(session, keep_sources)
        self._statements: Dict[str, Tuple[Stretches, Bodies]] = {}
        # By the name that code has of its file: the program may change its folder.
        self._files: Dict[str, str] = {}
        # By address, for two that are equal may be of two files; they stay as long as the process.
        self._codes: Dict[int, Tuple[Any, CodeLines]] = {}
        # Those that some thread is asking about, while another one may end the recording.
        self._deciding: Dict[int, Any] = {}
        self._rows = 0
        self._runs = 0
        self._timed = False
        self._in_window = False
        # Whether libfathom_cuda.so may come, which records in no windows.
        self._beside_cuda = False
        # Timelines that are not written yet, and their changes that there was no room for.
        self._taken: List[Tuple[bytes, int]] = []
        self._tool = -1
        self._local = 0
        self._all_traced = False
        # Whose profile function wants all events, before Python 3.12.
        self.beside_functions = False
        self._parts = Parts("lines", PART_ROW, module.line_part, self._part_row)

    def facts(self) -> dict[str, Any]:
        by = "sys.settrace" if self._tool < 0 else "sys.monitoring"
        files = len({lines.file for _, lines in list(self._codes.values())})
        found = {"by": by, "files": files, "code_objects": len(self._codes)}
        why = ""
        if self._tool < 0:
            beside = "functions are recorded by a profile function" if self.beside_functions else ""
            why = self._module.why_all() or beside
        if why:
            found["all_code_traced"] = why
        return {"lines": found}

    # Beginning and end

    def begin(self, most_bytes: int) -> None:
        module = self._module
        if not hasattr(sys, "monitoring"):
            self._begin_old(most_bytes)
            return
        monitoring: Any = sys.monitoring
        self._tool = tool = native.free_tool()
        self._local = native.events_of(OF_CODE)
        start, resume, leave, unwind, line = module.line_callbacks()
        watch = monitoring.set_local_events
        module.begin_lines(
            self._decide, most_bytes, None, monitoring.DISABLE, watch, tool, self._local
        )
        # Of an earlier recording of this process; the library asks about new ones alone.
        for code, _ in list(self._codes.values()):
            watch(tool, code, self._local)
        native.listen(tool, ("PY_START",), start)
        native.listen(tool, RESUME, resume)
        native.listen(tool, LEAVE, leave)
        native.listen(tool, ("PY_UNWIND",), unwind)
        native.listen(tool, ("LINE",), line)
        native.switch_on(tool, *EVERYWHERE)

    def _begin_old(self, most_bytes: int) -> None:
        import threading

        if sys.gettrace() is not None:
            raise RuntimeError(OTHER)
        frame_type: Any = type(sys._getframe())
        self._module.begin_lines(
            self._decide, most_bytes, frame_type.f_trace_lines, None, None, None, None
        )
        self._look_for_greenlet()
        threading.settrace(self._resume)
        self._module.trace(self._resume, None)

    def _look_for_greenlet(self) -> None:
        """Where it switches, the frame that goes on is traced as the one before was."""
        if not self._all_traced and self._tool < 0 and "greenlet" in sys.modules:
            self._all_traced = True
            self._module.trace_all()

    def _resume(self, frame: Any, event: str, _argument: Any) -> None:
        """What sys.gettrace() gives. Called in a new thread, and where a program that took our
        place gives it back: from here on the native function is in it."""
        self._module.trace(self._resume, frame if event == "call" else None)

    @quietly
    def tick(self) -> None:
        # Threads that no Python began: autograd's.
        if self._tool < 0:
            self._look_for_greenlet()
            self._module.trace_others()

    @quietly
    def forked(self) -> None:
        """A child counts from nothing, and its file names every statement again."""
        self._module.forked()
        self._rows = 0
        self._runs = 0
        self._timed = False
        self._in_window = False
        self._beside_cuda = False
        self._taken = []
        self._deciding = {}
        self._parts.clear()
        for _, lines in list(self._codes.values()):
            lines.written = False

    def stop(self) -> None:
        """No more events; what was recorded stays."""
        if self._tool < 0:
            if not self._module.traces():
                note("lines", REPLACED, ASK)
            threading: Any = sys.modules["threading"]
            if threading._trace_hook != self._resume:
                note("lines of new threads", REPLACED, ASK)
        elif native.switch_off(self._tool, "lines"):
            monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
            # Another thread may be adding to them.
            for code, _ in list(self._codes.values()):
                monitoring.set_local_events(self._tool, code, 0)
            native.give_back(self._tool)
        self._module.end_lines()

    @quietly
    def end(self, writer: Writer) -> None:
        try:
            self.window_ends(True)
            self._take(self._records_cuda())
            self.write_windows(writer)
            self.stop()
        finally:
            self.save(writer)

    # What is watched

    def _decide(self, code: Any) -> Any:
        """Asked once of each code object. Raises only what signal handlers of the program raise."""
        self._deciding[id(code)] = code
        try:
            # Its own first code is asked about, too.
            self._look_for_greenlet()
            lines = self._lines_of(code)
            if lines is None:
                return None
            length = len(code.co_code) // 2 if code.co_flags & GENERATES else 0
            return lines.first, lines.numbers, lines.lengths(), length
        except Exception as error:
            if is_of_signal(error):
                raise
            note("lines of " + code.co_filename, f"{type(error).__name__}: {error}")
            return None
        finally:
            self._deciding.pop(id(code), None)

    @quietly
    def ask(self, code: Any) -> None:
        """The program wants the lines of this code object, whoever wrote it."""
        if not self._own.ask(code) or not self._module.watch(code) or self._tool < 0:
            return
        # If it was called before, its beginning is not reported any more.
        sys.monitoring.restart_events()  # type: ignore[attr-defined]

    def _lines_of(self, code: Any) -> CodeLines | None:
        known = self._codes.get(id(code))
        if known is not None:  # memory did not suffice for it, or a signal came between
            return known[1]
        if not self._own.holds(code):
            return None
        if len(self._codes) >= MOST_CODES:
            note("lines of some code", f"the program runs more than {MOST_CODES} code objects")
            return None
        name = code.co_filename
        file = self._files.get(name)
        if file is None:
            file = self._files.setdefault(name, os.path.abspath(name))
        statements = self._statements.get(file)
        if statements is None:
            statements = self._statements[file] = self._read(file)
        return self._codes.setdefault(id(code), (code, CodeLines(code, file, *statements)))[1]

    def _read(self, file: str) -> Tuple[Stretches, Bodies]:
        source = sources.read(file)
        if source is None:
            return {}, {}
        self._sources.keep(file, source)
        try:
            return statements_of(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            if is_of_signal(error):
                raise
            return {}, {}  # not Python, or not all of it: each line is a statement

    # The timeline

    def time_beside_cuda(self) -> None:
        """The beginning of the program has a timeline, for the case that CUDA is recorded without
        PyTorch; as long as there is room for it."""
        may_come = any(os.path.exists(path) for path in DRIVERS) or "FATHOM_CUPTI" in os.environ
        self._beside_cuda = may_come and bool(os.environ.get("CUDA_INJECTION64_PATH"))
        if self._beside_cuda:
            self._time()

    def _records_cuda(self) -> bool:
        if not self._beside_cuda:
            return False
        from .cuda_library import holds_cupti

        return holds_cupti(True)

    def _time(self) -> None:
        self._timed = True
        self._module.begin_timeline()

    def _take(self, kept: bool) -> None:
        if not self._timed:
            return
        self._timed = False
        taken = self._module.take_timeline()
        if kept:
            self._taken.append(taken)

    @quietly
    def window_begins(self) -> None:
        """From here on operators and kernels are recorded, which statements are joined with."""
        self._take(self._records_cuda())
        self._in_window = True
        self._time()

    @quietly
    def window_ends(self, kept: bool) -> None:
        """Its timeline waits until there is time to write it."""
        if not self._in_window:
            return
        self._in_window = False
        records_cuda = self._records_cuda()
        self._take(kept or records_cuda)
        if records_cuda:
            self._time()

    @quietly
    def write_windows(self, writer: Writer) -> None:
        taken, self._taken = self._taken, []
        for packed, lost in taken:
            self._write(writer, packed, lost)

    def _write(self, writer: Writer, packed: bytes, lost: int) -> None:
        names: Dict[Tuple[int, int], Tuple[str, int, str]] = {}
        runs: List[Run] = []
        for start, duration, tid, code, statement in RUN.iter_unpack(packed):
            name = names.get((code, statement))
            if name is None:
                file, first, _, function, _ = _key_of(self._codes[code][1], statement)
                name = names[code, statement] = (file, first, function)
            if self._runs >= MOST_RUNS:
                lost += 1
                continue
            self._runs += 1
            runs.append((start, duration, tid, name))
            if len(runs) == RUNS_OF_BLOCK:
                writer.line_runs(runs)
                runs = []
            if self._runs % RUNS_OF_FLUSH == 0:
                writer.flush()
        writer.line_runs(runs)
        if lost > 0:
            writer.drop("changes of lines", lost)

    # Parts

    @quietly
    def step_begins(self) -> None:
        """What came before it belongs to no step."""
        self._parts.step_begins()

    @quietly
    def step_ends(self, number: int, start: int, end: int) -> None:
        self._parts.step_ends(number, start, end)

    @quietly
    def write_parts(self, writer: Writer) -> None:
        """Those of steps that ended."""
        self._parts.write(writer, writer.line_parts)

    def _part_row(self, code: int, statement: int, hits: int, own: int, total: int) -> Any:
        return (*_key_of(self._codes[code][1], statement), hits, total, own)

    # What was found

    @quietly
    def save(self, writer: Writer) -> None:
        """What is new since the last time, where this process may go on or not."""
        sums: Dict[Key, list[int]] = {}
        if self._parts.any:
            self._parts.rest()
            self.write_parts(writer)
        lost, unmatched = self._module.line_losses()  # which take_lines() forgets
        for code, statement, hits, own, total in self._module.take_lines(int(not self._parts.any)):
            lines = self._codes[id(code)][1]
            row = sums.setdefault(_key_of(lines, statement), [0, 0, 0])
            row[0] += hits
            row[1] += total
            row[2] += max(own, 0)
        unwatched = 0
        for code, lines in list(self._codes.values()):
            if not self._module.watches(code):
                unwatched += id(code) not in self._deciding
            elif not lines.written:
                # Those that never ran are known, too.
                lines.written = True
                for statement in range(1, len(lines.stretches) + 1):
                    sums.setdefault(_key_of(lines, statement), [0, 0, 0])
        for (file, first, last, function, line), row in sums.items():
            if self._rows >= MOST:
                writer.drop("lines", 1)
                continue
            self._rows += 1
            writer.line(file, first, last, function, line, *row)
        if lost > 0:
            note("lines", f"memory did not suffice for {lost} events", "--max-memory")
        if unwatched > 0:
            why = f"memory did not suffice for all lines of {unwatched} functions"
            note("lines of some functions", why, "--max-memory")
        limits = "hits are right; times may not be"
        native.note_disorder("times of lines", unmatched, "frames went on or ended", limits)


def _key_of(lines: CodeLines, statement: int) -> Key:
    first, last = lines.stretches[statement - 1]
    return lines.file, first, last, lines.function, lines.line
