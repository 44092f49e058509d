"""Names of the torch traces of a session: torch-<pid>-<n>.pt.trace.json, n from 1, never half
written."""

from __future__ import annotations

import os
import time


class Target:
    def __init__(self, temporary: str, path: str, number: int) -> None:
        self.temporary = temporary
        self.path = path
        self.number = number
        self.ended_ns = time.monotonic_ns()

    def publish(self) -> None:
        os.replace(self.temporary, self.path)

    def discard(self) -> None:
        for path in (self.temporary, self.path):
            if os.path.exists(path):
                os.remove(path)


class Traces:
    def __init__(self, session: str) -> None:
        self._session = session
        self._number = 0
        self.targets: list[Target] = []
        # Those that --last gave up.
        self.discarded = 0

    def next(self) -> Target:
        self._number += 1
        number = self._number
        name = f"torch-{os.getpid()}-{number}"
        temporary = os.path.join(self._session, name + ".partial")
        path = os.path.join(self._session, name + ".pt.trace.json")
        self.targets.append(Target(temporary, path, number))
        return self.targets[-1]

    def discard_last(self) -> None:
        self._number -= 1
        self.targets.pop().discard()

    def discard_older(self, length_ns: int) -> None:
        """Removes what ended longer ago than that; the newest stays in any case."""
        since = time.monotonic_ns() - length_ns
        while len(self.targets) > 1 and self.targets[0].ended_ns < since:
            self.targets.pop(0).discard()
            self.discarded += 1

    def bytes(self) -> int:
        return sum(os.path.getsize(t.path) for t in self.targets if os.path.exists(t.path))
