"""memory-<pid>.json: what torch's allocator (without a GPU, the process) holds after each phase
of a step."""

from __future__ import annotations

import json
import os
from typing import Any

from .failures import note, quietly
from .process import resident_bytes

SCHEMA = "fathom-memory/1"
# All of the first steps are looked at, later each tenth.
_STEPS = 50
_EVERY = 10
_HISTORY = 100_000

_STATISTICS = {
    "allocated_bytes": "allocated_bytes.all.current",
    "allocated_peak_bytes": "allocated_bytes.all.peak",
    "reserved_bytes": "reserved_bytes.all.current",
    "reserved_peak_bytes": "reserved_bytes.all.peak",
    "active_bytes": "active_bytes.all.current",
    "inactive_split_bytes": "inactive_split_bytes.all.current",
    "retries": "num_alloc_retries",
    "ooms": "num_ooms",
}


class TorchMemory:
    def __init__(self, torch: Any, session: str) -> None:
        self._cuda = torch.cuda
        self._session = session
        self._phases: dict[str, dict[str, dict[str, int]]] = {}
        self._step = 0
        self._history = False
        self._device: bool | None = None

    def step(self, number: int) -> None:
        self._step = number
        self.phase("step")

    @quietly
    def phase(self, name: str) -> None:
        """`name` of the current step is over."""
        if self._step > _STEPS and self._step % _EVERY:
            return
        rows = self._phases.setdefault(name, {})
        for key, value in self._now().items():
            row = rows.setdefault(key, {"last": value, "max": value, "samples": 0})
            row["last"] = value
            row["max"] = max(row["max"], value)
            row["samples"] += 1

    def _now(self) -> dict[str, int]:
        found = {"resident_bytes": resident_bytes()}
        if self._cuda.is_available() and self._cuda.is_initialized():
            self._device = True
            said = self._cuda.memory_stats()
            found.update({name: said.get(key, 0) for name, key in _STATISTICS.items()})
        return found

    @quietly
    def begin_history(self) -> None:
        if self._cuda.is_available() and self._cuda.is_initialized():
            self._cuda.memory._record_memory_history(max_entries=_HISTORY)
            self._history = True

    @quietly
    def end_history(self, number: int) -> None:
        if self._history:
            self._history = False
            name = f"memory-{os.getpid()}-{number}.pickle"
            self._cuda.memory._dump_snapshot(os.path.join(self._session, name))
            self._cuda.memory._record_memory_history(enabled=None)

    @quietly
    def write(self) -> None:
        if not self._phases:
            return
        if not self._device:
            note(
                "torch's allocator statistics",
                "no CUDA device was used; phases have the process's resident memory",
            )
        path = os.path.join(self._session, f"memory-{os.getpid()}.json")
        document = {"schema": SCHEMA, "pid": os.getpid(), "phases": self._phases}
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
        os.replace(path + ".new", path)
