#!/usr/bin/env python3
"""`fathom attach` with real PyTorch programs that ask a daemon whether to record. They take minutes:
`make test-torch` installs torch and runs them."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import captured

PYTHON = captured.TORCH_PYTHON
WANTED = os.environ.get("FATHOM_TEST_TORCH") == "1"
LIMIT = 600


@unittest.skipUnless(WANTED, "make test-torch runs these")
class Attach(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-attach-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.stop = self.folder / "stop"

    def start(self, **settings: str) -> subprocess.Popen[bytes]:
        # A folder of its own for the socket: nobody else's daemon is in the way.
        process = subprocess.Popen(
            [PYTHON, str(captured.PROGRAMS / "on_demand.py"), str(self.stop)],
            env={
                **os.environ,
                "KINETO_IPC_SOCKET_DIR": str(self.folder),
                "KINETO_ONDEMAND_TRACE_DIR": str(self.folder),
                "OMP_NUM_THREADS": "1",
                **settings,
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.wait, LIMIT)
        self.addCleanup(self.stop.touch)
        return process

    def await_training(self, *processes: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + LIMIT
        for process in processes:
            while not pathlib.Path(f"{self.stop}-{process.pid}").exists():
                self.assertIsNone(process.poll(), "the program ended")
                self.assertLess(time.monotonic(), end, "the program does not train")
                time.sleep(0.05)

    def attach(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [captured.FATHOM, "attach", *words, "--timeout", "120s", "-o", "session"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )

    def traces(self) -> set[str]:
        return {path.name for path in (self.folder / "session").glob("torch-*.pt.trace.json")}

    def test_a_running_program_is_recorded_and_diagnosed(self) -> None:
        process = self.start(KINETO_USE_DAEMON="1")
        self.await_training(process)
        done = self.attach(str(process.pid), "--duration", "500ms", "--with", "shapes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.traces(), {f"torch-{process.pid}-1.pt.trace.json"})
        self.assertIn("Verdict", done.stdout)
        self.assertIsNone(process.poll())

    def test_one_that_has_not_loaded_torch_yet_is_waited_for(self) -> None:
        process = self.start(KINETO_USE_DAEMON="1")
        done = self.attach(str(process.pid), "--duration", "200ms", "--no-diagnose")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.traces()), 1)

    def test_several_processes_lie_in_one_folder(self) -> None:
        both = [self.start(KINETO_USE_DAEMON="1", RANK=str(rank)) for rank in range(2)]
        self.await_training(*both)
        done = self.attach(*(str(process.pid) for process in both), "--duration", "500ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        wanted = {f"torch-{process.pid}-1.pt.trace.json" for process in both}
        self.assertEqual(self.traces(), wanted)
        self.assertEqual(done.stdout.count("Verdict"), 2)

    def test_a_program_without_the_variable_is_sampled(self) -> None:
        process = self.start()
        self.await_training(process)
        done = subprocess.run(
            [captured.FATHOM, "attach", str(process.pid), "--duration", "1s", "-o", "sampled"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("was not started with KINETO_USE_DAEMON=1", done.stderr)
        self.assertIn("Verdict", done.stdout)
        self.assertIsNone(process.poll())


if __name__ == "__main__":
    unittest.main()
