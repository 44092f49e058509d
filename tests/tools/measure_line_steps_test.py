"""tools/measure_line_steps.py shows medians, intervals and the control as its docs say; and runs, where there is PyTorch."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import types
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
FATHOM = os.environ.get("FATHOM") or str(ROOT / "build/release/fathom")
TOOL = ROOT / "tools/measure_line_steps.py"


def loaded() -> types.ModuleType:
    """Without the program that it measures, which needs PyTorch."""
    program = types.ModuleType("training_program")
    sys.path.insert(0, str(TOOL.parent))
    try:
        with mock.patch.dict(sys.modules, {"training_program": program}):
            spec = importlib.util.spec_from_file_location("measure_line_steps", TOOL)
            assert spec and spec.loader
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(TOOL.parent))
    return module


class Shown(unittest.TestCase):
    def setUp(self) -> None:
        self.tool = loaded()

    def test_the_interval_of_a_median_is_that_of_the_tables_of_ranks(self) -> None:
        # Of so many values these ranks, counted from one, hold the median with 95 % at least.
        for count, low, high in ((5, 1, 5), (10, 2, 9), (20, 6, 15), (100, 40, 61)):
            values = [float(number) for number in range(count, 0, -1)]
            self.assertEqual(self.tool.interval(values), (low, high), count)

    def test_the_fastest_are_compared_by_the_clock_asked_for(self) -> None:
        pairs = [((100, 50), (140, 54)), ((90, 60), (150, 53))]
        self.assertEqual(self.tool.fastest(pairs, 0), (90, 50))
        self.assertEqual(self.tool.fastest(pairs, 1), (50, 3))

    def test_each_way_has_a_row_with_its_own_pairs(self) -> None:
        base = (1_000_000, 1_000_000)
        pairs = {
            "nothing": [(base, base)] * 9,
            "lines": [(base, (1_010_000, 1_005_000))] * 9,
            "timeline": [(base, (1_020_000, 1_030_000))] * 9,
        }
        text = self.tool.text_of({"small": {"pairs": pairs, "counts": {"lines": 7, "own": 9, "other": 2}}}, "told")
        self.assertIn("a small step: 1.00 ms, 7 lines; 9 reports of its code, 2 of other code**", text)
        self.assertIn("| nothing (the control) | 9 | +0.00 % (+0.00 to +0.00) |", text)
        self.assertIn("| lines | 9 | +1.00 % (+1.00 to +1.00) | +0.50 % (+0.50 to +0.50) | +5 µs, +0.50 % |", text)
        self.assertIn("| lines and their timeline | 9 | +2.00 % (+2.00 to +2.00) | +3.00 %", text)

    def test_steps_right_after_the_change_are_not_timed_and_the_fastest_of_the_others_counts(self) -> None:
        clock = 0
        lengths = iter([900, 800, 5, 3, 4])

        def step() -> None:
            nonlocal clock
            clock += next(lengths)

        with mock.patch.object(self.tool, "time") as time:
            time.perf_counter_ns = lambda: clock
            time.process_time_ns = lambda: 2 * clock
            self.assertEqual(self.tool.time_of(step), (3, 6))
        self.assertIsNone(next(lengths, None))


@unittest.skipUnless(importlib.util.find_spec("torch"), "no torch in this interpreter")
class Runs(unittest.TestCase):
    def test_it_runs_without_a_note_of_the_recorder(self) -> None:
        words = [sys.executable, str(TOOL), "--size", "small", "--seconds", "1", "--fathom", FATHOM]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for row in ("| nothing (the control) |", "| lines |", "| lines and their timeline |"):
            self.assertIn(row, done.stdout)


if __name__ == "__main__":
    unittest.main()
