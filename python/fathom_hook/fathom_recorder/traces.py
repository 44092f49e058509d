"""Names of the torch traces of a session: torch-<pid>-<n>.pt.trace.json, n from 1, never half
written."""

from __future__ import annotations

import os


class Target:
    def __init__(self, temporary: str, path: str, number: int) -> None:
        self.temporary = temporary
        self.path = path
        self.number = number

    def publish(self) -> None:
        os.replace(self.temporary, self.path)

    def discard(self) -> None:
        for path in (self.temporary, self.path):
            if os.path.exists(path):
                os.remove(path)


class Traces:
    def __init__(self, session: str) -> None:
        self._session = session
        self.targets: list[Target] = []

    def next(self) -> Target:
        number = len(self.targets) + 1
        name = f"torch-{os.getpid()}-{number}"
        temporary = os.path.join(self._session, name + ".partial")
        path = os.path.join(self._session, name + ".pt.trace.json")
        self.targets.append(Target(temporary, path, number))
        return self.targets[-1]

    def discard_last(self) -> None:
        self.targets.pop().discard()

    def bytes(self) -> int:
        return sum(os.path.getsize(t.path) for t in self.targets if os.path.exists(t.path))
