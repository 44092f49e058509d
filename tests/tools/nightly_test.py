#!/usr/bin/env python3
"""What `make nightly` names is there: goals, programs, tests and settings. A filter that no test matches would pass
without a test, and nobody looks at a night's output that ends with "all passed"."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NIGHTLY = (ROOT / "tools/nightly").read_text()
STEPS = {
    words[0]: words[1:]
    for words in (shlex.split(line) for line in re.findall(r"^step (.+)$", NIGHTLY, re.M))
}
MAKEFILE = (ROOT / "Makefile").read_text()
GOALS = set(re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.M)[0].split())
# Part of others; what it is run from; below.
NOT_BY_NIGHT = {"build", "nightly", "clean"}


def sources() -> str:
    """All C++ of tests, and Python's."""
    files = [*ROOT.glob("src/**/*_test.cc"), *ROOT.glob("tests/**/*_test.cc")]
    files += ROOT.glob("tests/**/*.py")
    files += ROOT.glob("tests/scaling/*.cc")
    return "\n".join(file.read_text(errors="replace") for file in files)


class Nightly(unittest.TestCase):
    def test_every_goal_is_there_and_every_goal_is_run(self) -> None:
        run = set(re.findall(r"\bmake ([a-z][a-z-]*)", NIGHTLY.split("\n", 1)[1]))
        # `make wheel` is what `make test-wheel` begins with; `tools/dist` is what `make dist` runs.
        run |= {"wheel", "dist"} if {"test-wheel", "dist"} <= STEPS.keys() else set()
        self.assertLessEqual(run - {"nightly"}, GOALS)
        self.assertEqual(GOALS - NOT_BY_NIGHT - run, set())

    def test_every_program_is_there(self) -> None:
        for name, words in STEPS.items():
            programs = [word for word in words if re.match(r"(tools|tests)/", word)]
            for program in programs:
                file = ROOT / program
                by_python = words[words.index(program) - 1] == "python3"
                self.assertTrue(file.is_file(), f"{name}: {program}")
                self.assertTrue(by_python or os.access(file, os.X_OK), f"{name}: {program}")

    def test_every_filter_names_a_test(self) -> None:
        filters = 0
        text = sources()
        for name, words in STEPS.items():
            for word in words:
                if not word.startswith("--gtest_filter="):
                    continue
                filters += 1
                test = word.split("=", 1)[1].strip("*").split(".")[-1]
                found = re.search(rf"TEST(_F|_P)?\(\w+, \w*{re.escape(test)}\w*\)", text)
                self.assertIsNotNone(found, f"{name}: no test is named {test}")
        self.assertGreater(filters, 1)

    def test_every_setting_is_read(self) -> None:
        settings = set(re.findall(r"\b(FATHOM_[A-Z_]+)=", NIGHTLY))
        self.assertGreater(len(settings), 3)
        text = sources()
        for setting in settings:
            self.assertIn(f'"{setting}"', text, setting)

    def test_every_goal_that_contributing_names_is_there(self) -> None:
        page = (ROOT / "CONTRIBUTING.md").read_text()
        named = set(re.findall(r"`make ([a-z][a-z-]*)", page))
        self.assertGreater(len(named), 15)
        self.assertLessEqual(named, GOALS)

    def test_clean_removes_builds_and_keeps_what_was_downloaded_and_learned(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            shutil.copy(ROOT / "Makefile", folder)
            kept = ("sources", "python", "torch", "cuda13", "cupti", "fuzz/corpus/http")
            for each in (*kept, "release", "asan", "fuzz/log"):
                (folder / "build" / each).mkdir(parents=True)
            subprocess.run(["make", "clean"], cwd=folder, check=True, capture_output=True)
            for each in kept:
                self.assertTrue((folder / "build" / each).is_dir(), each)
            for each in ("release", "asan", "fuzz/log"):
                self.assertFalse((folder / "build" / each).exists(), each)


if __name__ == "__main__":
    unittest.main()
