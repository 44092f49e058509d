"""One function that is known to be on one thread's stack: who reads stacks from outside compares what
it reads with that before it believes anything.

It stands in a page of memory that has a name, so that it is found without a file.
"""

from __future__ import annotations

import os
import struct
import sys

from .wire import get_native_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

NAME = "fathom-canary"
# MARK, the thread's number, the address of the code object; src/sample/canary.cc reads it.
MARK = b"fathomCA"


class Canary:
    def __init__(self) -> None:
        self._page = None
        try:
            import mmap

            file = os.memfd_create(NAME)
            try:
                os.ftruncate(file, mmap.PAGESIZE)
                # To 3.12 it keeps a descriptor, which no program inherits. A forked child has its own.
                kept = {"trackfd": False} if sys.version_info >= (3, 13) else {}
                self._page = mmap.mmap(file, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE, **kept)
            finally:
                os.close(file)
            self._page[:24] = MARK + bytes(16)
        except (AttributeError, ImportError, MemoryError, OSError, ValueError):
            self._page = None

    def show(self, code: CodeType) -> None:
        """From now on this thread is in a call of this function."""
        self._put(get_native_id(), id(code))

    def hide(self) -> None:
        """Nobody is in it."""
        self._put(0, 0)

    def _put(self, thread: int, code: int) -> None:
        if self._page is None:
            return
        try:
            self._page[8:24] = struct.pack("<QQ", thread, code)
        except MemoryError:  # the thread that says it goes on
            pass
