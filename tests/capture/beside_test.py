#!/usr/bin/env python3
"""Functions and lines of programs that use greenlets, coverage or Cython: each with an interpreter
that has it, else skipped."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
import unittest
from typing import Any

from captured import PYTHON_LIBRARY, ROOT, Captures, Run, run_together
from functions_test import named, prof_of
from interpreters import interpreters

BOTH: dict[str, Any] = {"with": ["functions", "lines"]}
LINES: dict[str, Any] = {"with": ["lines"]}

GREENLETS = """\
import greenlet

def leaf():
    return 1

def work(other, turns):
    for _ in range(turns):
        leaf()
        other[0].switch()
    return turns

def pair():
    a, b = [None], [None]
    one = greenlet.greenlet(lambda: work(a, 50))
    two = greenlet.greenlet(lambda: work(b, 50))
    a[0], b[0] = two, one
    one.switch()
    two.switch()
    print(one.dead, two.dead)

pair()
leaf()
"""

HUB = """\
import greenlet

ready = []

def loop(turns):
    for _ in range(turns):
        for each in list(ready):
            each.switch()
            if each.dead:
                ready.remove(each)

def sleep(hub):
    hub.switch()

def run(function):
    return function()
"""

WORKS = """\
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "site-packages"))
import greenlet, hub

def helper():
    return 1

def work(turns):
    for _ in range(turns):
        main[0].switch()  # each turn
        helper()  # each turn
        hub.sleep(main[0])  # each turn
        hub.run(helper)  # each turn
    return turns

main = [None]
for _ in range(2):
    hub.run(helper)
    main[0] = greenlet.greenlet(hub.loop)
    made = [greenlet.greenlet(lambda: work(20), main[0]) for _ in range(3)]
    hub.ready.extend(made)
    main[0].switch(70)
    print([each.dead for each in made])
"""

COVERED = """\
def choose(number):
    if number > 1:
        return "many"
    elif number < 0:
        return "never"
    return "few"


def all_of():
    return [choose(number) for number in range(4)]


print(all_of())
"""

COVERING = """\
import coverage, runpy, sys
watch = coverage.Coverage(data_file=None, include=[sys.argv[1]])
watch.start()
runpy.run_path(sys.argv[1])
watch.stop()
_, statements, _, missing, _ = watch.analysis2(sys.argv[1])
print(statements, missing)
"""

CYTHON = """\
def doubled(function, int count):
    cdef int at
    total = 0
    for at in range(count):
        total += function(at) * 2
    return total

class Shape:
    def area(self, function):
        return function(3)
"""

USES_CYTHON = """\
import made

def each(number):
    return number + 1

print(made.doubled(each, 100), made.Shape().area(each))
"""


class Beside(unittest.TestCase):
    """With one interpreter."""

    python = sys.executable
    has_monitoring = sys.version_info >= (3, 12)

    def setUp(self) -> None:
        if not PYTHON_LIBRARY.exists():
            self.skipTest(f"no {PYTHON_LIBRARY.name} beside the program")
        self.captures = Captures(self.python, PYTHON_LIBRARY)
        self.addCleanup(self.captures.close)
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name).resolve()

    def needs(self, module: str) -> None:
        asked = subprocess.run([self.python, "-c", f"import {module}"], capture_output=True)
        if asked.returncode != 0:
            self.skipTest(f"{self.python} has no {module}")

    def program(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def alike(self, *command: str) -> Run:
        """What the program prints and returns is the same with functions and lines and without."""
        bare = subprocess.run(
            [self.python, *command], capture_output=True, text=True, cwd=self.folder
        )
        self.assertEqual(bare.returncode, 0, bare.stderr)
        run = self.captures.run(*command, options=BOTH)
        self.assertEqual((run.code, run.out, run.err), (0, bare.stdout, bare.stderr))
        return run

    def hits(self, run: Run, file: str) -> dict[int, int]:
        """By first line of the statement."""
        rows: dict[int, int] = {}
        for kind, fields in run.records(run.process()["pid"]):
            if kind == "line" and fields[1] == file:
                rows[fields[2]] = rows.get(fields[2], 0) + fields[6]
        return rows

    def test_greenlets_that_switch_are_counted(self) -> None:
        self.needs("greenlet")
        path = self.program("switches.py", GREENLETS)
        run = self.alike(path)
        for what in ("calls ended out of order", "frames went on or ended out of order"):
            self.assertIn(what, run.not_recorded())
        # Each turn calls it once, and the program once.
        stats = prof_of(run)
        self.assertEqual(named(stats, "leaf")[1], 101)
        hits = self.hits(run, path)
        at = GREENLETS.splitlines().index("        leaf()") + 1
        self.assertEqual(hits[at], 100)
        self.assertEqual(hits[at + 1], 100)

    def test_greenlets_of_a_library_switch_to_those_of_the_program(self) -> None:
        self.needs("greenlet")
        library = self.folder / "site-packages"
        library.mkdir()
        (library / "hub.py").write_text(HUB)
        path = self.program("works.py", WORKS)
        for options in (LINES, BOTH):
            run = self.captures.run(path, options=options)
            self.assertEqual((run.code, run.out, run.err), (0, "[True, True, True]\n" * 2, ""))
            hits = self.hits(run, path)
            for at, line in enumerate(WORKS.splitlines(), 1):
                if "# each turn" in line:
                    self.assertEqual(hits[at], 120, line)
            why = run.process()["lines"].get("all_code_traced", "")
            self.assertRegex(why, "^$" if self.has_monitoring else "greenlet|version of Python")

    def test_coverage_sees_what_it_sees_alone(self) -> None:
        self.needs("coverage")
        path = self.program("covered.py", COVERED)
        for core in ("ctrace", "sysmon") if self.has_monitoring else ("ctrace",):
            with self.subTest(core):
                covering = self.program(
                    "covering.py", f"import os\nos.environ['COVERAGE_CORE'] = {core!r}\n" + COVERING
                )
                run = self.alike(covering, path)
                self.assertTrue(run.out.endswith("[1, 2, 3, 4, 5, 6, 9, 10, 13] [5]\n"), run.out)
                self.assertEqual(named(prof_of(run), "choose")[1], 4)
                if self.has_monitoring:
                    hits = self.hits(run, path)
                    self.assertEqual((hits[2], hits[3], hits[6]), (4, 2, 2))
                else:
                    # The one place for a trace function is the program's.
                    self.assertIn("trace function", run.not_recorded())

    def test_code_of_cython_runs_and_what_it_calls_is_recorded(self) -> None:
        self.needs("Cython, setuptools")
        self.program("made.pyx", CYTHON)
        built = subprocess.run(
            [self.python, "-m", "Cython.Build.Cythonize", "-3", "-q", "-i", "made.pyx"],
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        if built.returncode != 0:
            self.skipTest("nothing compiles extensions of this Python: " + built.stderr[-300:])
        path = self.program("uses.py", USES_CYTHON)
        run = self.alike(path)
        self.assertEqual(run.out, "10100 4\n")
        stats = prof_of(run)
        self.assertEqual(named(stats, "each")[1], 101)
        # Compiled code is no code of Python: it has no rows.
        self.assertFalse([key for key in stats if "made" in key[0]])
        self.assertEqual(self.hits(run, path)[4], 101)
        self.assertEqual(run.process()["not_recorded"], [])


def cases() -> list[type[unittest.TestCase]]:
    found: list[type[unittest.TestCase]] = []
    for version, python in interpreters().items():
        # tools/setup makes it with the Python that runs the tests.
        made = ROOT / "build/beside/bin/python"
        if python == sys.executable and made.exists():
            python = str(made)
        members = {
            "python": python,
            "has_monitoring": tuple(map(int, version.split("."))) >= (3, 12),
        }
        found.append(type("Beside" + version.replace(".", "_"), (Beside,), members))
    return found


if __name__ == "__main__":
    sys.exit(0 if run_together(*cases()) else 1)
