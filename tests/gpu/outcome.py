"""What a part of the GPU check found: single checks, numbers, and how it ended.

A report is written after each check, so that a part which is stopped leaves what it had found.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

PASSED, FAILED, NOT_POSSIBLE = "passed", "failed", "not possible"
# Exit codes of the whole check.
EXIT_OF = {PASSED: 0, FAILED: 1, NOT_POSSIBLE: 3}


@dataclass
class Check:
    name: str
    state: str
    detail: str = ""
    expected: str = ""
    got: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


def compared(name: str, right: bool, expected: object, got: object, **facts: Any) -> Check:
    """Facts are what explains a difference."""
    wanted, came = (str(each) or "nothing" for each in (expected, got))
    return Check(name, PASSED if right else FAILED, f"{came}, expected {wanted}", wanted, came, facts)


@dataclass
class Report:
    """`file`: where it is kept up to date; None keeps it in memory."""

    part: str
    file: Path | None = None
    checks: list[Check] = field(default_factory=list)
    numbers: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def compare(
        self, name: str, expected: object, got: object, right: bool | None = None, **facts: Any
    ) -> bool:
        """`right` where the two need not be equal. Facts are what explains a difference."""
        right = expected == got if right is None else right
        self._add(compared(name, right, expected, got, **facts))
        return right

    def failed(self, name: str, detail: str, expected: str = "no failure") -> None:
        self._add(Check(name, FAILED, detail, expected, detail))

    def not_possible(self, name: str, reason: str) -> None:
        self._add(Check(name, NOT_POSSIBLE, reason))

    def number(self, name: str, value: Any) -> None:
        """A fact that nothing is expected of."""
        self.numbers[name] = value
        self.save()

    @property
    def state(self) -> str:
        return state_of([check.state for check in self.checks])

    @property
    def reason(self) -> str:
        """One line: what failed, else what was not possible, else how much was checked."""
        for state in (FAILED, NOT_POSSIBLE):
            found = [check for check in self.checks if check.state == state]
            if found and (state == FAILED or self.state == state):
                more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
                return f"{found[0].name}: {found[0].detail}{more}"
        left_out = sum(check.state == NOT_POSSIBLE for check in self.checks)
        done = sum(check.state == PASSED for check in self.checks)
        return f"{done} checks" + (f", {left_out} not possible" if left_out else "")

    def document(self) -> dict[str, Any]:
        return {
            "part": self.part,
            "state": self.state,
            "reason": self.reason,
            "seconds": round(self.seconds, 1),
            "checks": [asdict(check) for check in self.checks],
            "numbers": self.numbers,
        }

    def save(self) -> None:
        if self.file is None:
            return
        text = json.dumps(self.document(), indent=1, ensure_ascii=False)
        scratch = self.file.with_suffix(".new")
        scratch.write_text(text + "\n")
        scratch.replace(self.file)

    @staticmethod
    def load(part: str, file: Path) -> Report:
        """What was saved; an empty report where nothing readable was."""
        report = Report(part)
        try:
            document = json.loads(file.read_text())
        except (OSError, ValueError):
            return report
        report.checks = [Check(**check) for check in document["checks"]]
        report.numbers = document["numbers"]
        return report

    def _add(self, check: Check) -> None:
        self.checks.append(check)
        self.save()


def state_of(states: list[str]) -> str:
    """Failed if anything failed; not possible if nothing was; else passed."""
    if FAILED in states:
        return FAILED
    return PASSED if PASSED in states else NOT_POSSIBLE


def state_of_parts(states: list[str]) -> str:
    """Of several parts: passed only if each was possible and passed."""
    for state in (FAILED, NOT_POSSIBLE):
        if state in states:
            return state
    return PASSED if states else NOT_POSSIBLE
