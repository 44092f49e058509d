#!/usr/bin/env python3
"""Long recordings of PyTorch are kept in pieces: so memory is bounded, a ring keeps the newest, and
a crash loses one of them. `make test-torch` runs these."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

import captured

PYTHON = captured.TORCH_PYTHON
WANTED = os.environ.get("FATHOM_TEST_TORCH") == "1"
MANY = {"wait": 1, "warmup": 0, "active": 150}


def numbered(run: captured.Run) -> list[pathlib.Path]:
    """Traces by their number."""
    return sorted(run.traces(), key=lambda path: int(path.name.split("-")[2].split(".")[0]))


@unittest.skipUnless(WANTED, "make test-torch runs these")
class Pieces(unittest.TestCase):
    def setUp(self) -> None:
        self.captures = captured.Captures(PYTHON)
        self.addCleanup(self.captures.close)

    def run_well(self, *command: str, **more: object) -> captured.Run:
        run = self.captures.run(*command, **more)  # type: ignore[arg-type]
        self.assertEqual(run.code, 0, run.err)
        return run

    def dropped(self, run: captured.Run) -> dict[str, int]:
        sums: dict[str, int] = {}
        for kind, fields in captured.records(next(run.folder.glob("process-*.fathom"))):
            if kind == "dropped":
                sums[fields[0]] = sums.get(fields[0], 0) + fields[1]
        return sums

    def test_a_ring_keeps_the_newest_steps(self) -> None:
        options = {"last_s": 1, "overhead": False}
        run = self.run_well("endless.py", "steps", "400", options=options)
        kept = [run.steps(path) for path in numbered(run)]
        self.assertGreater(kept[0][0], 3)
        # What comes after the last step is a step for torch.
        self.assertGreaterEqual(kept[-1][-1], 399)
        steps = [step for piece in kept for step in piece]
        self.assertEqual(steps, list(range(steps[0], steps[-1] + 1)))
        self.assertGreater(run.process()["traces_discarded"], 0)
        self.assertIn("--last keeps the newest stretch", run.not_recorded())

    def test_a_ring_goes_on_by_time_where_nothing_steps(self) -> None:
        options = {"last_s": 1, "step_by": "time", "overhead": False}
        run = self.run_well("endless.py", "5", options=options)
        self.assertGreater(run.process()["traces_discarded"], 0)
        self.assertGreater(len(run.traces()), 0)

    def test_memory_bounds_the_pieces_and_no_step_is_lost(self) -> None:
        options = {"max_memory_bytes": 2 << 20, "steps": MANY, "overhead": False}
        run = self.run_well("endless.py", "steps", "160", options=options)
        pieces = [run.steps(path) for path in numbered(run)]
        self.assertGreater(len(pieces), 2)
        self.assertEqual([step for piece in pieces for step in piece], list(range(1, 151)))
        self.assertEqual(self.dropped(run), {})

    def test_a_range_that_is_open_ends_with_each_piece(self) -> None:
        # One that stayed open would write its end into memory of the piece before.
        options = {"steps": {"wait": 0, "warmup": 0, "active": 2, "repeat": 0}, "overhead": False}
        run = self.run_well("epochs.py", "20", options=options)
        pieces = numbered(run)
        self.assertGreater(len(pieces), 20)
        open_at_end = 0
        for path in pieces:
            events = json.loads(path.read_text())["traceEvents"]
            ends = [e["ts"] + e["dur"] for e in events if e.get("cat") == "cpu_op"]
            for epoch in [e for e in events if e.get("name") == "epoch" and e.get("ph") == "X"]:
                self.assertGreaterEqual(epoch["dur"], 0)
                open_at_end += epoch["ts"] + epoch["dur"] >= max(ends)
        self.assertGreater(open_at_end, 5)

    def test_what_the_size_keeps_out_is_counted(self) -> None:
        limits = {"max_memory_bytes": 2 << 20, "max_size_bytes": 100_000}
        options = {**limits, "steps": MANY, "overhead": False}
        run = self.run_well("endless.py", "steps", "160", options=options)
        recorded = sum(len(run.steps(path)) for path in run.traces())
        lost = {"steps of torch's trace, beyond --max-size": 150 - recorded}
        self.assertEqual(self.dropped(run), lost)
        done = subprocess.run(
            [captured.FATHOM, "health", run.folder], capture_output=True, text=True, check=True
        )
        self.assertIn("beyond --max-size", done.stdout)

    def test_a_crash_loses_the_piece_under_way_alone(self) -> None:
        cycles = {"wait": 0, "warmup": 0, "active": 2, "repeat": 0}
        ends = {"crash": signal.SIGSEGV, "abort": signal.SIGABRT, "kill": signal.SIGKILL}
        for how, number in ends.items():
            with self.subTest(how=how):
                options = {"steps": cycles, "overhead": False}
                run = self.captures.run("endless.py", how, "21", options=options)
                self.assertEqual(run.code, -number, run.err)
                pieces = [run.steps(path) for path in numbered(run)]
                self.assertGreaterEqual(len(pieces), 4)
                self.assertTrue(all(len(piece) == 2 for piece in pieces), pieces)
                self.assertEqual(run.process()["traces"], len(pieces))
                (crash,) = run.folder.glob("crash-*.txt")
                self.assertEqual("in ends" in crash.read_text(), how != "kill")

    def test_a_program_that_ends_well_leaves_no_word_of_a_crash(self) -> None:
        run = self.run_well("endless.py", "steps", "3")
        self.assertEqual(list(run.folder.glob("crash-*")), [])

    def test_the_command_says_where_a_program_crashed(self) -> None:
        folder = pathlib.Path(self.captures._folder) / "session"
        command = [captured.FATHOM, "run", "-o", folder, "--steps", "wait=0,active=1000", "--"]
        program = str(captured.PROGRAMS / "endless.py")
        done = subprocess.run(
            [*command, PYTHON, program, "crash", "20"], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV, done.stderr)
        self.assertRegex(done.stderr, r"crashed: Segmentation fault at endless.py:\d+ in ends")
        missing = json.loads((folder / "manifest.json").read_text())["not_recorded"]
        (lost,) = [one for one in missing if "when it crashed" in one["what"]]
        self.assertIn("repeat=0", lost["remedy"])
        self.assertIn("a trace that was being recorded", " ".join(done.stderr.split()))


if __name__ == "__main__":
    if sys.argv[1:] or not WANTED:
        unittest.main()
    sys.exit(not captured.run_together(Pieces))
