"""What the launcher asked for: FATHOM_OPTIONS, with a default for every key."""

from __future__ import annotations

import os

from . import small_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEFAULT_MEMORY = 256 << 20
DEFAULT_TORCH_MEMORY = 2 << 30


def is_of_functions(extra: str) -> bool:
    """functions, functions=c, functions=calls:50us."""
    return extra.partition("=")[0] == "functions"


class Schedule:
    """Which steps are profiled: as torch.profiler.schedule; repeat 0 goes on to the end."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.wait = max(0, int(given.get("wait", 1)))
        self.warmup = max(0, int(given.get("warmup", 1)))
        self.active = max(1, int(given.get("active", 3)))
        self.repeat = max(0, int(given.get("repeat", 1)))
        self.skip_first = max(0, int(given.get("skip_first", 0)))

    def is_default(self) -> bool:
        """Nobody asked for particular steps, so that they may be adapted to the program."""
        return self.as_tuple() == (1, 1, 3, 1, 0)

    def as_tuple(self) -> tuple[int, ...]:
        return (self.wait, self.warmup, self.active, self.repeat, self.skip_first)


class Options:
    def __init__(self, given: dict[str, Any] | None = None) -> None:
        given = given or {}
        self.extras: frozenset[str] = frozenset(given.get("with") or ())
        self.steps = Schedule(given.get("steps") or {})
        self.step_by = str(given.get("step_by") or "auto")
        self.delay_ns = int(float(given.get("delay_s") or 0) * 1e9)
        duration = given.get("duration_s")
        self.duration_ns = None if duration is None else int(float(duration) * 1e9)
        self.range: str | None = given.get("range") or None
        self.on_signal: str | None = given.get("on_signal") or None
        self.from_start = bool(given.get("from_start", True))
        self.max_memory = int(given.get("max_memory_bytes") or DEFAULT_MEMORY)
        # What torch.profiler may take for its events and their trace.
        asked = self.max_memory != DEFAULT_MEMORY
        self.torch_memory = self.max_memory if asked else DEFAULT_TORCH_MEMORY
        self.max_size = int(given.get("max_size_bytes") or 4294967296)
        last = given.get("last_s")
        self.last_ns = None if last is None else int(float(last) * 1e9)
        # How long calls are that are recorded one by one; None: none is.
        least = given.get("least_call_ns")
        self.least_call_ns = None if least is None else max(0, int(least))
        # What --with lines watches beside the program's own code, and what it keeps of its text.
        self.lines_of = tuple(str(name) for name in given.get("lines_of") or ())
        self.sources = str(given.get("sources") or "on")
        self.overhead = bool(given.get("overhead", True))
        # libfathom_cuda.so holds CUPTI, of which torch.profiler may not take it away.
        self.cuda_elsewhere = bool(given.get("cuda_beside_torch"))

    def with_functions(self) -> bool:
        return any(is_of_functions(extra) for extra in self.extras)

    def on_demand(self) -> bool:
        """Recording waits for the program or a signal to ask for it."""
        return not self.from_start or self.on_signal is not None


def from_environment() -> Options:
    """The options of this process; the defaults where they cannot be read."""
    text = os.environ.get("FATHOM_OPTIONS")
    if not text or text == "{}":
        return Options()
    try:
        given = small_json.loads(text)
        return Options(given if isinstance(given, dict) else None)
    except (ValueError, TypeError):
        return Options()
