"""fathom run --hang: a program that waits for ever is looked at, one that works is not."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from check_test import schema_problems
from program import ENVIRONMENT, FATHOM, ROOT

SCHEMA = json.loads((ROOT / "docs/dump.schema.json").read_text())

# Some steps, then one takes a lock that it has: until the dump is there, as nobody else would end it.
DEADLOCK = """
import os, sys, threading, time
lock = threading.Lock()
def step(number):
    lock.acquire()
    sum(range(1000))
    if number < 10:
        lock.release()
def end_when_looked_at():
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.5)
    time.sleep(0.5)
    lock.release()
threading.Thread(target=end_when_looked_at, daemon=True).start()
for number in range(12):
    step(number)
"""


class Hang(unittest.TestCase):
    def run_it(self, program, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        session = pathlib.Path(folder.name) / "session"
        script = pathlib.Path(folder.name) / "stuck.py"
        script.write_text(program)
        done = subprocess.run(
            [FATHOM, "run", "--telemetry", "0", *options, "-o", str(session), "--", sys.executable, str(script),
             str(session / "hang-1.json")], capture_output=True, text=True, timeout=120, check=False,
            env={**ENVIRONMENT, "HOME": folder.name})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done, session

    def test_a_deadlock_is_looked_at_and_the_report_names_it(self):
        done, session = self.run_it(DEADLOCK, "--hang", "2s")
        line = DEADLOCK.splitlines().index("    lock.acquire()") + 1
        self.assertRegex(done.stderr, rf"computed nothing for .*: thread \d+ .*waits \(lock\) in step "
                                      rf"\(.*stuck\.py:{line}\); hang-1\.txt has all threads")
        self.assertIn("Hang", done.stderr)
        dump = json.loads((session / "hang-1.json").read_text())
        self.assertEqual(schema_problems(dump, SCHEMA), [])
        self.assertEqual(dump["processes"][0]["threads"][0]["frames"][0]["function"].split(".")[-1], "step")
        text = (session / "hang-1.txt").read_text()
        self.assertIn("computed nothing", text.splitlines()[0])
        self.assertIn(f"stuck.py:{line}", text)
        manifest = json.loads((session / "manifest.json").read_text())
        self.assertEqual([each["file"] for each in manifest["dumps"]], ["hang-1.txt"])
        shown = subprocess.run([FATHOM, "diagnose", str(session), "--json"], capture_output=True, text=True,
                               check=True, env=ENVIRONMENT)
        (hang,) = json.loads(shown.stdout)["run"]["hangs"]
        self.assertEqual(hang["file"], "hang-1.txt")
        self.assertIn("in step", hang["where"])

    def test_off_is_never_and_a_program_that_works_is_left_alone(self):
        sleeps = "import time\ntime.sleep(1.5)\n"
        works = "import time\nend = time.monotonic() + 2\nwhile time.monotonic() < end:\n    sum(range(1000))\n"
        for program, options in ((sleeps, ("--hang", "off")), (works, ("--hang", "1s")), (sleeps, ())):
            done, session = self.run_it(program, *options)
            self.assertNotIn("has all threads", done.stderr)
            self.assertFalse((session / "hang-1.txt").exists())
            self.assertNotIn("dumps", json.loads((session / "manifest.json").read_text()))

    def test_no_time_is_a_mistake(self):
        for text in ("0", "soon", "-1s"):
            done = subprocess.run([FATHOM, "run", f"--hang={text}", "--", "true"], capture_output=True, text=True,
                                  check=False, env={**ENVIRONMENT, "HOME": os.environ.get("HOME", "/")})
            self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
