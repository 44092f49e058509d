#!/usr/bin/env python3
"""Options of `fathom run` that choose what and when to record, from the command line on, with a real PyTorch program.
They take minutes: `make test-torch` installs torch and runs them."""

from __future__ import annotations

import decimal
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from typing import Any

import captured

PYTHON = captured.TORCH_PYTHON
WANTED = os.environ.get("FATHOM_TEST_TORCH") == "1"
LIMIT = 600


def time_of_operators(events: list[dict[str, Any]]) -> int:
    """In which a thread was in any operator, ns."""
    total = 0
    threads = {event["tid"] for event in events if event.get("cat") == "cpu_op"}
    for thread in threads:
        own = [e for e in events if e.get("cat") == "cpu_op" and e["tid"] == thread]
        spans = sorted((round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)) for e in own)
        until = 0
        for begin, end in spans:
            total += max(0, end - max(begin, until))
            until = max(until, end)
    return total


@unittest.skipUnless(WANTED, "make test-torch runs these")
class Options(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-options-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_program(
        self, program: str, *options: str, words: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        command = [captured.FATHOM, "run", "--no-overhead", "-o", "session", *options, "--", PYTHON]
        done = subprocess.run(
            [*command, str(captured.PROGRAMS / program), *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def rows(self, report: str, path: str = "session", *options: str) -> list[dict[str, Any]]:
        words = [captured.FATHOM, report, path, "--json", "--limit", "0", *options]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["rows"]  # type: ignore[no-any-return]

    def traces(self) -> list[pathlib.Path]:
        return sorted((self.folder / "session").glob("torch-*.pt.trace.json"))

    def steps(self) -> list[list[int]]:
        return [[row["step"] for row in self.rows("steps", str(path))] for path in self.traces()]

    def test_a_schedule_chooses_the_steps(self) -> None:
        self.run_program("train.py", "--steps", "skip_first=2,wait=1,warmup=1,active=2,repeat=2")
        self.assertEqual(self.steps(), [[4, 5], [8, 9]])

    def test_shares_of_lines_are_those_of_the_operators_that_they_call(self) -> None:
        """The program of scalene#634, without a device. Which operators are of which line is known from their order."""
        program = captured.ROOT / "tests/gpu/line_work.py"
        words = ("--width", "128", "--rounds", "6", "--count", "100000")
        window = ("--range", "rounds", "--steps", "wait=0,warmup=0,active=1")
        options = ("--with", "lines", *window)
        done = self.run_program(str(program), *options, words=words)
        lines = json.loads(next(x for x in done.stdout.splitlines() if x.startswith("{")))["lines"]
        (path,) = self.traces()
        events = json.loads(path.read_text(), parse_float=decimal.Decimal)["traceEvents"]
        operators = []
        end = decimal.Decimal(-1)
        for event in sorted(
            (e for e in events if e.get("cat") == "cpu_op"), key=lambda e: (e["ts"], -e["dur"])
        ):
            if event["ts"] >= end:  # else another one called it
                operators.append(event)
                end = event["ts"] + event["dur"]
        names = [event["name"] for event in operators]
        expected = {"model": 0, "loss": 0, "host": 0}
        # Of y - y_hat: every other one is of the function without waits.
        differences = [at for at, name in enumerate(names) if name == "aten::sub"]
        self.assertEqual(len(differences), 2 * 6)
        for at in differences[::2]:
            called = {"model": range(at - 18, at), "loss": range(at, at + 7)}
            self.assertEqual({names[i] for i in called["model"]}, {"aten::linear"})
            self.assertEqual(
                [names[i] for i in called["loss"]],
                ["aten::sub", *4 * ["aten::linear"], "aten::pow", "aten::mean"],
            )
            for line, rows in called.items():
                expected[line] += sum(round(operators[i]["dur"] * 1000) for i in rows)
        by_line = {row["location"].rpartition(":")[2]: row for row in self.rows("lines")}
        found = {line: by_line[str(lines[line])] for line in expected}
        self.assertEqual({line: row["operators_ns"] for line, row in found.items()}, expected)
        # And once before what is recorded of operators.
        self.assertEqual({row["hits"] for row in found.values()}, {7})

    def test_lines_have_what_they_cause_and_all_of_it_is_divided(self) -> None:
        self.run_program("lines_of_training.py", "--with", "lines,memory")
        (path,) = self.traces()
        events = json.loads(path.read_text(), parse_float=decimal.Decimal)["traceEvents"]
        rows = self.rows("lines")
        total = {
            column: sum(row[column] or 0 for row in rows)
            for column in ("operators_ns", "backward_operators_ns", "host_allocated_bytes")
        }
        self.assertEqual(
            total["operators_ns"] + total["backward_operators_ns"], time_of_operators(events)
        )
        sizes = [e["args"]["Bytes"] for e in events if e.get("name") == "[memory]"]
        self.assertEqual(total["host_allocated_bytes"], sum(size for size in sizes if size > 0))

        text = (captured.PROGRAMS / "lines_of_training.py").read_text().splitlines()
        lines = {}
        for row in rows:
            file, _, number = row["location"].rpartition(":")
            if file:
                lines[text[int(number) - 1].rpartition("# ")[2]] = row
        steps = len(self.steps()[0])
        self.assertGreater(steps, 1)
        allocated = {word: row["host_allocated_bytes"] for word, row in lines.items()}
        self.assertEqual(allocated["input"], steps * 64 * 256 * 4)
        self.assertGreater(allocated["first"], steps * (64 * 512 + 512 * 256) * 4 - 1)
        self.assertEqual(lines["input"]["backward_operators_ns"], 0)
        for word in ("first", "second", "loss"):
            self.assertGreater(lines[word]["operators_ns"], 0)
            self.assertGreater(lines[word]["backward_operators_ns"], 0)
        self.assertIsNone(lines["first"]["device_ns"])
        none = rows[-1]
        self.assertEqual(none["location"], "(no line)")
        self.assertLess(none["operators_ns"], 0.01 * total["operators_ns"])

        step = self.steps()[0][0]
        part = self.rows("lines", "session", "--steps", str(step))
        one = [row for row in part if row["location"] == lines["input"]["location"]]
        self.assertEqual(one[0]["host_allocated_bytes"], 64 * 256 * 4)
        self.assertEqual(one[0]["hits"], 1)

    def test_lines_are_joined_with_the_programs_own_profile(self) -> None:
        self.run_program("own_profiler.py", "--with", "lines", words=("export", "own.json"))
        (path,) = self.traces()
        events = json.loads(path.read_text(), parse_float=decimal.Decimal)["traceEvents"]
        rows = self.rows("lines")
        total = sum(row["operators_ns"] + row["backward_operators_ns"] for row in rows)
        self.assertEqual(total, time_of_operators(events))
        forward = [row for row in rows if row["source"] and "loss_of(model" in row["source"]]
        self.assertGreater(forward[0]["operators_ns"], 0)
        self.assertLess(rows[-1]["operators_ns"], 0.02 * total)
        self.assertIsNone(rows[0]["host_allocated_bytes"])

    def test_the_hook_writes_no_facts_into_a_recorded_step(self) -> None:
        self.run_program("train.py", "--with", "stacks", "--steps", "wait=1,warmup=1,active=3")
        (path,) = self.traces()
        events = json.loads(path.read_text())["traceEvents"]
        steps = [event for event in events if event["name"].startswith("ProfilerStep#")]
        written = [event for event in events if "fathom_recorder/facts.py" in event["name"]]
        threads = {step["tid"] for step in steps if step.get("ph") == "X"}
        self.assertEqual([event["name"] for event in written if event["tid"] in threads], [])

    def test_a_range_makes_each_of_its_occurrences_a_step(self) -> None:
        self.run_program("annotated.py", "--range", "forward", "--steps", "wait=1,active=2")
        self.assertEqual(len(self.traces()), 2)
        for path in self.traces():
            names = {row["name"] for row in self.rows("ops", str(path))}
            self.assertIn("forward", names)
            self.assertNotIn("Optimizer.step#SGD.step", names)

    def test_from_start_off_records_between_start_and_stop(self) -> None:
        self.run_program("asks.py", "--profile-from-start", "off")
        self.assertEqual(len(self.traces()), 1)
        self.assertEqual([numbers[:3] for numbers in self.steps()], [[4, 5, 6]])

    def test_from_start_off_without_a_start_records_nothing_and_says_so(self) -> None:
        done = self.run_program("train.py", "--profile-from-start", "off")
        self.assertEqual(self.traces(), [])
        self.assertIn("nothing asked for it", done.stderr)

    def test_a_delay_and_a_duration_bound_what_is_recorded(self) -> None:
        self.run_program("paced.py", "--delay", "1s", "--duration", "500ms", "--step-by", "time")
        self.assertEqual(len(self.traces()), 1)
        (row,) = self.rows("processes")[:1]
        trace = json.loads(self.traces()[0].read_text())
        events = [
            e for e in trace["traceEvents"] if e.get("ph") == "X" and e.get("cat") == "cpu_op"
        ]
        begin = min(e["ts"] for e in events)
        self.assertLess(max(e["ts"] for e in events) - begin, 5e6)
        started = json.loads((self.folder / "session/manifest.json").read_text())["started_unix_ns"]
        # Kineto's times are microseconds from a base that the trace names.
        begin_unix_ns = trace["baseTimeNanoseconds"] + begin * 1000
        self.assertGreaterEqual(begin_unix_ns - started, 1e9)
        self.assertGreater(row["wall_ns"], 1.5e9)

    def test_a_delay_that_no_step_reaches_is_said(self) -> None:
        done = self.run_program("train.py", "--delay", "1000s")
        self.assertEqual(self.traces(), [])
        self.assertIn("12 steps", done.stderr)

    def test_the_size_bounds_the_traces(self) -> None:
        self.run_program(
            "train.py", "--steps", "wait=0,warmup=0,active=1,repeat=0", "--max-size", "64KiB"
        )
        sizes = [path.stat().st_size for path in self.traces()]
        # The trace that passes the bound is the last.
        self.assertLessEqual(sum(sizes[:-1]), 64 << 10)
        self.assertLess(len(sizes), 12)


if __name__ == "__main__":
    unittest.main()
