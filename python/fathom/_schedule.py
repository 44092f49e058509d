"""Which steps are recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from fathom._errors import FathomError

Phase = Literal["none", "warmup", "record", "record_and_save"]


@dataclass(frozen=True)
class Schedule:
    """Skips, then waits, warms up and records in turn; see schedule().

    torch.profiler takes it as its own: profile(schedule=fathom.schedule(...)).
    """

    wait: int
    warmup: int
    active: int
    repeat: int = 0
    skip_first: int = 0

    def __post_init__(self) -> None:
        if min(self.wait, self.warmup, self.repeat, self.skip_first) < 0 or self.active < 1:
            raise FathomError(
                "schedule: active is at least 1, and nothing is below 0; "
                f"got wait={self.wait}, warmup={self.warmup}, active={self.active}, "
                f"repeat={self.repeat}, skip_first={self.skip_first}"
            )

    @property
    def first_trace_after(self) -> int:
        """Steps until the first recording is complete."""
        return self.skip_first + self.wait + self.warmup + self.active

    def phase(self, step: int) -> Phase:
        """What happens in that step, from 0."""
        step -= self.skip_first
        cycle = self.wait + self.warmup + self.active
        if step < 0 or (self.repeat > 0 and step >= self.repeat * cycle):
            return "none"
        step %= cycle
        if step < self.wait:
            return "none"
        if step < self.wait + self.warmup:
            return "warmup"
        return "record" if step < cycle - 1 else "record_and_save"

    def __call__(self, step: int) -> Any:
        """The same as torch.profiler.ProfilerAction."""
        from torch.profiler import ProfilerAction

        return ProfilerAction[self.phase(step).upper()]


def schedule(
    *, wait: int = 1, warmup: int = 1, active: int = 3, repeat: int = 1, skip_first: int = 0
) -> Schedule:
    """Leaves out `skip_first` steps; then `wait` steps rest, `warmup` run with the profiler on but
    nothing kept, `active` are recorded; that `repeat` times, 0 for as long as the program runs."""
    return Schedule(wait, warmup, active, repeat, skip_first)
