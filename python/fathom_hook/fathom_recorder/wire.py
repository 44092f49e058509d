"""Writes a capture file (docs/wire.md): records are queued cheaply and handed over as checksummed
blocks.

Queueing a record is one tuple and one append, takes no lock, and may happen anywhere: in a signal
handler, in a callback of the garbage collector, while another thread writes. Blocks are made when
a thousand records wait or half a second has passed.
"""

from __future__ import annotations

import _thread
import os
import struct
import sys
import time
import zlib
from resource import RLIM_INFINITY, RLIMIT_FSIZE, getrlimit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
    from typing import Any, Callable, Tuple

    Queued = Tuple[Callable[..., None], Tuple[Any, ...]]
    # Start, duration and number of a step; what each row of it has.
    PartRows = Tuple[Tuple[int, int, int], "list[Tuple[Any, ...]]"]
else:
    from _collections import deque

MAGIC = b"FATHOM\x01\x00"
SYNC = 0x4B4C4246
# A block is full with this much, so that it ends below 64 KiB.
FULL_BYTES = 62 * 1024
BLOCK_NS = 500_000_000
CLOCK_NS = 1_000_000_000
# A queued slice is about 60 bytes of block and 250 bytes of Python objects.
QUEUE_LENGTH = 1000
QUEUED_BYTES = 250
# Of the size limit, for how the process ends and for counts of what does not fit any more.
RESERVE = 4096
OVER = "records over the size limit"

STRING, CLOCK, PROCESS, THREAD, SLICE, BEGIN, END, INSTANT = 1, 2, 3, 4, 5, 6, 7, 8
COUNTER, SAMPLE, FACT, EXIT, DROPPED, FUNCTION, ARGUMENT = 9, 10, 11, 12, 13, 14, 15
LINE, LINE_RUN, FUNCTION_PART, LINE_PART, FUNCTION_CALLS = 22, 25, 26, 27, 28

_HEADER = struct.Struct("<III HHQ".replace(" ", ""))
_SUMMED = struct.Struct("<HHQ")
_STRING = struct.Struct("<HHI")
_LAYOUT = {
    CLOCK: "qqI",
    PROCESS: "qiiiII",
    THREAD: "iqI",
    SLICE: "qqiqIIq",
    BEGIN: "qiqII",
    END: "qiq",
    INSTANT: "qiqII",
    COUNTER: "IiiII",
    SAMPLE: "qId",
    FACT: "iII",
    EXIT: "qiiqqqqqq",
    DROPPED: "IQ",
    FUNCTION: "iIIIQqq",
    ARGUMENT: "II",
    LINE: "iIIIIIQqq",
    LINE_RUN: "qqiqIII",
    FUNCTION_PART: "qqiqIIIQqq",
    LINE_PART: "qqiqIIIIIQqq",
    FUNCTION_CALLS: "iIIIIIIQQqq",
}
_PACK = {kind: struct.Struct("<HH" + fields) for kind, fields in _LAYOUT.items()}
_SIZE = {kind: layout.size - 4 for kind, layout in _PACK.items()}
_pack_slice = _PACK[SLICE].pack
_SLICE_BYTES = _SIZE[SLICE]

# Stand beside what is recorded.
_BESIDE = frozenset((CLOCK, THREAD, COUNTER, DROPPED, ARGUMENT))

monotonic_ns = time.monotonic_ns
get_native_id = getattr(_thread, "get_native_id", _thread.get_ident)


def thread_names() -> dict[int, str]:
    """Native thread id to name, of the threads that Python knows."""
    # While the module is being imported, it is there and has no such function yet.
    threads: Any = getattr(sys.modules.get("threading"), "enumerate", None)
    if threads is None:
        return {os.getpid(): "MainThread"}
    return {getattr(t, "native_id", None) or 0: t.name for t in threads()}


class Block:
    """One block in the making: it defines each string, thread and counter that it uses."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._strings: dict[str, int] = {"": 0}
        self._threads: set[int] = set()
        self._counters: dict[Any, int] = {}
        self.payload = bytearray()
        # How much is lost with it, and the counts of what was lost before.
        self.records = 0
        self.counts: dict[str, int] = {}

    def string(self, text: str) -> int:
        number = self._strings.get(text)
        if number is None:
            data = text.encode("utf-8", "replace")[:60000]
            number = self._strings[text] = len(self._strings)
            self.payload += _STRING.pack(STRING, 4 + len(data), number) + data
        return number

    def add(self, kind: int, *fields: Any) -> None:
        self.payload += _PACK[kind].pack(kind, _SIZE[kind], *fields)
        self.records += kind not in _BESIDE

    def slices(self, queue: deque[Any], most: int) -> None:
        """Takes slices from the head of the queue, as long as there are and they fit: the loop
        that counts."""
        strings, threads, payload, pid = self._strings, self._threads, self.payload, self._pid
        while queue and len(payload) < most:
            item = queue[0]
            if len(item) != 6:
                return
            start, duration, tid, name, kind, value = item
            if name not in strings:
                self.string(name)
            if kind not in strings:
                self.string(kind)
            queue.popleft()
            self.records += 1
            threads.add(tid)
            payload += _pack_slice(
                SLICE, _SLICE_BYTES, start, duration, pid, tid, strings[name], strings[kind], value
            )

    def mark(self) -> tuple[int, int, int, int]:
        """For cut(): how much it holds."""
        return len(self.payload), self.records, len(self._strings), len(self._counters)

    def cut(self, mark: tuple[int, int, int, int]) -> int:
        """Takes back what was added since; how many records that were."""
        size, records, strings, counters = mark
        lost = self.records - records
        del self.payload[size:]
        self.records = records
        for text in list(self._strings)[strings:]:
            del self._strings[text]
        for key in list(self._counters)[counters:]:
            del self._counters[key]
        return lost

    def moment(self, kind: int, time_ns: int, tid: int, name: str, category: str) -> None:
        self._threads.add(tid)
        self.add(kind, time_ns, self._pid, tid, self.string(name), self.string(category))

    def end(self, time_ns: int, tid: int) -> None:
        self.add(END, time_ns, self._pid, tid)

    def sample(self, time_ns: int, name: str, unit: str, device: int, value: float) -> None:
        key = (name, device)
        number = self._counters.get(key)
        if number is None:
            number = self._counters[key] = len(self._counters) + 1
            self.add(COUNTER, number, self._pid, device, self.string(name), self.string(unit))
        self.add(SAMPLE, time_ns, number, value)

    def process(self, time_ns: int, parent: int, rank: int, name: str, role: str) -> None:
        names = self.string(name), self.string(role)
        self.add(PROCESS, time_ns, self._pid, parent, rank, *names)

    def thread(self, tid: int, name: str) -> None:
        self.add(THREAD, self._pid, tid, self.string(name))

    def fact(self, key: str, value: str) -> None:
        self.add(FACT, self._pid, self.string(key), self.string(value))

    def exit(self, time_ns: int, *rest: int) -> None:
        self.add(EXIT, time_ns, self._pid, *rest)

    def dropped(self, what: str, count: int) -> None:
        self.counts[what] = self.counts.get(what, 0) + count
        self.add(DROPPED, self.string(what), count)

    def function(self, file: str, line: int, name: str, calls: int, total: int, own: int) -> None:
        file_id, name_id = self.string(file), self.string(name)
        self.add(FUNCTION, self._pid, file_id, line, name_id, calls, total, own)

    def line(
        self,
        file: str,
        first: int,
        last: int,
        function: str,
        function_line: int,
        hits: int,
        total: int,
        own: int,
    ) -> None:
        names = self.string(file), first, last, self.string(function), function_line
        self.add(LINE, self._pid, *names, hits, total, own)

    def line_runs(self, runs: list[tuple[int, int, int, tuple[str, int, str]]]) -> None:
        """Start, duration, thread and statement: file, first line, function."""
        pid, pack, size = self._pid, _PACK[LINE_RUN].pack, _SIZE[LINE_RUN]
        for start, duration, tid, (file, first, function) in runs:
            names = self.string(file), first, self.string(function)
            self._threads.add(tid)
            self.records += 1
            self.payload += pack(LINE_RUN, size, start, duration, pid, tid, *names)

    def calls(self, rows: list[Tuple[int, int, int, str, int]]) -> None:
        """Start, duration, thread and name; whether it went on when the recording ended."""
        for start, duration, tid, name, is_open in rows:
            self._threads.add(tid)
            names = self.string(name), self.string("python_function")
            key = self.string("open"), self.string("when the recording ended")
            self.add(SLICE, start, duration, self._pid, tid, *names, -1)
            if is_open:
                self.add(ARGUMENT, *key)

    def function_parts(self, rows: PartRows) -> None:
        """A part and its rows: file, line, name, calls, total and own time."""
        (start, duration, step), functions = rows
        head = FUNCTION_PART, _SIZE[FUNCTION_PART], start, duration, self._pid, step
        pack, string = _PACK[FUNCTION_PART].pack, self.string
        for file, line, name, *sums in functions:
            names = string(file), line, string(name)
            self.records += 1
            self.payload += pack(*head, *names, *sums)

    def function_calls(self, rows: list[Tuple[Any, ...]]) -> None:
        """File, line and name of a function and of one that called it; calls, primitive ones, total
        and own time."""
        string = self.string
        for file, line, name, caller_file, caller_line, caller_name, *sums in rows:
            callee = string(file), line, string(name)
            caller = string(caller_file), caller_line, string(caller_name)
            self.add(FUNCTION_CALLS, self._pid, *callee, *caller, *sums)

    def line_parts(self, rows: PartRows) -> None:
        """The same of statements: file, first and last line, function and its line, hits, total and
        own time."""
        (start, duration, step), lines = rows
        head = LINE_PART, _SIZE[LINE_PART], start, duration, self._pid, step
        pack, string = _PACK[LINE_PART].pack, self.string
        for file, first, last, function, line, *sums in lines:
            names = string(file), first, last, string(function), line
            self.records += 1
            self.payload += pack(*head, *names, *sums)

    def clock(self) -> int:
        """Adds both clocks, read in one go; returns the time."""
        before = monotonic_ns()
        unix = time.time_ns()
        after = monotonic_ns()
        self.add(CLOCK, (before + after) // 2, unix, min(after - before, 0xFFFFFFFF))
        return after

    def name_threads(self, names: dict[int, str]) -> None:
        for tid in self._threads:
            if tid in names:
                self.thread(tid, names[tid])

    def frame(self, number: int) -> bytes:
        """The block as it stands in the file."""
        summed = _SUMMED.pack(1, 0, number)
        crc = zlib.crc32(self.payload, zlib.crc32(summed))
        return _HEADER.pack(SYNC, len(self.payload), crc, 1, 0, number) + self.payload


# What the reserve of the size is for.
_VITAL = (Block.process, Block.fact, Block.exit, Block.dropped)
# Of these, what it keeps where there is no room for all.
_ENDS = (Block.process, Block.exit)


class Writer:
    """The capture file of this process. Safe to use from any thread; never raises for lack of
    space."""

    def __init__(
        self, path: str, max_memory: int, max_size: int, last_ns: int | None = None
    ) -> None:
        self._path = path
        self._pid = os.getpid()
        self._queue: deque[Any] = deque()
        self._append = self._queue.append
        self._most = max(QUEUE_LENGTH, max_memory // QUEUED_BYTES)
        self._max_size = max_size
        self._room = max(max_size - RESERVE, max_size // 2)
        # Nothing more than the reserve is left.
        self._full = False
        self._last_ns = last_ns
        self._lock = _thread.allocate_lock()
        self._number = 0
        self._size = 0
        self._older_size = 0
        self._clock_at = 0
        self._began_at = monotonic_ns()
        self._flush_at = self._began_at
        # What a new file of a ring begins with.
        self._known: list[Queued] = []
        self._dropped: dict[str, int] = {}
        # Of those, how many the file counts.
        self._told = 0
        self._file = -1
        self._open()

    # What to record

    def slice(
        self, name: str, kind: str, start: int, duration: int, value: int = -1, tid: int = 0
    ) -> None:
        """A stretch of time of `tid`, or of the calling thread."""
        if len(self._queue) > self._most:
            self._drop(kind)
            return
        self._append((start, duration, tid or get_native_id(), name, kind, value))
        if start + duration > self._flush_at or len(self._queue) >= QUEUE_LENGTH:
            self.flush()

    def moment(self, kind: int, name: str, category: str, time_ns: int, tid: int = 0) -> None:
        """BEGIN or INSTANT."""
        self._add(Block.moment, kind, time_ns, tid or get_native_id(), name, category)

    def end(self, time_ns: int, tid: int = 0) -> None:
        self._add(Block.end, time_ns, tid or get_native_id())

    def sample(self, name: str, unit: str, value: float, device: int = -1) -> None:
        self._add(Block.sample, monotonic_ns(), name, unit, device, float(value))

    def process(self, parent: int, rank: int, name: str, role: str) -> None:
        """What this process is. Said again, the newer holds."""
        self._keep(Block.process, monotonic_ns(), parent, rank, name, role)

    def thread(self, tid: int, name: str) -> None:
        self._add(Block.thread, tid, name)

    def fact(self, key: str, value: str) -> None:
        self._keep(Block.fact, key, value)

    def exit(self, time_ns: int, *rest: int) -> None:
        self._add(Block.exit, time_ns, *rest)

    def function(self, *fields: Any) -> None:
        self._add(Block.function, *fields)

    def line(self, *fields: Any) -> None:
        self._add(Block.line, *fields)

    def line_runs(self, runs: list[tuple[int, int, int, tuple[str, int, str]]]) -> None:
        """A few hundred at a time: they stand in one block."""
        if len(self._queue) > self._most:
            self._drop("line_runs", len(runs))
            return
        self._append((Block.line_runs, (runs,)))

    def calls(self, rows: list[Tuple[int, int, int, str, int]]) -> None:
        """A hundred at a time: they stand in one block."""
        if len(self._queue) > self._most:
            self._drop("calls", len(rows))
            return
        self._append((Block.calls, (rows,)))

    def function_parts(self, rows: PartRows) -> None:
        """A hundred at a time: they stand in one block."""
        self._parts(Block.function_parts, rows)

    def function_calls(self, rows: list[Tuple[Any, ...]]) -> None:
        """A hundred at a time: they stand in one block."""
        if len(self._queue) > self._most:
            self._drop("function_calls", len(rows))
            return
        self._append((Block.function_calls, (rows,)))

    def line_parts(self, rows: PartRows) -> None:
        self._parts(Block.line_parts, rows)

    def _parts(self, put: Callable[..., None], rows: PartRows) -> None:
        if len(self._queue) > self._most:
            self._drop(put.__name__, len(rows[1]))
            return
        self._append((put, (rows,)))

    def drop(self, what: str, count: int) -> None:
        """So many of these were not recorded for lack of room; the file counts them."""
        self._add(Block.dropped, what, count)

    def pending(self) -> bool:
        return bool(self._queue)

    def size(self) -> int:
        """Bytes on disk."""
        return self._size + self._older_size

    # How it gets to the file

    def flush(self) -> None:
        """Hands everything queued to the operating system, unless another thread is about to."""
        if self._lock.acquire(False):
            self._flush_and_release()

    def finish(self) -> None:
        """As `flush`, but waits for another thread that is about to, which might not come to it any
        more: the process ends, or somebody reads the file now. A thread that this interrupted is
        not waited for longer than a second."""
        if self._lock.acquire(True, 1.0):
            self._flush_and_release(True)

    def _flush_and_release(self, last: bool = False) -> None:
        try:
            self._flush_locked(last)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Hands over what is queued and lets go of the file. Nothing is recorded afterwards."""
        with self._lock:
            self._flush_locked(True)
            os.close(self._file)
            self._file = -1

    def hold(self) -> bool:
        """Before a fork: nothing is queued or half written when it happens."""
        if not self._lock.acquire(True, 1.0):
            return False
        self._flush_locked()
        return True

    def release(self) -> None:
        self._lock.release()

    def _add(self, put: Callable[..., None], *fields: Any) -> None:
        if len(self._queue) > self._most:
            self._drop(put.__name__)
            return
        self._append((put, fields))

    def _keep(self, put: Callable[..., None], *fields: Any) -> None:
        self._add(put, *fields)
        if self._last_ns is not None and len(self._known) < QUEUE_LENGTH:
            self._known.append((put, fields))

    def _drop(self, what: str, count: int = 1) -> None:
        self._dropped[what] = self._dropped.get(what, 0) + count

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        if self._number == 0 and os.path.exists(self._path):
            # exec() gave this process a new program; the records of the old one stay.
            self._number = _next_number(self._path)
            self._file = os.open(self._path, flags, 0o644)
            self._size = os.fstat(self._file).st_size
            return
        self._file = os.open(self._path, flags | os.O_TRUNC, 0o644)
        os.write(self._file, MAGIC)
        self._size = len(MAGIC)

    def _flush_locked(self, last: bool = False) -> None:
        queue = self._queue
        names: dict[int, str] | None = None
        while queue:
            if self._last_ns is not None and monotonic_ns() - self._began_at > self._last_ns:
                self._turn()
            most = min(FULL_BYTES, self._room - self.size() - _HEADER.size)
            if self._full or most <= 0:
                self._full = True
                self._flush_reserve()
                break
            block = self._new_block()
            count = len(block.payload)
            if count >= most:
                self._forget(block, OVER)
                self._full = True
                continue
            # A batch must not take what is kept for the counts of what did not fit.
            spare = (self._max_size - self._room) // 2
            limit = self._room - self.size() - _HEADER.size + spare
            while queue and len(block.payload) < most:
                try:
                    block.slices(queue, most)
                    if queue and len(queue[0]) != 6:
                        put, fields = queue.popleft()
                        mark = block.mark()
                        put(block, *fields)
                        if len(block.payload) > limit and put not in _VITAL:
                            self._drop(OVER, block.cut(mark))
                except (struct.error, TypeError, ValueError):
                    self._drop("a record whose numbers do not fit")
            if len(block.payload) > count:
                if names is None:
                    names = thread_names()
                block.name_threads(names)
                self._write(block)
            else:
                self._forget(block, "")
        lost = sum(list(self._dropped.values()))
        # Of a process that is killed, most of what it lost is counted.
        if lost > (0 if last else self._told):
            self._write(self._new_block())
        self._flush_at = monotonic_ns() + BLOCK_NS

    def _flush_reserve(self) -> None:
        """Of what is queued keeps how the process ends and who it is; counts the others."""
        queue, kept = self._queue, self._new_block()
        counted = Block(self._pid)
        ends: list[Any] = []
        count = len(kept.payload)
        while queue:
            item = queue.popleft()
            if len(item) == 6:
                counted.records += 1
                continue
            put, fields = item
            try:
                put(kept if put in _VITAL else counted, *fields)
                if put in _ENDS:
                    ends.append(item)
            except (struct.error, TypeError, ValueError):
                self._drop("a record whose numbers do not fit")
            counted.payload.clear()
        self._forget(counted, OVER)
        if len(kept.payload) > count:
            if self.size() + len(kept.payload) + _HEADER.size > self._max_size and ends:
                # How it ended alone, rather than nothing.
                kept.records -= len(ends)
                self._forget(kept, OVER)
                kept = self._new_block()
                for put, fields in ends:
                    put(kept, *fields)
            self._write(kept)
        else:
            self._forget(kept, "")

    def _forget(self, block: Block, why: str) -> None:
        """A block that is not written counts as what it held."""
        for what, count in block.counts.items():
            self._drop(what, count)
        if block.records:
            self._drop(why, block.records)

    def _new_block(self) -> Block:
        block = Block(self._pid)
        now = monotonic_ns()
        if self._number == 0 or now - self._clock_at >= CLOCK_NS:
            self._clock_at = block.clock()
        for what, count in list(self._dropped.items()):
            del self._dropped[what]
            block.dropped(what, count)
        return block

    def _write(self, block: Block) -> None:
        data = block.frame(self._number)
        self._number += 1
        if self.size() + len(data) > self._max_size:
            self._full = True
            self._forget(block, OVER)
            return
        # Beyond it the system ends a program that has taken SIGXFSZ back from Python.
        limit = getrlimit(RLIMIT_FSIZE)[0]
        if limit != RLIM_INFINITY and self._size + len(data) > limit:
            self._forget(block, "records beyond the limit of file sizes (ulimit -f)")
            return
        why = "part of it was written"
        try:
            written = os.write(self._file, data)
        except OSError as error:
            written, why = 0, str(error.strerror)
        if written != len(data):
            self._forget(block, f"records that could not be written: {why}")
        else:
            self._told += sum(block.counts.values())
        self._size += written

    def _turn(self) -> None:
        """Begins the ring's next file."""
        older = self._path[: -len(".fathom")] + ".older.fathom"
        os.close(self._file)
        os.replace(self._path, older)
        self._older_size = self._size
        self._number = max(self._number, 1)
        self._open()
        self._began_at = monotonic_ns()
        self._full = False
        block = Block(self._pid)
        self._clock_at = block.clock()
        for put, fields in self._known:
            put(block, *fields)
        self._write(block)


def _next_number(path: str) -> int:
    """One more than the number of the last whole block in the file."""
    number = 0
    with open(path, "rb") as file:
        at = len(MAGIC)
        while True:
            file.seek(at)
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size:
                return number
            sync, size, _, _, _, this = _HEADER.unpack(header)
            if sync != SYNC:
                return number
            number = this + 1
            at += _HEADER.size + size
