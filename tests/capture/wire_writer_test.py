#!/usr/bin/env python3
"""The hook's writer of capture files: what docs/wire.md promises, byte for byte and under
trouble."""

from __future__ import annotations

import os
import pathlib
import sys
import tempfile
import threading
import unittest

import captured

sys.path.insert(0, str(captured.HOOK))
from fathom_recorder import wire  # noqa: E402

PLENTY = 1 << 30


class WriterOfCaptureFiles(unittest.TestCase):
    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self._folder.name, "process-1.fathom")

    def tearDown(self) -> None:
        self._folder.cleanup()

    def writer(
        self, memory: int = PLENTY, size: int = PLENTY, last: int | None = None
    ) -> wire.Writer:
        return wire.Writer(self.path, memory, size, last)

    def kinds(self) -> list[str]:
        return [kind for kind, _ in captured.records(self.path)]

    def dropped(self) -> int:
        return sum(fields[1] for kind, fields in captured.records(self.path) if kind == "dropped")

    def slices(self, path: str = "") -> list[captured.Slice]:
        found = captured.records(path or self.path)
        return [captured.Slice(*fields) for kind, fields in found if kind == "slice"]

    def test_every_record_is_read_back_as_it_was_written(self) -> None:
        writer = self.writer()
        writer.process(7, 3, "train.py", "rank")
        writer.slice("fetch", "loader.fetch", 1000, 50, 4)
        writer.moment(wire.BEGIN, "main", "phase", 2000)
        writer.end(3000)
        writer.sample("allocated", "bytes", 12.5, 0)
        writer.fact("torch", "2.15")
        writer.function("a.py", 3, "f", 10, 2000, 1000)
        writer.line_runs([(5000, 7, 11, ("a.py", 4, "f")), (5007, 2, 11, ("b.py", 1, "<module>"))])
        functions = [("a.py", 3, "f", 1, 20, 10), ("", 0, "len", 2, 30, 30)]
        writer.function_parts(((5000, 9, 4), functions))
        writer.line_parts(((5000, 9, -1), [("a.py", 4, 5, "f", 3, 6, 8, 7)]))
        writer.function_calls([("a.py", 3, "f", "b.py", 9, "g", 10, 8, 2000, 1000)])
        writer.calls([(6000, 30, 11, "a.py(3): f", 0), (6010, 20, 11, "len", 1)])
        writer.exit(4000, -1, 1, 2, 3, 4, 5, 6)
        writer.flush()
        found = dict(captured.records(self.path))
        self.assertEqual(found["process"][2:], (7, 3, "train.py", "rank"))
        called = ("a.py", 3, "f", "b.py", 9, "g", 10, 8, 2000, 1000)
        self.assertEqual(found["function_calls"][1:], called)
        self.assertEqual(self.slices()[0][:2], (1000, 50))
        self.assertEqual(self.slices()[0][4:], ("fetch", "loader.fetch", 4))
        self.assertEqual(found["begin"][3:], ("main", "phase"))
        self.assertEqual(found["counter"][2:], (0, "allocated", "bytes"))
        self.assertEqual(found["sample"][2], 12.5)
        self.assertEqual(found["fact"][1:], ("torch", "2.15"))
        self.assertEqual(found["function"][1:], ("a.py", 3, "f", 10, 2000, 1000))
        runs = [fields for kind, fields in captured.records(self.path) if kind == "line_run"]
        self.assertEqual(
            [(*fields[:2], *fields[3:]) for fields in runs],
            [(5000, 7, 11, "a.py", 4, "f"), (5007, 2, 11, "b.py", 1, "<module>")],
        )
        parts = [fields for kind, fields in captured.records(self.path) if kind == "function_part"]
        self.assertEqual(
            [(*fields[:2], *fields[3:]) for fields in parts],
            [(5000, 9, 4, *functions[0]), (5000, 9, 4, *functions[1])],
        )
        calls = [s for s in self.slices() if s.category == "python_function"]
        self.assertEqual(
            [(s.start, s.duration, s.tid, s.name) for s in calls],
            [(6000, 30, 11, "a.py(3): f"), (6010, 20, 11, "len")],
        )
        self.assertEqual(found["argument"], ("open", "when the recording ended"))
        part = found["line_part"]
        self.assertEqual((*part[:2], *part[3:]), (5000, 9, -1, "a.py", 4, 5, "f", 3, 6, 8, 7))
        self.assertEqual(found["exit"][2:], (-1, 1, 2, 3, 4, 5, 6))
        self.assertEqual(found["thread"][2], threading.current_thread().name)

    def test_the_first_block_relates_the_clocks(self) -> None:
        writer = self.writer()
        writer.fact("a", "b")
        writer.flush()
        self.assertEqual(self.kinds()[0], "clock")

    def test_a_thousand_records_make_a_block_without_being_asked(self) -> None:
        writer = self.writer()
        for number in range(5000):
            writer.slice("s", "step", number, 1)
        self.assertGreaterEqual(len(self.slices()), 4000)

    def test_threads_lose_nothing(self) -> None:
        writer = self.writer()

        def write() -> None:
            for number in range(3000):
                writer.slice("s", "step", number, 1)

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        writer.flush()
        self.assertEqual(len(self.slices()), 12000)

    def test_the_end_waits_for_a_thread_that_is_writing(self) -> None:
        writer = self.writer()
        self.assertTrue(writer.hold())
        writer.fact("a", "b")
        writer.flush()
        self.assertNotIn("fact", self.kinds())
        other = threading.Timer(0.05, writer.release)
        other.start()
        writer.finish()
        self.assertIn("fact", self.kinds())
        other.join()

    def test_what_the_size_limit_cuts_is_counted(self) -> None:
        writer = self.writer(size=100_000)
        for number in range(20000):
            writer.slice("s", "step", number, 1)
        writer.flush()
        self.assertLessEqual(os.path.getsize(self.path), 100_000)
        self.assertLess(len(self.slices()), 2500)
        self.assertGreater(len(self.slices()), 1000)
        # Of a process that is killed now, most of what it lost is counted.
        self.assertGreater(2 * self.dropped(), 20000 - len(self.slices()))
        writer.exit(4000, -1, 1, 2, 3, 4, 5, 6)
        writer.finish()
        self.assertLessEqual(os.path.getsize(self.path), 100_000)
        self.assertEqual(self.dropped() + len(self.slices()), 20000)
        self.assertEqual(self.kinds().count("exit"), 1)

    def test_of_rows_that_the_size_limit_cuts_each_is_counted(self) -> None:
        writer = self.writer(size=20_000)
        runs = [(number, 1, 11, ("a.py", number, "f")) for number in range(100)]
        rows = [(f"{number}.py", 1, "f", 1, 1, 1) for number in range(100)]
        for _ in range(10):
            writer.line_runs(runs)
            writer.function_parts(((5000, 9, 4), rows))
            writer.function("a.py", 3, "f", 10, 2000, 1000)
        writer.finish()
        self.assertLessEqual(os.path.getsize(self.path), 20_000)
        kinds = self.kinds()
        kept = sum(kinds.count(kind) for kind in ("line_run", "function_part", "function"))
        self.assertGreater(kept, 0)
        self.assertEqual(kept + self.dropped(), 10 * 201)

    def test_a_batch_leaves_room_for_the_counts_of_what_did_not_fit(self) -> None:
        # Of each size the batches end elsewhere at the limit; one is larger than what is reserved.
        for size in range(100_000, 106_000, 500):
            pathlib.Path(self.path).unlink(missing_ok=True)
            writer = self.writer(size=size)
            for turn in range(3):
                for _ in range(40):
                    rows = [(number, 1, 11, f"f{number % 7}{turn}", 0) for number in range(128)]
                    writer.calls(rows)
                writer.flush()
            writer.exit(4000, -1, 1, 2, 3, 4, 5, 6)
            writer.finish()
            self.assertLessEqual(os.path.getsize(self.path), size)
            self.assertEqual(self.kinds().count("exit"), 1)
            kept = self.slices()
            self.assertGreater(len(kept), 1000)
            self.assertEqual({call.name[0] for call in kept}, {"f"})
            self.assertEqual(len(kept) + self.dropped(), 3 * 40 * 128, size)

    def test_a_ring_that_was_full_goes_on_when_it_turns(self) -> None:
        writer = self.writer(size=20_000, last=1_000_000_000)
        for number in range(2000):
            writer.slice("s", "step", number, 1)
        writer.flush()
        writer._began_at -= 2_000_000_000
        writer.slice("s", "step", 3000, 1)
        writer.flush()
        writer._began_at -= 2_000_000_000
        writer.slice("s", "step", 3001, 1)
        writer.flush()
        self.assertEqual([s.start for s in self.slices()], [3001])

    def test_what_the_memory_limit_cuts_is_counted_in_the_file(self) -> None:
        writer = self.writer(memory=1)
        self.assertTrue(writer.hold())
        for number in range(3000):
            writer.slice("s", "step", number, 1)
        writer.release()
        writer.flush()
        writer.fact("a", "b")
        writer.flush()
        dropped = sum(f[1] for kind, f in captured.records(self.path) if kind == "dropped")
        self.assertGreater(dropped, 0)
        self.assertEqual(dropped + len(self.slices()), 3000)

    def test_numbers_that_do_not_fit_cost_one_record(self) -> None:
        writer = self.writer()
        writer.slice("s", "step", 1 << 70, 1)
        writer.slice("s", "step", 5, 1)
        writer.flush()
        self.assertEqual([s.start for s in self.slices()], [5])

    def test_a_ring_keeps_two_files_and_repeats_what_is_known(self) -> None:
        writer = self.writer(last=0)
        writer.process(1, -1, "p", "main")
        for number in range(5):
            writer.slice("s", "step", number, 1)
            writer.flush()
        older = self.path.replace(".fathom", ".older.fathom")
        self.assertTrue(pathlib.Path(older).exists())
        self.assertEqual([s.start for s in self.slices(older)], [3])
        self.assertEqual([s.start for s in self.slices()], [4])
        self.assertIn("process", self.kinds())

    def test_a_program_started_by_exec_goes_on_in_the_same_file(self) -> None:
        for number in range(2):
            writer = self.writer()
            writer.slice("s", "step", number, 1)
            writer.flush()
        self.assertEqual([s.start for s in self.slices()], [0, 1])

    def test_fathom_reads_it(self) -> None:
        writer = self.writer()
        writer.process(1, -1, "p", "main")
        writer.slice("fetch", "loader.fetch", 1000, 50, 4)
        writer.flush()
        text = str(captured.fathom_json("info", self.path))
        self.assertIn("loader.fetch", text)


if __name__ == "__main__":
    unittest.main()
