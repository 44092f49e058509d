"""process-<pid>.json: what this process is and how it works. Written anew as a whole when
something is learnt."""

from __future__ import annotations

import os
import sys

from . import failures, small_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

SCHEMA = "fathom-process/1"


class Facts:
    def __init__(self, session: str) -> None:
        self._path = os.path.join(session, f"process-{os.getpid()}.json")
        self._sources: list[Callable[[], dict[str, Any]]] = []
        self.values: dict[str, Any] = {
            "schema": SCHEMA,
            "pid": os.getpid(),
            "python": sys.version.split()[0],
            "implementation": sys.implementation.name,
            "executable": sys.executable,
        }

    def add_source(self, source: Callable[[], dict[str, Any]]) -> None:
        """`source` is asked before each writing for what it knows by then."""
        self._sources.append(source)

    @failures.quietly
    def write(self) -> None:
        for source in self._sources:
            try:
                self.values.update(source())
            except Exception as error:
                failures.note("facts of " + getattr(source, "__qualname__", "?"), repr(error))
        self.values["not_recorded"] = failures.notes()
        text = small_json.dumps(self.values)
        temporary = self._path + ".new"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, self._path)
