#!/usr/bin/env python3
"""`fathom run` of a command that starts several PyTorch programs, after each other and at once.
`make test-torch` runs these."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import captured

PYTHON = captured.TORCH_PYTHON
WANTED = os.environ.get("FATHOM_TEST_TORCH") == "1"


@unittest.skipUnless(WANTED, "make test-torch runs these")
class Several(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-several-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_command(self, *words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [captured.FATHOM, "run", "--no-overhead", "-o", "session", *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=600,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def check_programs(self, done: subprocess.CompletedProcess[str], names: list[str]) -> None:
        session = self.folder / "session"
        processes = [json.loads(path.read_text()) for path in session.glob("process-*.json")]
        traced = [process for process in processes if process["traces"]]
        self.assertCountEqual([process["name"] for process in traced], names)
        self.assertEqual({process["rank"] for process in traced}, {-1})
        # Each program is diagnosed, by its name, and none is compared with another.
        self.assertEqual(done.stderr.count("Verdict"), len(names))
        for process in traced:
            self.assertIn(f"{process['name']} (process {process['pid']})", done.stderr)
        self.assertNotIn("Ranks ", done.stderr)
        self.assertNotIn("step numbers are missing", done.stderr)

    def test_programs_of_a_shell_script_are_told_apart(self) -> None:
        script = self.folder / "script.sh"
        train, gan, infer = (captured.PROGRAMS / f"{n}.py" for n in ("train", "gan", "infer"))
        script.write_text(f"set -e\n{PYTHON} {train}\n{PYTHON} {gan} &\n{PYTHON} {infer}\nwait\n")
        done = self.run_command("--", "bash", str(script))
        self.check_programs(done, ["train.py", "gan.py", "infer.py"])

    def test_programs_that_make_starts_at_once_are_told_apart(self) -> None:
        rules = ["all: a b\n"]
        for target, name in (("a", "train"), ("b", "accumulate")):
            rules.append(f"{target}:\n\t{PYTHON} {captured.PROGRAMS / name}.py\n")
        (self.folder / "Makefile").write_text("".join(rules))
        done = self.run_command("--", "make", "-j2")
        self.check_programs(done, ["train.py", "accumulate.py"])

    def test_what_a_repeated_schedule_recorded_is_told_in_one_diagnosis(self) -> None:
        schedule = "wait=1,warmup=0,active=1,repeat=3"
        program = str(captured.PROGRAMS / "train.py")
        done = self.run_command("--steps", schedule, "--", PYTHON, program)
        self.assertEqual(len(list((self.folder / "session").glob("torch-*.json"))), 3)
        self.assertEqual(done.stderr.count("Verdict"), 1)
        self.assertIn("Recordings", done.stderr)
        self.assertNotIn("step numbers are missing", done.stderr)
        self.assertNotIn("Ranks ", done.stderr)


if __name__ == "__main__":
    if sys.argv[1:] or not WANTED:
        unittest.main()
    sys.exit(not captured.run_together(Several))
