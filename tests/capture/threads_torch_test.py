#!/usr/bin/env python3
"""PyTorch programs whose threads answer requests, or train, under the hook."""

from __future__ import annotations

import json
import os
import sys
import unittest

import captured

WANTED = os.environ.get("FATHOM_TEST_TORCH") == "1"


@unittest.skipUnless(WANTED, "make test-torch runs these")
class Threads(unittest.TestCase):
    def setUp(self) -> None:
        self.captures = captured.Captures(captured.TORCH_PYTHON)

    def tearDown(self) -> None:
        self.captures.close()

    def run_quietly(self, what: str, count: int, **more: object) -> captured.Run:
        """A program that nothing is written to the standard error of."""
        run = self.captures.run("serves.py", what, str(count), **more)  # type: ignore[arg-type]
        self.assertEqual((run.code, run.err, run.out), (0, "", f"answered {count}\n"))
        return run

    def threads_in(self, run: captured.Run) -> set[object]:
        """Those of which the trace has operators."""
        (trace,) = run.traces()
        events = json.loads(trace.read_text())["traceEvents"]
        return {event["tid"] for event in events if event.get("cat") == "cpu_op"}

    def check_requests(self, run: captured.Run, count: int) -> None:
        facts = run.process()
        self.assertEqual((facts["step_by"], facts["steps"]), ("request", count))
        self.assertEqual(facts["not_recorded"], [])
        steps = run.slices("step")
        self.assertEqual(sorted(step.value for step in steps), list(range(count)))
        # Found by the analysis, each in the thread that answered it.
        rows = captured.fathom_json("steps", str(run.folder), "--limit", "0")["rows"]
        self.assertEqual(len({row["step"] for row in rows}), count)
        timed = captured.fathom_json("diagnose", str(run.folder))["run"]["timed_steps"]
        self.assertEqual((timed["kind"], timed["steps"]), ("request", count))
        self.assertGreater(timed["in_depth"], 2)
        self.assertLessEqual(timed["median_ns"], timed["p95_ns"])
        self.assertLessEqual(timed["p95_ns"], timed["p99_ns"])

    def test_what_a_server_answers_in_threads_is_a_request(self) -> None:
        run = self.run_quietly("http", 1500)
        self.check_requests(run, 1500)
        self.assertGreater(len(self.threads_in(run)), 10)

    def test_what_a_pool_works_on_is_a_request(self) -> None:
        run = self.run_quietly("pool", 1600)
        self.check_requests(run, 1600)
        self.assertEqual(len(self.threads_in(run)), 4)

    def test_calls_of_threads_that_work_for_ever_are_requests(self) -> None:
        run = self.run_quietly("queue", 900)
        self.check_requests(run, 1800)
        self.assertEqual(len(self.threads_in(run)), 3)

    def test_calls_in_an_event_loop_are_requests(self) -> None:
        run = self.run_quietly("async", 900)
        self.check_requests(run, 1800)

    def test_a_thread_that_trains_is_recorded_by_its_steps(self) -> None:
        run = self.run_quietly("train", 200)
        self.assertEqual((run.process()["step_by"], run.process()["steps"]), ("optimizer", 200))
        (trace,) = run.traces()
        self.assertEqual(run.steps(trace), [2, 3, 4])

    def test_a_thread_that_ends_while_it_is_recorded_leaves_its_trace(self) -> None:
        options = {"steps": {"wait": 1, "warmup": 0, "active": 1000}, "overhead": False}
        run = self.run_quietly("train", 20, options=options)
        (trace,) = run.traces()
        self.assertEqual(run.steps(trace), list(range(1, 20)))

    def test_operators_of_threads_without_a_module_are_recorded_by_time(self) -> None:
        run = self.run_quietly("operators", 2400)
        self.assertEqual(len(self.threads_in(run)), 4)


if __name__ == "__main__":
    if sys.argv[1:] or not WANTED:
        unittest.main()
    sys.exit(not captured.run_together(Threads))
