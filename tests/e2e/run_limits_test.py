"""Limits and moments of a recording, from the command line to what the session folder then says: --last, --max-size,
--max-memory, --telemetry, and --delay, --duration, --profile-from-start and --on-signal of a program without torch."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
PYTHON = os.path.realpath(sys.executable)
LIMIT = 120

# What is waited for is an event, and never forever.
UNTIL = """
import os, sys, time
session = os.environ["FATHOM_SESSION"]
def until(happened):
    end = time.monotonic() + 60
    while not happened() and time.monotonic() < end:
        time.sleep(0.01)
"""
RING = UNTIL + """
older = session + "/monitor.older.fathom"
until(lambda: os.path.exists(older))
first = os.stat(older).st_ino if os.path.exists(older) else 0
until(lambda: os.path.exists(older) and os.stat(older).st_ino != first)
"""


class Limits(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-limits-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def fathom(self, *arguments):
        return subprocess.run([FATHOM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=LIMIT,
                              check=False, stdin=subprocess.DEVNULL, env={**os.environ, "COLUMNS": "200"})

    def run_program(self, program, *options):
        done = self.fathom("run", "-o", "session", *options, "--", PYTHON, "-c", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def table(self, report, *options):
        done = self.fathom(report, "session", "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def counter(self, name):
        rows = [row for row in self.table("telemetry", "--limit", "0")["rows"] if row["counter"] == name]
        self.assertEqual(len(rows), 1)
        return rows[0]

    def test_each_extra_that_nothing_could_give_is_said(self):
        done = self.fathom("run", "-o", "session", "--with", "shapes,stacks,memory,flops,functions,lines,libraries,gpu-metrics",
                           "--", "/bin/true")
        self.assertEqual(done.returncode, 0, done.stderr)
        manifest = json.loads((self.folder / "session/manifest.json").read_text())
        said = {limit["what"]: limit for limit in manifest["not_recorded"]}
        for what in ("what --with shapes, stacks, memory, flops adds to torch's operators",
                     "functions of Python (--with functions)", "lines of Python (--with lines)",
                     "calls of cuBLAS and cuDNN (--with libraries)",
                     "hardware counters of the GPU"):
            self.assertIn(what, said)
            self.assertTrue(said[what]["why"] and said[what]["remedy"] and said[what]["lost"])

    def test_a_limit_of_file_sizes_ends_neither_us_nor_the_program(self):
        program = ("import time\n"
                   "end = time.monotonic() + 1.0\n"
                   "while time.monotonic() < end: sum(range(1000))\n"
                   "raise SystemExit(7)\n")
        (self.folder / "work.py").write_text(program)
        for limit in (0, 1, 4, 16):
            shutil.rmtree(self.folder / "session", ignore_errors=True)
            done = subprocess.run(
                ["bash", "-c", f'ulimit -f {limit}; exec "$@"', "bash", FATHOM, "run", "-o", "session", "--telemetry", "50",
                 "--", PYTHON, "work.py"],
                cwd=self.folder, capture_output=True, text=True, timeout=LIMIT, check=False, stdin=subprocess.DEVNULL,
                env={**os.environ, "COLUMNS": "200"})
            if limit == 0:
                self.assertIn(done.returncode, (2, 7), done.stderr)
                self.assertIn("ulimit -f", done.stderr)
                continue
            self.assertEqual(done.returncode, 7, done.stderr)
            self.assertIn("(ulimit -f" if limit == 16 else "ulimit -f", done.stderr)
        manifest = json.loads((self.folder / "session/manifest.json").read_text())
        said = " ".join(limit["why"] for limit in manifest["not_recorded"])
        self.assertIn("no file may have more than 16384 bytes (ulimit -f 16)", said)

    def test_a_program_is_ended_by_the_limit_of_file_sizes_as_without_us(self):
        write = "trap - XFSZ; head -c 500000 /dev/zero > large; kill -l $?"
        done = subprocess.run(
            ["bash", "-c", 'ulimit -f 200; exec "$@"', "bash", FATHOM, "run", "-o", "session", "--", "bash", "-c", write],
            cwd=self.folder, capture_output=True, text=True, timeout=LIMIT, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(done.stdout.strip(), "XFSZ", done.stderr)

    def test_attach_refuses_what_only_run_can_record(self):
        for extra in ("gpu-metrics", "functions", "lines", "libraries"):
            done = self.fathom("attach", "1", "--with", f"shapes,{extra}", "-o", "session")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"start it with fathom run --with {extra}", done.stderr)
            self.assertFalse((self.folder / "session").exists())

    def test_last_keeps_two_files_of_the_newest_stretch(self):
        self.run_program(RING, "--last", "300ms", "--telemetry", "50")
        files = {path.name for path in (self.folder / "session").glob("monitor*.fathom")}
        self.assertEqual(files, {"monitor.fathom", "monitor.older.fathom"})
        run = {row["role"]: row for row in self.table("processes")["rows"]}["main"]
        # Two rings were thrown away before the second of the files that are kept.
        kept = self.counter("load.running")["samples"]
        self.assertGreater(run["wall_ns"], 3 * 300e6)
        self.assertGreater(kept, 0)
        self.assertLess(kept, 50 * run["wall_ns"] / 1e9)

    def test_a_size_that_is_too_small_is_kept_and_what_did_not_fit_is_counted(self):
        size = 16 << 10
        self.run_program("import time; time.sleep(2)", "--max-size", str(size), "--telemetry", "200")
        # Ends of processes and counts of what was dropped are written all the same.
        self.assertLess((self.folder / "session/monitor.fathom").stat().st_size, 2 * size)
        health = {row["check"]: row for row in self.table("health")["rows"]}
        self.assertEqual(health["dropped_records"]["status"], "bad")
        self.assertGreater(health["dropped_records"]["count"], 0)

    def test_telemetry_is_taken_as_often_as_asked(self):
        for rate, most in (("5", 5), ("40", 40)):
            shutil.rmtree(self.folder / "session", ignore_errors=True)
            self.run_program("import time; time.sleep(1)", "--telemetry", rate)
            wall = self.table("processes")["rows"][0]["wall_ns"] / 1e9
            # A busy machine misses some; there are never more.
            self.assertLessEqual(self.counter("monitor.cpu")["samples"], most * wall + 2)

    def test_no_telemetry_is_no_counter(self):
        done = self.run_program("pass", "--telemetry", "0")
        self.assertEqual(self.table("telemetry")["rows"], [])
        self.assertIn("--telemetry 0", done.stderr)

    def test_the_options_are_kept_in_the_manifest(self):
        self.run_program("pass", "--delay", "2s", "--duration", "1min", "--last", "30s", "--max-size", "1MiB",
                         "--max-memory", "2MiB", "--range", "epoch", "--profile-from-start", "off",
                         "--on-signal", "USR2", "--steps", "wait=2,active=5,repeat=0", "--step-by", "mark")
        recording = json.loads((self.folder / "session/manifest.json").read_text())["options"]["recording"]
        self.assertEqual({key: recording[key] for key in ("delay_s", "duration_s", "last_s", "max_size_bytes",
                                                          "max_memory_bytes", "range", "from_start", "on_signal",
                                                          "step_by")},
                         {"delay_s": 2, "duration_s": 60, "last_s": 30, "max_size_bytes": 1 << 20,
                          "max_memory_bytes": 2 << 20, "range": "epoch", "from_start": False, "on_signal": "SIGUSR2",
                          "step_by": "mark"})
        self.assertEqual(recording["steps"], {"wait": 2, "warmup": 1, "active": 5, "repeat": 0, "skip_first": 0})

    def test_a_program_keeps_its_own_handler_of_the_signal(self):
        handles = ("import os, signal\n"
                   "signal.signal(signal.SIGUSR2, lambda *_: print('mine', flush=True))\n"
                   "os.kill(os.getpid(), signal.SIGUSR2)\n")
        self.assertEqual(self.run_program(handles, "--on-signal", "SIGUSR2").stdout, "mine\n")


if __name__ == "__main__":
    unittest.main()
