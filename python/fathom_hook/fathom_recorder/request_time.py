"""What threads do in the requests they answer: compute, wait, or are ready and have no processor.

Both readings of a request cost some microseconds, so that of many requests every eighth is read.
"""

from __future__ import annotations

import _thread

from .thread_time import Looks, TimeSums, queued_ns, thread_time_ns
from .wire import get_native_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Tuple

    # Processor time; time ready without one where the system tells; where it was seen waiting.
    Spent = Tuple[int, "int | None", "Looks | None"]
else:
    Spent = tuple

# So many are read one by one …
_EACH = 400
# … and then one of so many.
_ONE_OF = 8


class RequestTime:
    """`begin` and `end` are called by the threads that serve, `look` by ours."""

    def __init__(self) -> None:
        self._begun = 0
        # By the thread: its id of the system, and the looks at it since its request began.
        self._active: dict[int, tuple[int, Looks]] = {}
        self._looks = Looks()
        self._lock = _thread.allocate_lock()
        self._sums = TimeSums()

    def begin(self, at_once: bool = True) -> Spent | None:
        """What `end` wants, unless this request is not read. `at_once`: the thread works on nothing
        else, so looks at it are of this one; else they are of the one before until `heed`."""
        begun = self._begun = self._begun + 1  # threads may lose some; no harm
        if begun > _EACH and begun % _ONE_OF:
            return None
        tid = get_native_id()
        active = tid, Looks()
        if at_once:
            self._active[_thread.get_ident()] = active
        else:
            self._active.setdefault(_thread.get_ident(), active)
        queued = queued_ns(tid)
        return thread_time_ns(), queued, active[1]

    def heed(self, base: Spent | None) -> None:
        """From now on looks at the calling thread are of this request."""
        if base is not None and base[2] is not None:
            self._active[_thread.get_ident()] = get_native_id(), base[2]

    def end(self, base: Spent | None) -> Spent | None:
        spent = self.so_far(base)
        self.forget(base)
        return spent

    def forget(self, base: Spent | None) -> None:
        """Looks at the calling thread are of this request no more."""
        active = self._active.get(_thread.get_ident())
        if active is not None and base is not None and active[1] is base[2]:
            del self._active[_thread.get_ident()]

    def so_far(self, base: Spent | None) -> Spent | None:
        if base is None:
            return None
        processor = thread_time_ns() - base[0]
        queued = queued_ns(get_native_id())
        if queued is None or base[1] is None:
            return processor, None, base[2]
        return processor, queued - base[1], base[2]

    def add(self, wall: int, spent: Spent | None, recorded: bool) -> None:
        """A request is over."""
        if spent is None:
            return
        with self._lock:
            queued = None if spent[1] is None else min(spent[1], wall)
            self._sums.add(recorded, 1, wall, min(spent[0], wall), queued)
            if spent[2] is not None:
                self._looks.add(spent[2])

    def look(self) -> None:
        """Where threads are that wait. What they work on may turn out to be no request."""
        for ident, (tid, looks) in list(self._active.items()):
            looks.look(ident, tid)

    def facts(self) -> dict[str, Any]:
        return self._sums.facts(self._looks)
