#!/usr/bin/env python3
"""Measures what the recorder costs a short Python program: processor time with it and without.

    tools/measure_hook.py [--pairs 50] [--python PYTHON]

Each pair runs `python -c pass` once with the hook on PYTHONPATH and once without, in turns.
`recorded` has a session folder, `other` has none. In a `first process` nobody has compiled the hook
before; `without bytecode` has PYTHONDONTWRITEBYTECODE set. Processor time is what wait4 says, user
and system.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

HOOK = pathlib.Path(__file__).resolve().parents[1] / "python/fathom_hook"


def processor_ms(python: str, environment: dict[str, str]) -> float:
    """Of one start of Python that does nothing."""
    pid = os.fork()
    if pid == 0:
        os.execve(python, [python, "-c", "pass"], environment)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise SystemExit(f"{python} ended with {status}")
    return 1e3 * (usage.ru_utime + usage.ru_stime)


class Case:
    """One way to start Python."""

    def __init__(self, session: bool = True, fresh: bool = False, bytecode: bool = True) -> None:
        self.session = session
        self.fresh = fresh
        self.bytecode = bytecode

    def differences(self, python: str, pairs: int) -> list[float]:
        base = {k: v for k, v in os.environ.items() if not k.startswith(("FATHOM_", "PYTHON"))}
        if not self.bytecode:
            base["PYTHONDONTWRITEBYTECODE"] = "1"
        folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-hook-"))
        found = []
        for number in range(pairs + 1):
            hook = folder / (f"hook-{number}" if self.fresh else "hook")
            if not hook.exists():
                shutil.copytree(HOOK, hook, ignore=shutil.ignore_patterns("__pycache__"))
            hooked = {**base, "PYTHONPATH": str(hook)}
            if self.session:
                hooked["FATHOM_SESSION"] = tempfile.mkdtemp(dir=folder)
            runs = [(hooked, 1), (base, -1)]
            if number % 2:
                runs.reverse()
            found.append(sum(sign * processor_ms(python, one) for one, sign in runs))
        shutil.rmtree(folder)
        return found[1:]  # the first warms files up


CASES = {
    "recorded": Case(),
    "recorded, without bytecode": Case(bytecode=False),
    "recorded, first process": Case(fresh=True),
    "other": Case(session=False),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    for name, case in CASES.items():
        times = case.differences(arguments.python, arguments.pairs)
        quarters = statistics.quantiles(times, n=4)
        print(
            f"{name}: {statistics.median(times):.1f} ms of processor time "
            f"(middle half {quarters[0]:.1f} to {quarters[2]:.1f}, {len(times)} pairs)"
        )


if __name__ == "__main__":
    main()
