#!/usr/bin/env python3
"""Programs whose memory runs out at each allocation of the recorder of Python in turn: they end as
they would, and what was recorded can be read."""

from __future__ import annotations

import collections
import os
import pathlib
import pstats
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Any

sys.path.insert(0, os.path.dirname(__file__))
from captured import FATHOM, PROGRAMS, PYTHON_LIBRARY, Captures, Run

# Each allocation of the first ones, in which all begins, and some of those that follow.
FIRST = 12
FURTHER = 6

# What the program calls, and how many lines run in these and in generate().
CALLS = {"leaf": 200, "recurse": 484, "work": 4, "make": 600}
LINES = 200 + 4 * 242 + 4 * 303 + 600 * 3 + 4 * 101


def recorded(run: Run) -> dict[str, int]:
    """Calls of the program's functions, or how often its lines ran."""
    counts = collections.Counter[str]()
    pid = run.process()["pid"]
    profile = run.folder / f"functions-{pid}.prof"
    if profile.exists():
        stats: Any = pstats.Stats(str(profile))
        for (_, _, name), row in stats.stats.items():
            if name in CALLS:
                counts[name] += row[1]
    for kind, fields in run.records(pid):
        if kind == "line" and fields[1].endswith("/starved.py"):
            counts["lines"] += fields[6]
    return dict(counts)


class Starved(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]

    @classmethod
    def setUpClass(cls) -> None:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None or not PYTHON_LIBRARY.exists():
            raise unittest.SkipTest("no compiler, or no library of the recorder")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.preloaded = pathlib.Path(cls.folder.name) / "starving.so"
        source = str(PROGRAMS / "starving_library.c")
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-O1", "-Wall", source, "-o", str(cls.preloaded)],
            check=True,
        )

    def run_starved(self, options: dict[str, Any], at: int, **more: str) -> tuple[int, int]:
        """How many allocations there were, and how many failed."""
        captures = Captures(library=PYTHON_LIBRARY)
        self.addCleanup(captures.close)
        report = pathlib.Path(self.folder.name) / "report"
        report.unlink(missing_ok=True)
        run = captures.run(
            "starved.py",
            options=options,
            LD_PRELOAD=str(self.preloaded),
            STARVE_AT=str(at),
            STARVE_REPORT=str(report),
            **more,
        )
        where = f"allocation {at} of {options} {more}: {run.err}"
        self.assertEqual((run.code, run.out), (7, "done\n"), where)
        self.assertNotIn("Traceback", run.err, where)
        read = subprocess.run(
            [FATHOM, "health", str(run.folder), "--json"], capture_output=True, text=True
        )
        self.assertIn(read.returncode, (0, 1), where + read.stderr)
        allocations, failed = map(int, report.read_text().split())
        # What a recording lacks, it names, by the word that it was asked for with.
        self.said = run.process()["not_recorded"]
        for note in self.said:
            self.assertRegex(note["what"], r"^[a-z ]+$", where)
            self.assertIn("memory", note["why"], where)
            self.assertRegex(note["remedy"], "memory|^$", where)
        report = options["with"][0]
        table = subprocess.run(
            [FATHOM, report, str(run.folder)], capture_output=True, text=True, check=True
        ).stdout
        if "no rows" in table and any(note["what"] == report for note in self.said):
            self.assertIn(f"holds no profile of {report}: memory", " ".join(table.split()), where)
            self.refusals += 1
        if self.whole is not None and run.not_recorded() == "[]":
            self.assertEqual(recorded(run), self.whole, where)
        if at == 0:
            self.whole = recorded(run)
        return allocations, failed

    def survives(self, options: dict[str, Any]) -> dict[str, int]:
        """What is recorded where memory suffices."""
        self.whole: dict[str, int] | None = None
        self.refusals = 0
        allocations, failed = self.run_starved(options, 0)
        self.assertGreater(allocations, 3)
        self.assertEqual(failed, 0)
        numbers = list(range(1, min(FIRST, allocations) + 1))
        numbers += range(FIRST + 1, allocations + 1, max(1, (allocations - FIRST) // FURTHER))
        for at in numbers:
            with self.subTest(at=at):
                self.run_starved(options, at)
        for at in (1, 2, 3, allocations // 2):
            with self.subTest(all_from=at):
                _, failed = self.run_starved(options, at, STARVE_ALL="1")
                self.assertGreater(failed, 0)
                self.assertTrue(self.said)
        self.assertGreater(self.refusals, 0)
        assert self.whole is not None
        return self.whole

    def test_a_profile_of_functions(self) -> None:
        self.assertEqual(self.survives({"with": ["functions", "functions=c"]}), CALLS)

    def test_a_profile_of_lines(self) -> None:
        # Those of the module are about thirty.
        self.assertGreater(self.survives({"with": ["lines"]})["lines"], LINES)


if __name__ == "__main__":
    unittest.main()
