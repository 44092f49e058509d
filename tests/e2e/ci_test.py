"""The example of docs/ci.md: two trees, recorded in turns in random order and checked. Needs the Python package."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
PACKAGE = pathlib.Path(os.environ.get("FATHOM_PACKAGE", pathlib.Path(FATHOM).parent / "python"))
SCRIPT = ROOT / "examples/ci/check_change"
sys.path.insert(0, str(ROOT / "tools"))
import ci_page  # noqa: E402

PROGRAM = """
import fathom
for step in range(25):
    with fathom.annotate("compute"):
        sum(i * i for i in range({count}))
    fathom.step()
"""


def shape(text):
    """Words and signs, without the numbers, their units, how lines are broken, and what the machine did meanwhile."""
    text = re.sub(r"^(?:- )?Differs.*\n(?: +.*\n)*", "", text, flags=re.MULTILINE)
    text = re.sub(r"[−+]?\d[\d,.]*(?: (?:ns|µs|ms|s|%))?", "N", text)
    return " ".join(text.split())


def importable():
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    return not subprocess.run([sys.executable, "-c", "import fathom"], env=environment, capture_output=True, check=False).returncode


@unittest.skipUnless(importable(), "the Python package was not built")
class Example(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-ci-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def tree(self, name, count, program=PROGRAM):
        tree = self.folder / name
        tree.mkdir()
        (tree / "loop.py").write_text(program.format(count=count))
        return tree

    def run_example(self, base, new, **settings):
        summary = self.folder / "summary.md"
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "FATHOM": FATHOM, "PAIRS": "6", "SEED": "1", "GITHUB_STEP_SUMMARY": str(summary), **settings}
        done = subprocess.run([SCRIPT, base, new, self.folder / "out", sys.executable, "loop.py"], env=environment, capture_output=True, text=True, timeout=300, check=False)
        return done, summary

    def test_a_change_that_costs_ten_times_is_found(self):
        done, summary = self.run_example(self.tree("base", 20000), self.tree("new", 200000), BUDGETS="step_time+40%")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("over 6 pairs of runs", " ".join(done.stdout.split()))
        self.assertIn("| over | step\\_time+40%", summary.read_text())
        suite = ET.parse(self.folder / "out/junit.xml").getroot().find("testsuite")
        self.assertEqual(suite.get("failures"), "1")
        # What docs/ci.md says to look at next.
        done = subprocess.run([FATHOM, "compare", "--json", self.folder / "out/base/1", self.folder / "out/new/1"], capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(done.stdout)["pairs"][0]["comparability"], "comparable")

    def test_a_program_is_never_certainly_slower_than_itself(self):
        base = self.tree("base", 20000)
        done, _ = self.run_example(base, base, BUDGETS="step_time+40%")
        self.assertIn(done.returncode, (0, 4), done.stdout + done.stderr)

    def test_a_program_that_fails_is_named(self):
        broken = self.tree("new", 0, "raise SystemExit(7)\n")
        done, _ = self.run_example(self.tree("base", 1000), broken)
        self.assertEqual(done.returncode, 3)
        self.assertIn("the program failed: ", done.stderr)

    def test_the_order_within_pairs_is_drawn(self):
        base, new = self.tree("base", 1000), self.tree("new", 1000)
        self.run_example(base, new, PAIRS="3", BUDGETS="step_time+900%")
        starts = []
        for pair in range(1, 4):
            begun = [json.loads((self.folder / f"out/{side}/{pair}/manifest.json").read_text())["started_unix_ns"] for side in ("base", "new")]
            starts.append(begun[0] < begun[1])
        self.assertEqual(len(set(starts)), 2, "both orders occur")

    def test_the_page_names_what_is_there(self):
        page = (ROOT / "docs/ci.md").read_text()
        self.assertEqual(pathlib.Path(re.search(r"run: new/(\S+)", page)[1]).name, SCRIPT.name)
        self.assertEqual((ROOT / "docs" / re.search(r"\((\S+check_change)\)", page)[1]).resolve(), SCRIPT.resolve())
        for name in ("PAIRS", "BUDGETS"):
            self.assertIn(f"${{{name}:-", SCRIPT.read_text())

    def test_what_the_page_says_to_try_prints_what_it_shows(self):
        page = (ROOT / "docs/ci.md").read_text()
        tried = ci_page.run(SEED="1")
        self.assertEqual(tried.code, 1, tried.printed + tried.complained)
        self.assertEqual(tried.complained, "")
        suite = ET.fromstring(tried.junit).find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("2", "1", "0"))
        self.assertIn("step_time+5%", suite.find("testcase[failure]").get("name"))
        for name, text in ci_page.parts(tried).items():
            begin, end = ci_page.marks(name)
            shown = page.partition(begin)[2].partition(end)[0].strip()
            self.assertEqual(shape(shown), shape(text), name)

    def test_a_wrong_command_line_is_refused(self):
        base = self.tree("base", 1000)
        out = self.folder / "out"
        for arguments, message in (([base, base, out], "usage"), ([base, self.folder / "no", out, "true"], "no: no such folder")):
            done = subprocess.run([SCRIPT, *arguments], env={**os.environ, "FATHOM": FATHOM}, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)
        self.assertFalse(out.exists())
        (out / "new").mkdir(parents=True)
        done, _ = self.run_example(base, base)
        self.assertEqual(done.returncode, 2)
        self.assertIn("new is there already", done.stderr)


if __name__ == "__main__":
    unittest.main()
