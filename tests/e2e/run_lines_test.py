"""fathom run --with lines and fathom lines: from a program to its lines beside their source."""

import json
import pathlib
import unittest

from run_test import FATHOM, PYTHON, Sandbox

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
        files = {row["location"].rpartition(":")[0] for row in self.rows()}
        self.assertEqual(files, {str((self.folder / "work.py").resolve())})

    def test_the_text_of_sources_can_be_kept_out(self):
        self.record("--sources", "off")
        self.assertFalse((self.folder / "session/sources").exists())
        rows = self.rows()
        self.assertEqual({row["source"] for row in rows}, {None})
        self.assertEqual(len([row for row in rows if row["function"] == "add"]), 4)

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


if __name__ == "__main__":
    unittest.main()
