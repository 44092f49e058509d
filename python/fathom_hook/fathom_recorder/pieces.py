"""How long torch.profiler may go on before its trace is written: until then it is in memory, and
lost with the process. A longer recording is kept in pieces, each a trace."""

from __future__ import annotations

import os
import time

from .options import Options
from .process import resident_bytes

monotonic_ns = time.monotonic_ns

# When torch makes a trace of its events (220 to 330 bytes each), it takes seven to nine times what
# it took to record them: measured with torch 2.15, without and with all options.
GROWTH = 8
# The same as a multiple of the file: 5.5 to 7.3.
GROWTH_OF_FILE = 7
# A process that is killed loses no more than this, or one step where that is longer.
LONGEST_NS = 60_000_000_000
# A ring has this many pieces, of no less than this length.
PIECES_OF_RING = 4
SHORTEST_NS = 250_000_000


class Pieces:
    """Asked between two steps, or now and again where there are none."""

    def __init__(self, options: Options) -> None:
        self._memory = options.torch_memory
        self.longest_ns = LONGEST_NS
        if options.last_ns is not None:
            self.longest_ns = max(SHORTEST_NS, options.last_ns // PIECES_OF_RING)
        # Memory per step, by the size of the latest trace: the process's growth is also its own.
        self._per_step: int | None = None
        self.begin()

    def begin(self) -> None:
        """Recording begins here."""
        self._resident = resident_bytes()
        self._began_ns = monotonic_ns()

    def is_full(self, steps: int) -> bool:
        """Whether the trace is to be written now, after so many recorded steps: it has become
        long, or is likely to pass the limit of memory with the next step."""
        if monotonic_ns() - self._began_ns >= self.longest_ns:
            return True
        if self._per_step is not None:
            return self._per_step * (steps + 1) > self._memory
        return self.held() * (steps + 1) > self._memory * max(1, steps)

    def is_too_large(self) -> bool:
        """The same for a recording without steps."""
        return self.held() > self._memory

    def held(self) -> int:
        """What making the trace is estimated to take, bytes."""
        return GROWTH * max(0, resident_bytes() - self._resident)

    def written(self, path: str, steps: int) -> None:
        """A trace of so many steps is in the file."""
        if steps > 0:
            self._per_step = GROWTH_OF_FILE * os.path.getsize(path) // steps
