"""What tools/measure_compare.py makes of traces and of what commands took."""
from __future__ import annotations

import json
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[2])
sys.path.insert(0, str(ROOT / "tools"))

import measure_compare  # noqa: E402
import measured_part  # noqa: E402

TRACE = json.dumps({"traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 100},
    {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 5, "dur": 95, "args": {"dur": 1}},
    {"ph": "X", "cat": "Kernel", "name": "add", "ts": 200, "dur": 40}]})


class Traces(unittest.TestCase):
    def test_kernels_and_nothing_else_take_a_tenth_less(self) -> None:
        events = json.loads(measure_compare.shortened(TRACE))["traceEvents"]
        self.assertEqual([event["dur"] for event in events], [100, 85, 36])
        self.assertEqual(events[1]["args"], {"dur": 1})

    def test_operators_of_the_second_may_have_other_names(self) -> None:
        self.assertEqual([event["name"] for event in json.loads(measure_compare.renamed(TRACE))["traceEvents"]], ["other::mm", "gemm", "add"])


class Table(unittest.TestCase):
    def test_ratios_are_those_of_medians(self) -> None:
        one = [measure_compare.Taken(cpu, cpu / 2, 100_000_000) for cpu in (1.0, 2.0, 9.0)]
        two = [measure_compare.Taken(cpu, cpu / 2, 150_000_000) for cpu in (3.0, 4.0, 5.0)]
        self.assertEqual(measure_compare.row("a", 10**9, one, two),
                         "| a | 1000 MB | 2.0 s, 4.0 s: 2.00 × | 1.0 s, 2.0 s: 2.00 × | 100 MB, 150 MB: 1.50 × |")

    def test_the_page_has_its_place(self) -> None:
        measured_part.parts(ROOT / "docs/bench.md", measure_compare.COMPARED_MARKS)


if __name__ == "__main__":
    unittest.main()
