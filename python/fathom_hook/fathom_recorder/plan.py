"""Decides at each step whether torch.profiler is to run: the schedule that was asked for, or one
that suits the program."""

from __future__ import annotations

from typing import Callable

from .options import Options, is_of_functions

# A step longer than this is recorded without a step of warm-up, and alone.
LONG_STEP_NS = 5_000_000_000
# Steps that compile are not recorded, but not for ever.
MOST_COMPILING = 20
# The cost of each option is measured where two more steps of it take no longer than this.
MEASURED_STEP_NS = 2_000_000_000
MEASURED_STEPS = 2
# Steps without a profiler after each window: they are what the next one is compared with.
STEPS_BETWEEN = 2
FAR = 1 << 40


class Window:
    """A stretch of steps to profile."""

    def __init__(self, warmup: int, active: int, extras: tuple[str, ...], kept: bool) -> None:
        self.warmup = warmup
        self.active = active
        self.extras = extras
        self.kept = kept

    def kind(self) -> str:
        """What its steps are called in the accounts of overhead."""
        return "+".join(self.extras) or "plain"


class Plan:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._steps = options.steps
        self.extras = tuple(
            sorted(e for e in options.extras if e != "lines" and not is_of_functions(e))
        )
        # A ring goes on to the end, in pieces.
        self._ring = options.steps.is_default() and options.last_ns is not None
        self.adaptive = options.steps.is_default() and options.duration_ns is None
        self._wait = self._steps.skip_first + self._steps.wait
        self._cycles = 0
        self._compiling = 0
        self._last_compiles = 0
        self._was_long = False
        self._asked = not options.on_demand()
        self._unbounded = False
        self._measurements: list[tuple[str, ...]] = []
        if options.overhead and not options.on_demand():
            self._measurements = [()] + [(one,) for one in self.extras]
        self._rest = 0
        self.still_compiling = False
        self.ended = False

    def ask(self) -> None:
        """The program or a signal wants the recording to begin now."""
        self._asked = True
        self.ended = False
        self.adaptive = False
        self._cycles = 0
        self._wait = 0
        self._unbounded = True

    def window(
        self, duration: int, compiles: int, age_ns: int, plain: Callable[[], int | None]
    ) -> Window | None:
        """The window that begins after a step of `duration`, in which torch.compile has compiled
        `compiles` times in all.

        `age_ns` is the process's, `plain` gives the median of steps that were not profiled.
        """
        compiled = compiles > self._last_compiles
        self._last_compiles = compiles
        if self.ended:
            self._rest -= 1
            return self._measurement(plain) if self._rest < 0 else None
        if not self._asked or age_ns < self._options.delay_ns or self._too_late(age_ns):
            return None
        if self._wait > 0:
            self._wait -= 1
            if self._wait > 0 or self._steps.warmup + self._steps.wait == 0:
                return None
        if compiled and self.adaptive and self._compiling < MOST_COMPILING:
            self._compiling += 1
            return None
        if self.adaptive and duration > LONG_STEP_NS and not self._was_long:
            # A first step is long for reasons of its own; the next one decides.
            self._was_long = True
            return None
        self.still_compiling = compiled
        return self._main(duration)

    def heed_compiles(self, compiles: int) -> None:
        """In a window that is open: how often torch.compile has compiled by now."""
        self.still_compiling = self.still_compiling or compiles > self._last_compiles
        self._last_compiles = compiles

    def _main(self, duration: int) -> Window:
        if self._ring:
            return Window(self._steps.warmup, FAR, self.extras, True)
        if self.adaptive and duration > LONG_STEP_NS:
            return Window(0, 1, self.extras, True)
        active = self._steps.active
        if self._options.duration_ns is not None or self._unbounded:
            active = 1 << 40
        return Window(self._steps.warmup, active, self.extras, True)

    def over(self, window: Window) -> None:
        """The window was recorded."""
        self._rest = STEPS_BETWEEN
        if not window.kept:
            return
        self._cycles += 1
        self._wait = self._steps.wait
        if 0 < self._steps.repeat <= self._cycles or self._unbounded:
            self.ended = True
            self._asked = self._asked and not self._unbounded

    def _too_late(self, age_ns: int) -> bool:
        duration = self._options.duration_ns
        return duration is not None and age_ns >= self._options.delay_ns + duration

    def runs_out(self, age_ns: int) -> bool:
        """Whether a window that is open must end now."""
        return self._too_late(age_ns)

    def _measurement(self, plain: Callable[[], int | None]) -> Window | None:
        """After what was asked for, short windows that show what each option costs; their traces
        are thrown away."""
        typical = plain()
        if not self._measurements or typical is None or typical > MEASURED_STEP_NS:
            self._measurements = []
            return None
        return Window(1, MEASURED_STEPS, self._measurements.pop(0), False)

    def is_idle(self) -> bool:
        """Nothing more is to be recorded, unless the program asks again."""
        return self.ended and not self._measurements

    def far_steps(self, age_ns: int) -> int:
        """How many of the next steps are sure not to be recorded, unless the program asks."""
        if self.is_idle() or not self._asked:
            return FAR
        if self.ended:
            return 0
        return FAR if age_ns < self._options.delay_ns else max(0, self._wait - STEPS_BETWEEN)

    def skip(self, steps: int) -> None:
        """So many steps have passed since `window` was asked."""
        if self._asked and not self.ended:
            self._wait = max(0, self._wait - steps)

    def first_step(self) -> int:
        """The first step that can be profiled, for messages."""
        return self._steps.skip_first + self._steps.wait + self._steps.warmup
