#!/usr/bin/env python3
"""tools/run_tests: which tests run once more, and that what fails then has failed."""

from __future__ import annotations

import os
import pathlib
import subprocess
import tempfile
import unittest

TOOL = pathlib.Path(os.environ["FATHOM_SOURCE_DIR"]) / "tools/run_tests"
ONCE = "test -e {0} || {{ touch {0}; exit 1; }}"  # fails the first time only


class RunTests(unittest.TestCase):
    def setUp(self) -> None:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.build = pathlib.Path(held.name)

    def run_them(self, tests: dict[str, str], again: int | None, *options: str) -> tuple[int, str]:
        lines = [f'add_test({name} "/bin/sh" "-c" "{code}")' for name, code in tests.items()]
        (self.build / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")
        environment = {k: v for k, v in os.environ.items() if k != "AGAIN"}
        if again is not None:
            environment["AGAIN"] = str(again)
        done = subprocess.run(
            [TOOL, str(self.build), "-j", "2", *options], env=environment, capture_output=True, text=True
        )
        return done.returncode, done.stdout + done.stderr

    def once(self, name: str) -> str:
        return ONCE.format(self.build / name)

    def test_all_that_pass_run_once(self) -> None:
        code, text = self.run_them({"a": "true", "b": "true"}, 5)
        self.assertEqual(code, 0, text)
        self.assertNotIn("once more", text)

    def test_one_that_passes_alone_is_named_and_passes(self) -> None:
        code, text = self.run_them({"steady": "true", "shaky": self.once("seen")}, 5)
        self.assertEqual(code, 0, text)
        again = text[text.index("once more") :]
        self.assertIn("  shaky\n", again)
        self.assertNotIn("steady", again)

    def test_one_that_fails_alone_has_failed(self) -> None:
        code, text = self.run_them({"shaky": self.once("seen"), "broken": "false"}, 5)
        self.assertNotEqual(code, 0)
        self.assertNotIn("these passed", text)

    def test_what_failed_runs_again_where_others_are_left_out(self) -> None:
        tests = {"left": "true", "steady": "true", "a/b.c+": "false"}
        code, text = self.run_them(tests, 5, "-E", "^left$")
        self.assertNotEqual(code, 0, text)
        self.assertNotIn("steady", text[text.index("once more") :])

    def test_without_leave_nothing_runs_again(self) -> None:
        for again in (None, 0):
            code, text = self.run_them({"broken": self.once(f"seen{again}")}, again)
            self.assertNotEqual(code, 0)
            self.assertNotIn("once more", text)

    def test_many_that_fail_do_not_run_again(self) -> None:
        code, text = self.run_them({f"t{n}": self.once(f"seen{n}") for n in range(3)}, 2)
        self.assertNotEqual(code, 0)
        self.assertNotIn("once more", text)

    def test_what_failed_another_time_is_not_taken_for_now(self) -> None:
        self.assertNotEqual(self.run_them({"broken": "false"}, 0)[0], 0)
        code, text = self.run_them({}, 5)  # no test at all: an error, and none to run again
        self.assertNotEqual(code, 0)
        self.assertNotIn("once more", text)


if __name__ == "__main__":
    unittest.main()
