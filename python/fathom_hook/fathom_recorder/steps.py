"""Finds the steps of a program from what it calls. Knows nothing of torch.

An optimizer's step (or a call of the outermost module, in inference) makes a step *due*; it ends
at the next sign that another one begins: a batch is fetched, the outermost module is called, an
annotation begins or ends. So what a loop does after its optimizer (reading the loss, say) belongs
to the step, and no annotation is cut in two. A program that gives no such sign has its steps end
where they become due.

A sign is *quiet* where nothing can be learnt: gradients are off, or the model that learns is in
evaluation mode. What is quiet from the end of a step on is an evaluation, which belongs to no
step: the next one begins with the first sign that is not. Inside a step nothing is cut out; so a
module that is called without gradients in every step (a teacher, a generator) is part of it.
"""

from __future__ import annotations

import time
from typing import Any, Callable

monotonic_ns = time.monotonic_ns

# An optimizer is waited for in each round, until another has stepped this often without it: one
# that has stepped before, one that was only made.
MISSED_STEPPER = 16
MISSED_NEWCOMER = 3
# So many calls of a module without a step of the optimizer that was made mean inference.
CALLS_WITHOUT_STEP = 200
# The first module called is what steps are counted by, until another is called this often instead:
# while the first was called once, and later.
CALLS_OF_OTHER_EARLY = 3
CALLS_OF_OTHER = 100

# How quiet a sign is. OTHER: gradients are off, for a module that is not known to learn.
LOUD, OTHER, NO_GRADIENTS, EVALUATION = range(4)
# Signs that are no calls of modules, where keys of modules are kept.
_FETCH, _ANNOTATION, _MODE = -1, -2, -3


def _ignore(*_: int) -> None:
    """Nobody asked."""


class Steps:
    """`on_step(number, start, end)` is called between steps, `on_evaluation(begin, end)` after an
    evaluation, `on_begin()` where a step begins that follows no other; their own time belongs to no
    step."""

    def __init__(
        self,
        step_by: str,
        on_step: Callable[[int, int, int], None],
        on_evaluation: Callable[[int, int], None] = _ignore,
        on_begin: Callable[[], None] = _ignore,
    ) -> None:
        self._fixed = step_by != "auto"
        # What steps are counted by; None while it is not known.
        self.source: str | None = step_by if self._fixed else None
        self._on_step = on_step
        self._on_evaluation = on_evaluation
        self._on_begin = on_begin
        self.number = 0
        # Since when the program evaluates; None while it does not.
        self.evaluating: int | None = None
        # What was quiet inside this step, and inside the one before.
        self._quiet: set[int] = set()
        self._quiet_before: set[int] = set()
        self.due = False
        self._without_sign = False
        self._signs = 0
        self._signs_at_due = 0
        self.start: int | None = None
        self._made: set[int] = set()
        self._stepped: set[int] = set()
        self._round: dict[int, int] = {}
        self._leader: int | None = None
        self._leader_calls = 0
        self._other_calls: dict[int, int] = {}
        self._calls = 0

    # Signs that a step begins

    def fetch(self, quiet: int = LOUD) -> None:
        """The loop asks a data loader for a batch."""
        if self.source == "loader" and self.start is not None:
            self._end(monotonic_ns())
        else:
            self._sign(quiet, _FETCH)

    def begins(self, quiet: int = LOUD) -> None:
        """A data loader is asked for an iterator."""
        if self.source != "loader":
            self._sign(quiet, _FETCH)

    def module_begin(self, key: int, quiet: int = LOUD) -> None:
        """The outermost module is called."""
        if self.source == "module" and self._leader is not None and key != self._leader:
            return
        self._sign(quiet, key)

    def annotation(self, quiet: int = LOUD) -> None:
        """An outermost annotation begins or ends."""
        if self.source != "module":
            self._sign(quiet, _ANNOTATION)

    def mode_set(self, quiet: int) -> None:
        """The program has changed modules to evaluation mode."""
        if quiet == EVALUATION and self.evaluating is None and self._is_between():
            self._sign(quiet, _MODE)

    def _sign(self, quiet: int, key: int) -> None:
        between = self._is_between()
        self._signs += 1
        evaluates = quiet != LOUD and self._evaluates(quiet, key, between)
        now = monotonic_ns()
        if evaluates and self.evaluating is None:
            self.evaluating = now
        if self.due:
            self._end(now)
        elif self.start is None:
            self._on_begin()
            self.start = monotonic_ns()
        if quiet != LOUD and not evaluates:
            self._quiet.add(key)
        elif quiet == LOUD and self.evaluating is not None:
            self._learn_again()

    def _is_between(self) -> bool:
        """Whether an optimizer has stepped and nothing else has happened since."""
        if self.source is None:  # validation comes first
            return self.number == 0 and not self._signs and bool(self._made)
        ended = self._without_sign and self._signs == self._signs_at_due
        return self.source == "optimizer" and (self.due or ended)

    def _evaluates(self, quiet: int, key: int, between: bool) -> bool:
        if self.evaluating is not None:
            return True
        if not between or quiet == OTHER:
            return False
        return quiet == EVALUATION or key not in self._quiet_before

    def _learn_again(self) -> None:
        begin, self.evaluating = self.evaluating, None
        now = monotonic_ns()
        self._on_evaluation(now if begin is None else begin, now)
        self.start = monotonic_ns()

    def _evaluate_no_more(self) -> None:
        """What looked like an evaluation was part of the step: something learnt and was not seen
        to."""
        if self.evaluating is not None:
            self.evaluating = None
            now = monotonic_ns()
            self._on_evaluation(now, now)

    # What makes steps

    def optimizer_made(self, key: int) -> None:
        self._made.add(key)

    def optimizer_done(self, key: int) -> None:
        if self._fixed and self.source != "optimizer" or self.source == "mark":
            return
        if self.source != "optimizer":
            self.source = "optimizer"
            self.due = False
        self._evaluate_no_more()
        self._stepped.add(key)
        self._round[key] = self._round.get(key, 0) + 1
        if self._round_is_complete():
            self._round.clear()
            self._make_due()

    def _round_is_complete(self) -> bool:
        """All optimizers stepped; those that stay away too long are not waited for."""
        most = max(self._round.values())
        if most >= MISSED_STEPPER:
            self._stepped &= self._round.keys()
        if most >= MISSED_NEWCOMER:
            self._made &= self._stepped
        return (self._made | self._stepped) <= self._round.keys()

    def module_done(self, key: int) -> None:
        self._calls += 1
        if self.source is None:
            if self._made and self._calls < CALLS_WITHOUT_STEP:
                return
            self.source = "module"
            self._evaluate_no_more()
        if self.source != "module":
            return
        if self._leader is None:
            self._leader = key
        if key == self._leader:
            self._leader_calls += 1
            self._other_calls.clear()
            self._make_due()
            return
        calls = self._other_calls[key] = self._other_calls.get(key, 0) + 1
        if calls >= (CALLS_OF_OTHER_EARLY if self._leader_calls < 2 else CALLS_OF_OTHER):
            self._leader, self._leader_calls = key, calls
            self._make_due()

    def mark(self) -> None:
        """The program says itself that a step ends."""
        if not self._fixed:
            self.source = "mark"
            self._evaluate_no_more()
        if self.source == "mark":
            self.due = False
            self._end(monotonic_ns())

    def rest(self) -> None:
        """Modules and annotations give no signs any more; fetches of batches do."""
        self._without_sign = True
        self._signs_at_due = self._signs

    def sole(self) -> int:
        """The only optimizer, or the module, by which steps are counted; 0 where it takes more."""
        if self.source == "module":
            return self._leader or 0
        known = self._made | self._stepped
        return next(iter(known)) if self.source == "optimizer" and len(known) == 1 else 0

    def is_asked_for(self) -> bool:
        """Somebody said what a step is."""
        return self._fixed or self.source == "mark"

    def has_optimizer(self) -> bool:
        return bool(self._made or self._stepped)

    def forget(self) -> None:
        """What looked like the beginning of a step was none."""
        self.due = False
        self.start = None

    def ends_at_once(self) -> bool:
        """Whether a step ends where it becomes due, since no other sign has come."""
        return not self.due and self._signs == self._signs_at_due and self._without_sign

    def last(self, now: int) -> None:
        """The program ends: a step that is due is over."""
        if self.due:
            self._end(now)
        elif self.evaluating is not None:
            self._learn_again()

    def _make_due(self) -> None:
        now = monotonic_ns()
        if self.due and self._signs == self._signs_at_due:
            self._without_sign = True
        if self.due or (self._without_sign and self._signs == self._signs_at_due):
            self._end(now)
        else:
            self.due = True
        self._signs_at_due = self._signs

    def _end(self, now: int) -> None:
        self.due = False
        start = self.start
        number = self.number
        self.number += 1
        self._quiet_before, self._quiet = self._quiet, set()
        if start is None:
            start = now
        self._on_step(number, start, now)
        self.start = monotonic_ns()

    def facts(self) -> dict[str, Any]:
        return {"steps": self.number, "step_by": self.source}
