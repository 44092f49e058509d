#!/usr/bin/env python3
"""What tools/measure_bench.py makes of comparisons with what takes 1 % longer."""

from __future__ import annotations

import pathlib
import sys
import tempfile
import unittest
import unittest.mock
from collections.abc import Iterator
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import measure_bench  # noqa: E402
import measured_part  # noqa: E402


def told(verdict: str, elapsed: float, announced: float | None) -> dict[str, Any]:
    return {"metrics": [{"verdict": verdict}], "pairs": 100, "elapsed_s": elapsed,
            "announced": None if announced is None else {"time_s": announced}}


class Shares(unittest.TestCase):
    def test_intervals_are_those_of_the_tables(self) -> None:
        # By the quantiles of beta distributions: 0.025 of B(8, 3) and 0.975 of B(9, 2); 0.025^(1/10).
        low, high = measure_bench.share_interval(8, 10)
        self.assertAlmostEqual(low, 0.4439, places=4)
        self.assertAlmostEqual(high, 0.9748, places=4)
        self.assertAlmostEqual(measure_bench.share_interval(10, 10)[0], 0.025 ** 0.1, places=9)
        self.assertAlmostEqual(measure_bench.share_interval(0, 10)[1], 1 - 0.025 ** 0.1, places=9)


class Rows(unittest.TestCase):
    def test_found_in_time_is_what_was_slower_and_took_no_longer_than_announced(self) -> None:
        row = measure_bench.Slowed("process", "wall")
        row.add(told("slower", 9.0, 10.0))
        row.add(told("slower", 11.0, 10.0))  # late
        row.add(told("slower", 1.0, None))  # nothing was announced
        row.add(told("faster", 2.0, 10.0))
        row.add(told("cannot_tell", 3.0, 10.0))
        cells = [cell.strip() for cell in row.row().strip("|").split("|")]
        self.assertEqual(cells[2:6], ["5", "1 (1 to 72 %)", "3, 1", "100"])
        self.assertEqual(cells[6], "3 s of 10 s")

    def test_a_row_that_has_not_begun_has_no_numbers(self) -> None:
        table = measure_bench.with_rows("", {}, 60)
        self.assertTrue(table.endswith("| step | `--metric step` | 0 | – | – | – | – | – |"))
        widths = {line.count("|") for line in table.splitlines() if line.startswith("|")}
        self.assertEqual(widths, {9})

    def test_rows_by_other_metrics_stay_as_the_page_has_them(self) -> None:
        page = measure_bench.with_rows("", {"wall": "| process | `--metric wall` | 7 |", "step": "| step | `--metric step` | 8 |"}, 60)
        rows = [line for line in measure_bench.with_rows(page, {"step": "| step | `--metric step` | 9 |"}, 60).splitlines() if "--metric" in line]
        self.assertEqual([row.split("|")[3].strip() for row in rows], ["7", "0", "9"])

    def test_rows_that_were_measured_are_kept_whatever_ends_the_rest(self) -> None:
        def rows(_: object) -> Iterator[str]:
            yield "| first |"
            raise KeyboardInterrupt

        marks = ("<!-- begin -->", "<!-- end -->")
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text("\n".join(marks))
            with unittest.mock.patch.dict(measure_bench.PARTS, {"live": (rows, marks)}):
                with unittest.mock.patch.object(sys, "argv", ["", "--parts", "live", "--write", str(page)]):
                    self.assertRaises(KeyboardInterrupt, measure_bench.main)
            self.assertIn("| first |", page.read_text())

    def test_the_page_has_the_marks_of_each_part(self) -> None:
        page = pathlib.Path(__file__).resolve().parents[2] / "docs/bench.md"
        for _, marks in measure_bench.PARTS.values():
            measured_part.parts(page, marks)
        measured_part.parts(page, measure_bench.SLOW_DOWN_MARKS)


if __name__ == "__main__":
    unittest.main()
