"""What functions or lines took in each step, until there is time to write it. The sums of the whole
run are the sum of all parts."""

from __future__ import annotations

import struct
import time
from typing import Any, Callable, List, Tuple

from .failures import note
from .wire import Writer

monotonic_ns = time.monotonic_ns

# The number of what is between steps.
NO_STEP = -1
# What waits, in bytes as the library gives it.
MOST_BYTES = 16 << 20
# In the file of a process: some 70 MB.
MOST_ROWS = 1_000_000
ROWS_OF_BLOCK = 128
# Of all that is queued as objects of Python.
ROWS_OF_FLUSH = 64 * ROWS_OF_BLOCK

Part = Tuple[int, int, int, bytes]


class Parts:
    """`take` ends a part in the library and gives its rows; `name` gives what stands for a row in
    the file: its texts and lines, or None where it is none of the program's."""

    def __init__(
        self,
        what: str,
        layout: str,
        take: Callable[[], Tuple[bytes, int]],
        name: Callable[..., Any],
    ) -> None:
        self._what = what
        self._row = struct.Struct(layout)
        self._take = take
        self._name = name
        self._since = monotonic_ns()
        self.clear()

    def clear(self) -> None:
        """A forked child has no parts yet."""
        self._waiting: List[Part] = []
        self._bytes = 0
        self._rows = 0
        self._lost = 0
        self.any = False
        self._since = monotonic_ns()

    def step_begins(self) -> None:
        """What came before it belongs to no step."""
        self.rest()

    def step_ends(self, number: int, start: int, end: int) -> None:
        self._add(number, start, end - start)

    def rest(self) -> None:
        """What is no step's, up to now."""
        since = self._since
        self._add(NO_STEP, since, monotonic_ns() - since)

    def _add(self, number: int, start: int, duration: int) -> None:
        rows, lost = self._take()
        self.any = True
        self._since = monotonic_ns()
        self._lost += lost
        if self._bytes + len(rows) > MOST_BYTES:
            self._lost += len(rows) // self._row.size
        elif rows:
            self._bytes += len(rows)
            part = number, start, max(0, duration), rows
            # Nothing is called before it is there: write() may take the list away meanwhile.
            self._waiting.append(part)

    def write(self, writer: Writer, put: Callable[[Any], None]) -> None:
        """`put` is the writer's method for a batch of rows of one part."""
        waiting, self._waiting = self._waiting, []
        self._bytes = 0
        for number, start, duration, rows in waiting:
            self._write(writer, put, (start, duration, number), rows)
        if self._lost > 0:
            lost, self._lost = self._lost, 0
            writer.drop(f"parts of {self._what}", lost)
            why = f"there was no room for what all {self._what} took in each step"
            note(f"{self._what} by step", why, "sums of the whole run have all of it")

    def _write(self, writer: Writer, put: Any, part: Tuple[int, int, int], rows: bytes) -> None:
        batch: List[Any] = []
        for row in self._row.iter_unpack(rows):
            named = self._name(*row)
            if named is None:
                continue
            if self._rows >= MOST_ROWS:
                self._lost += 1
                continue
            self._rows += 1
            batch.append(named)
            if len(batch) == ROWS_OF_BLOCK:
                put((part, batch))
                batch = []
            if self._rows % ROWS_OF_FLUSH == 0:
                writer.flush()
        if batch:
            put((part, batch))
