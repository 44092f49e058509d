"""crash-<pid>.txt: where each thread was when native code crashed.

The interpreter writes it by itself (faulthandler), from within the signal; nothing of ours runs
then. A program that asks for this itself has it as it asked.
"""

from __future__ import annotations

import faulthandler
import os

from .failures import quietly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Crashes:
    def __init__(self) -> None:
        self._file: Any = None

    @quietly
    def begin(self, session: str) -> None:
        """Once for each process: a forked child has a file of its own."""
        if self._file is None and faulthandler.is_enabled():
            return
        before, self._file = self._file, None
        file = open(os.path.join(session, f"crash-{os.getpid()}.txt"), "w")
        faulthandler.enable(file)
        self._file = file
        if before is not None:
            before.close()

    @quietly
    def end(self) -> None:
        """The process is about to end well."""
        if self._file is not None and os.fstat(self._file.fileno()).st_size == 0:
            os.unlink(self._file.name)
