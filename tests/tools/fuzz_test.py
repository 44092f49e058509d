#!/usr/bin/env python3
"""tools/fuzz: how it divides the time, and that a night fails where it reaches too few inputs."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

TOOL = pathlib.Path(os.environ["FATHOM_SOURCE_DIR"]) / "tools/fuzz"


class Fuzz(unittest.TestCase):
    def setUp(self) -> None:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.build = pathlib.Path(held.name)

    def target(self, name: str, inputs: int, rate: int, code: int = 0) -> None:
        """Says what libFuzzer says at its end, and which options it was given."""
        program = self.build / f"{name}_fuzz"
        program.write_text(
            "#!/bin/sh\n"
            f'echo "$@" >"{self.build}/{name}.options"\n'
            f"echo 'stat::number_of_executed_units: {inputs}'\n"
            f"echo 'stat::average_exec_per_sec:     {rate}'\n"
            f"exit {code}\n"
        )
        program.chmod(0o755)

    def fuzz(self, *words: str) -> tuple[int, str]:
        done = subprocess.run([TOOL, str(self.build), *words], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_names_a_slow_parse_target_and_fails_only_where_a_rate_is_asked_for(self) -> None:
        self.target("none_parse", 2000, 2000)
        self.target("none", 100, 100)
        code, text = self.fuzz("1")
        self.assertEqual(code, 0, text)
        self.assertIn("none_parse: 2000 inputs, 2000 a second, fewer than 3000\n", text)
        self.assertIn("none: 100 inputs, 100 a second\n", text)
        self.assertIn("all targets: 2100 inputs\n", text)
        self.assertEqual(self.fuzz("1", "--at-least", "2000")[0], 0)
        code, text = self.fuzz("1", "--at-least", "2001")
        self.assertEqual(code, 1)
        self.assertIn("none_parse: 2000 inputs, 2000 a second, fewer than 2001\n", text)

    def test_counts_the_inputs_of_a_night(self) -> None:
        self.target("none_parse", 2000, 4000)
        self.target("none", 100, 100)
        code, text = self.fuzz("1", "--inputs", "2100")
        self.assertEqual(code, 0, text)
        self.assertIn("2100 inputs, 100 % of the 2100 that are to be read", text)
        code, text = self.fuzz("1", "--at-least", "3000", "--inputs", "4200")
        self.assertEqual(code, 1)
        self.assertIn("2100 inputs, 50 % of the 4200 that are to be read", text)

    def test_the_gates_brief_run_judges_no_speed(self) -> None:
        self.target("none_parse", 16, 1)
        code, text = self.fuzz("--runs", "1", "--at-least", "3000", "--inputs", "1000")
        self.assertEqual(code, 0, text)

    def test_one_that_breaks_or_says_nothing_has_failed(self) -> None:
        self.target("broken", 10, 10, code=77)
        self.assertEqual(self.fuzz("1")[0], 1)
        (self.build / "broken_fuzz").write_text("#!/bin/sh\nexit 0\n")
        code, text = self.fuzz("1")
        self.assertEqual(code, 1)
        self.assertIn("broken does not say how many inputs it read", text)

    def test_a_parse_target_gets_four_times_as_long(self) -> None:
        self.target("none_parse", 1, 3000)
        self.target("none", 1, 1)
        self.assertEqual(self.fuzz("50")[0], 0)
        seconds = {}
        for name in ("none_parse", "none"):
            options = (self.build / f"{name}.options").read_text()
            seconds[name] = int(re.search(r"-max_total_time=(\d+)", options)[1])
        at_once = min(2, os.cpu_count() or 1)
        self.assertEqual(seconds["none"], 50 * at_once // 5)
        self.assertEqual(seconds["none_parse"], min(50, 50 * at_once * 4 // 5))

    def test_what_is_not_known_is_refused(self) -> None:
        self.target("none", 1, 1)
        for words in (("--atleast", "3"), ("--inputs", "many"), ("--inputs",)):
            self.assertEqual(self.fuzz("1", *words)[0], 2, words)


if __name__ == "__main__":
    unittest.main()
