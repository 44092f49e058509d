#!/usr/bin/env python3
"""Data loaders whose workers are made anew in each epoch: a session as the hook writes it, with
times that are known, and what fathom says of it."""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile
import unittest

import captured

sys.path.insert(0, str(captured.HOOK))

from fathom_recorder import wire  # noqa: E402

MS = 1_000_000
MAIN, FIRST = 5000, 5001
EPOCHS, BATCHES, WORKERS, SAMPLES = 3, 4, 2, 3


class Session:
    def __init__(self, folder: str, reuse_pids: bool) -> None:
        self.folder = pathlib.Path(folder)
        begin = wire.monotonic_ns()
        main = self.writer(MAIN, 1, "main")
        main.slice("import", "phase", begin, 10 * MS, -1, MAIN)
        at = begin + 20 * MS
        for epoch in range(EPOCHS):
            pids = [FIRST + i + (0 if reuse_pids else WORKERS * epoch) for i in range(WORKERS)]
            workers = [self.writer(pid, MAIN, "loader-worker") for pid in pids]
            for batch in range(BATCHES):
                number = BATCHES * epoch + batch
                main.slice("fetch", "loader.fetch", at, (1 + epoch) * MS, number, MAIN)
                main.slice("step", "step", at, 10 * MS, number, MAIN)
                worker, pid = workers[batch % WORKERS], pids[batch % WORKERS]
                for sample in range(SAMPLES):
                    start = at + sample * MS
                    worker.slice("sample", "loader.sample", start, MS, sample, pid)
                worker.slice("collate", "loader.collate", at + SAMPLES * MS, MS, SAMPLES, pid)
                at += 10 * MS
            for worker in workers:
                worker.exit(at, -1, 0, 0, 0, BATCHES * 10 * MS, -1, -1)
                worker.close()
        main.exit(at, 0, 0, 0, 0, at - begin, -1, -1)
        main.close()
        facts = {"schema": "fathom-process/1", "pid": MAIN, "role": "main", "rank": -1}
        facts["loader"] = {"num_workers": WORKERS}
        (self.folder / f"process-{MAIN}.json").write_text(json.dumps(facts))

    def writer(self, pid: int, parent: int, role: str) -> wire.Writer:
        writer = wire.Writer(str(self.folder / f"process-{pid}.fathom"), 1 << 20, 1 << 30)
        writer._pid = pid
        writer.process(parent, -1, "train", role)
        return writer


class Epochs(unittest.TestCase):
    def check(self, reuse_pids: bool) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Session(folder, reuse_pids)
            rows = captured.fathom_json("loader", folder, "--limit", "0")["rows"]
            batches = captured.fathom_json("loader", folder, "--group-by", "batch", "--limit", "0")
        (main,) = [row for row in rows if row["role"] == "main"]
        self.assertEqual(main["fetches"], EPOCHS * BATCHES)
        self.assertEqual(main["wait_ns"], BATCHES * (1 + 2 + 3) * MS)
        workers = [row for row in rows if row["role"] == "loader-worker"]
        self.assertEqual(len(workers), WORKERS * (1 if reuse_pids else EPOCHS))
        self.assertEqual(sum(row["samples"] for row in workers), EPOCHS * BATCHES * SAMPLES)
        self.assertEqual({row["sample_mean_ns"] for row in workers}, {MS})
        self.assertEqual(
            sorted(row["batch"] for row in batches["rows"]), list(range(EPOCHS * BATCHES))
        )

    def test_waits_and_samples_are_those_of_all_epochs(self) -> None:
        self.check(reuse_pids=False)

    def test_a_worker_that_gets_the_pid_of_an_older_one_adds_to_it(self) -> None:
        self.check(reuse_pids=True)


if __name__ == "__main__":
    unittest.main()
