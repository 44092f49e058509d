"""fathom run --with lines and fathom lines: from a program to its lines beside their source."""

import collections
import json
import pathlib
import unittest

from run_test import FATHOM, PYTHON, ROOT, Sandbox

PROGRAM = '''import json


def add(count):
    total = 0
    for number in range(count):
        total += len(
            json.dumps(number)
        )
    # A secret.
    return total, "hidden words"


print(add(10)[0])
'''


class Lines(Sandbox):
    def setUp(self):
        super().setUp()
        if not pathlib.Path(FATHOM).with_name("libfathom_python.so").exists():
            self.skipTest("a build without libfathom_python.so")
        (self.folder / "work.py").write_text(PROGRAM)

    def record(self, *options):
        done = self.fathom("run", "-o", "session", "--telemetry", "0", "--with", "lines", *options, "--",
                           PYTHON, "work.py")
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "10"), done.stderr)

    def rows(self, *options):
        done = self.fathom("lines", "session", *options, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)["rows"]

    def test_a_listing_has_hits_beside_the_source(self):
        self.record()
        rows = self.rows("--listing", "--filter", "function=add")
        self.assertEqual([row["source"] for row in rows], PROGRAM.splitlines()[3:11])
        self.assertEqual([row["hits"] for row in rows], [None, 1, 11, 10, None, None, None, 1])
        text = self.fathom("lines", "session", "--listing")
        self.assertIn("# A secret.", text.stdout)
        # What waited while no line ran has a row, too, where there were samples.
        files = {row["location"].rpartition(":")[0] for row in self.rows() if row["location"] != "(no line)"}
        self.assertEqual(files, {str((self.folder / "work.py").resolve())})

    def test_the_text_of_sources_can_be_kept_out(self):
        self.record("--sources", "off")
        self.assertFalse((self.folder / "session/sources").exists())
        rows = self.rows()
        self.assertEqual({row["source"] for row in rows}, {None})
        self.assertEqual(len([row for row in rows if row["function"] == "add"]), 4)

    def test_sources_that_were_not_kept_are_read_where_they_are(self):
        self.record("--sources", "off")
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        done = self.fathom("lines", "session", "--source-root", elsewhere)
        self.assertEqual(done.returncode, 0)
        self.assertIn("1 of 1 source file is not below --source-root or too large to show, as", done.stdout + done.stderr)
        (self.folder / "work.py").rename(elsewhere / "work.py")
        was = self.folder.resolve()
        for root in (elsewhere, f"{was}={elsewhere}"):
            rows = self.rows("--listing", "--filter", "function=add", "--source-root", root)
            self.assertEqual([row["source"] for row in rows], PROGRAM.splitlines()[3:11])
        done = self.fathom("lines", "session", "--source-root", self.folder / "nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no folder", done.stderr)

    def test_texts_and_comments_can_be_hidden(self):
        self.record("--sources", "redacted")
        shown = self.fathom("lines", "session", "--listing").stdout
        self.assertIn("total += len(", shown)
        for word in ("secret", "hidden"):
            self.assertNotIn(word, shown)

    def test_modules_of_libraries_are_recorded_when_asked_for(self):
        self.record("--lines-of", "json")
        files = {pathlib.Path(row["location"].rpartition(":")[0]).name for row in self.rows()}
        self.assertLessEqual({"work.py", "encoder.py"}, files)

    def test_what_is_kept_of_sources_is_one_of_three(self):
        done = self.fathom("run", "--with", "lines", "--sources", "some", "--", PYTHON, "work.py")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there are on, off, redacted", done.stderr)

    def test_options_of_lines_are_refused_without_them(self):
        for options in (("--lines-of", "json"), ("--sources", "off"), ("--with", "functions", "--sources", "on")):
            done = self.fathom("run", *options, "--", PYTHON, "work.py")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"{options[-2]} is of lines; add --with lines", done.stderr)

    STEPS = """from fathom_recorder import api


def work(count):
    total = 0
    for number in range(count):
        total += number
    return total


api.step()
for count in (10, 20, 30):
    work(count)
    api.step()
work(5)
"""

    def record_steps(self, what):
        (self.folder / "steps.py").write_text(self.STEPS)
        done = self.fathom("run", "-o", "session", "--telemetry", "0", "--with", what, "--", PYTHON, "steps.py")
        self.assertEqual(done.returncode, 0, done.stderr)

    def table(self, report, *options):
        done = self.fathom(report, "session", *options, "--columns", "all", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["rows"]

    def test_steps_have_their_own_hits(self):
        self.record_steps("lines")

        def hits(*options):
            found = [row["hits"] for row in self.table("lines", *options) if row["source"] == "total += number"]
            return sum(found)

        self.assertEqual([hits("--steps", str(step)) for step in (1, 2, 3)], [10, 20, 30])
        self.assertEqual(hits("--steps", "2-3"), 50)
        self.assertEqual(hits(), 65)
        self.assertEqual(hits("--window", "0s:1000s"), 65)
        # Before the first step nothing of its own is known.
        done = self.fathom("lines", "session", "--steps", "0")
        self.assertIn("Step 0 has no sums of its own", done.stderr + done.stdout)

    def test_steps_have_their_own_calls(self):
        self.record_steps("functions")

        def calls(*options):
            return {row["function"]: row["calls"] for row in self.table("functions", *options)}

        self.assertEqual([calls("--steps", str(step)).get("work") for step in (1, 2, 3)], [1, 1, 1])
        self.assertEqual(calls()["work"], 4)
        def times(*options):
            sums = collections.Counter()  # of functions that have one name, such as <module>
            for row in self.table("functions", *options):
                sums[row["function"]] += row["self_ns"]
            return sums

        self.assertEqual(times("--window", "0s:1000s"), times())

    def test_long_calls_lie_on_the_timeline(self):
        (self.folder / "work.py").write_text("import time\ndef rest():\n    time.sleep(0.02)\nrest()\nrest()\n")
        done = self.fathom("run", "-o", "session", "--telemetry", "0", "--with", "functions=calls:10ms", "--",
                           PYTHON, "work.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.fathom("export", "session", "--output", "out.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        events = json.loads((self.folder / "out.json").read_text())["traceEvents"]
        rests = [event for event in events if event.get("name", "").endswith("work.py(2): rest")]
        self.assertEqual(len(rests), 2)
        self.assertEqual({event["cat"] for event in rests}, {"python_function"})
        self.assertGreaterEqual(min(event["dur"] for event in rests), 20_000)
        ops = self.fathom("ops", "session", "--json")
        self.assertNotIn("rest", ops.stdout)

    def limited_calls(self, *options):
        """Slices of a program's calls by name, and its profile, where only some of the slices may be kept."""
        (self.folder / "work.py").write_text(
            "import time\n\n\ndef first():\n    time.sleep(0.05)\n\n\ndef rest():\n    time.sleep(0.002)\n\n\n"
            "first()\nend, count = time.monotonic() + 2, 0\nwhile time.monotonic() < end or count < 1000:\n"
            "    rest()\n    count += 1\nprint(count)\n")
        done = self.fathom("run", "-o", "session", "--telemetry", "0", "--with", "functions=calls:1ms", *options, "--",
                           PYTHON, "work.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        (profile,) = (self.folder / "session").glob("functions-*.prof")
        rows = json.loads(self.fathom("functions", profile, "--limit", "0", "--json").stdout)["rows"]
        calls = {row["function"]: row["calls"] for row in rows}
        # Sums have all calls, whatever becomes of the slices.
        self.assertEqual((calls["first"], calls["rest"]), (1, int(done.stdout.split()[0])))
        done = self.fathom("export", "session", "--output", "out.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [event.get("name", "").rpartition(": ")[2]
                 for event in json.loads((self.folder / "out.json").read_text())["traceEvents"]
                 if event.get("cat") == "python_function"]
        return {name: names.count(name) for name in ("first", "rest")}, calls["rest"]

    def test_of_long_calls_the_last_ones_are_kept(self):
        slices, calls = self.limited_calls("--last", "700ms")
        self.assertEqual(slices["first"], 0)
        self.assertGreater(slices["rest"], 0)
        self.assertLess(slices["rest"], calls)

    def test_long_calls_beyond_the_size_are_counted(self):
        slices, calls = self.limited_calls("--max-size", str(16 << 10))
        self.assertEqual(slices["first"], 1)
        self.assertLess(slices["rest"], calls)
        dropped = {row["check"]: row for row in self.table("health")}["dropped_records"]
        self.assertEqual(dropped["status"], "bad")
        # Each of the calls is there or counted.
        self.assertGreaterEqual(dropped["count"], calls - slices["rest"])

    def test_a_line_has_what_it_waited_for(self):
        (self.folder / "work.py").write_text("import time\n\n\ndef rest():\n    time.sleep(1)\n\n\nrest()\n")
        done = self.fathom("run", "-o", "session", "--telemetry", "0", "--with", "lines,samples", "--", PYTHON, "work.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.table("lines")
        if rows[0]["waiting_ns"] is None:
            self.skipTest("nobody may look at the program here")
        waits = {row["source"]: row["wait_causes"] for row in rows if row["waiting_ns"]}
        self.assertIn("sleep", waits.get("time.sleep(1)", ""), rows)
        # It may wait for a file, while the recorder looks at what it calls.
        self.assertNotIn("sleep", waits.get("rest()", ""))

    def test_a_diagnosis_names_recorded_lines(self):
        done = self.fathom("diagnose", ROOT / "tests/data/runs/joined", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("lines not recorded", done.stdout)
        answer = json.loads(done.stdout)
        waits = next(each for each in answer["findings"] if each["rule"] == "sync-points")
        self.assertIn(" at /home/me/waits.py:10", waits["title"])
        self.assertEqual(waits["evidence"][0]["location"], "/home/me/waits.py:10")
        stacks = next(each for each in answer["checklist"] if each["id"] == "stacks_recorded")
        self.assertEqual(stacks["status"], "met")

    def test_a_time_of_calls_must_be_one(self):
        done = self.fathom("run", "--with", "functions=calls:soon", "--", PYTHON, "work.py")
        self.assertEqual(done.returncode, 2)
        self.assertIn("functions=calls:TIME", done.stderr)


if __name__ == "__main__":
    unittest.main()
