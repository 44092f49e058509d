"""Calls that took long, one by one: from the library's log into the file, twice a second."""

from __future__ import annotations

import struct
from typing import Any, Callable, List, Tuple

from .failures import note
from .wire import Writer

# Start, duration, thread, label, whether it is open.
CALL = struct.Struct("<qqqQQ")
CALLS_OF_BLOCK = 128
# Of all that is queued as objects of Python.
CALLS_OF_FLUSH = 64 * CALLS_OF_BLOCK
# In the file of a process: some 260 MB.
MOST = 4_000_000

Row = Tuple[int, int, int, str, int]


class Calls:
    """`name` gives what a label is called, or None where it is none of the program's."""

    def __init__(self, module: Any, least_ns: int, name: Callable[[int], str | None]) -> None:
        self._module = module
        self._least_ns = least_ns
        self._name = name
        self._written = 0

    def begin(self) -> None:
        self._module.begin_calls(self._least_ns)

    def forked(self) -> None:
        self._written = 0

    def write(self, writer: Writer, ends: bool = False) -> None:
        """Those that ended since the last time; with `ends` those that are open, too."""
        packed, lost = self._module.take_calls(int(ends))
        rows: List[Row] = []
        for start, duration, tid, label, is_open in CALL.iter_unpack(packed):
            name = self._name(label)
            if name is None:
                continue
            if self._written >= MOST:
                lost += 1
                continue
            self._written += 1
            rows.append((start, duration, tid, name, is_open))
            if len(rows) == CALLS_OF_BLOCK:
                writer.calls(rows)
                rows = []
            if self._written % CALLS_OF_FLUSH == 0:
                writer.flush()
        if rows:
            writer.calls(rows)
        if lost > 0:
            writer.drop("calls", lost)
            note("single calls", "there was no room for all of them", "functions=calls:TIME")
