"""fathom run --with functions=calls within the limits of a recording: --last and --max-size."""

import collections
import json
import pathlib
import unittest

from run_test import FATHOM, PYTHON, Sandbox

RING = """
import glob, os, time
def called(name):
    time.sleep(0.005)
def first():
    called("first")
def between():
    called("between")
def last():
    called("last")
def older():
    between()
    (found,) = glob.glob(f"{os.environ['FATHOM_SESSION']}/process-*.older.fathom") or [None]
    return found and os.stat(found).st_ino
first()
# The second file is the first that has calls.
end, turns, known = time.monotonic() + 60, 0, None
while turns < 3 and time.monotonic() < end:
    found = older()
    turns, known = turns + (found != known), found
last()
"""
MANY = """
import time
def short():
    return sum(range(400))
for _ in range(4):
    for _ in range(5000):
        short()
    time.sleep(0.6)
"""


class Calls(Sandbox):
    def setUp(self):
        super().setUp()
        if not pathlib.Path(FATHOM).with_name("libfathom_python.so").exists():
            self.skipTest("a build without libfathom_python.so")

    def record(self, program, *options):
        (self.folder / "work.py").write_text(program)
        done = self.fathom("run", "-o", "session", "--telemetry", "0", *options, "--", PYTHON, "work.py")
        self.assertEqual(done.returncode, 0, done.stderr)

    def slices(self):
        """Of functions, by name."""
        done = self.fathom("export", "--to", "chrome", "session")
        self.assertEqual(done.returncode, 0, done.stderr)
        events = json.loads(done.stdout)["traceEvents"]
        return collections.Counter(event["name"].rpartition(" ")[2] for event in events
                                   if event.get("ph") == "X" and event.get("cat") == "python_function")

    def calls(self):
        done = self.fathom("functions", "session", "--limit", "0", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return {row["function"]: row["calls"] for row in json.loads(done.stdout)["rows"]}

    def test_last_keeps_the_newest_calls_and_the_sums_of_all(self):
        self.record(RING, "--last", "300ms", "--with", "functions=calls:2ms")
        slices, calls = self.slices(), self.calls()
        self.assertEqual((slices["first"], slices["last"]), (0, 1))
        self.assertGreater(slices["between"], 0)
        self.assertLess(slices["between"], calls["between"])
        self.assertEqual((calls["first"], calls["last"]), (1, 1))
        self.assertEqual(calls["called"], calls["between"] + 2)

    def test_calls_beyond_the_size_of_a_file_are_counted(self):
        size = 200_000
        self.record(MANY, "--max-size", str(size), "--with", "functions=calls:1us")
        (file,) = (self.folder / "session").glob("process-*[0-9].fathom")
        self.assertLess(file.stat().st_size, 2 * size)
        kept = self.slices()["short"]
        self.assertGreater(kept, 0)
        done = self.fathom("health", "session", "--json")
        (dropped,) = [row for row in json.loads(done.stdout)["rows"] if row["check"] == "dropped_records"]
        # What is neither kept nor dropped is nothing: each of them took a microsecond and more.
        self.assertEqual(dropped["status"], "bad")
        self.assertGreaterEqual(kept + dropped["count"], 20_000)
        (profile,) = (self.folder / "session").glob("functions-*.prof")
        done = self.fathom("functions", str(profile), "--json")
        rows = {row["function"]: row["calls"] for row in json.loads(done.stdout)["rows"]}
        self.assertEqual(rows["short"], 20_000)


if __name__ == "__main__":
    unittest.main()
