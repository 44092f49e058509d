"""fathom baseline: saved, listed, shown, checked against, and refused."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from check_test import made_trace, schema_problems, turn

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
H100 = ROOT / "tests/data/traces/hta_alexnet.json.gz"
RECORDED = ROOT / "tests/illness/recorded"
VERSION_1 = ROOT / "tests/data/baselines/version_1.json"


def fathom(*arguments, cwd=None):
    return subprocess.run([FATHOM, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False, cwd=cwd)


class Baseline(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-baseline-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = self.folder / "loop.baseline.json"

    def trace(self, name, milliseconds, seed, started=None):
        return made_trace(self.folder / f"{name}.trace.json.gz", milliseconds, seed, steps=40, started=started)

    def save(self, *arguments):
        done = fathom("baseline", "save", self.file, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def check(self, new, budget="step_time+3%"):
        done = fathom("check", new, "--within-runs", "--against", self.file, "--budget", budget, "--json")
        return done.returncode, json.loads(done.stdout)

    def test_a_check_against_it_is_the_check_against_what_was_saved(self):
        for base, new in ((self.trace("a", 10, 1), self.trace("b", 10.2, 2)), (H100, H100), (RECORDED / "late_rank.ill", RECORDED / "late_rank.cured")):
            self.file.unlink(missing_ok=True)
            self.save(base)
            for budget in ("step_time+3%", "operator_calls+0", "copied_bytes+0"):
                code, answer = self.check(new, budget)
                direct = fathom("check", new, "--within-runs", "--against", base, "--budget", budget, "--json")
                self.assertEqual(direct.returncode, code)
                expected = json.loads(direct.stdout)
                self.assertEqual(answer["checks"][0]["budgets"], expected["checks"][0]["budgets"])
                self.assertEqual(answer["checks"][0]["differs"], expected["checks"][0]["differs"])

    def test_small_losses_do_not_add_up(self):
        self.save(self.trace("first", 10, 1))
        codes = []
        for change in range(1, 5):
            new = self.trace(f"new{change}", 10 * 1.02**change, 10 + change)
            code, answer = self.check(new)
            codes.append(code)
            last = answer["checks"][0]["budgets"][0]["result"]
            self.assertEqual(last, "within", "each loss is within 3 % of the one before")
            self.save(new)
        self.assertEqual(codes[0], 0)
        self.assertEqual(codes[1:], [1, 1, 1], "beside what was accepted they add up")
        accepted = answer["checks"][1]
        self.assertEqual(accepted["reference"], "accepted")
        # Accepting ends it.
        self.save(new, "--accept")
        code, answer = self.check(self.trace("again", 10 * 1.02**4, 99))
        self.assertEqual((code, len(answer["checks"])), (0, 1))

    def test_files_are_small_and_as_the_schema_says(self):
        schema = json.loads((ROOT / "docs/baseline.schema.json").read_text())
        for recording in (H100, RECORDED / "recompilation.ill.trace.json.gz", ROOT / "examples/resnet50_v100.pt.trace.json.gz", RECORDED / "late_rank.ill"):
            self.save(recording)
            self.assertLess(self.file.stat().st_size, 200_000)
            self.assertEqual(schema_problems(json.loads(self.file.read_text()), schema), [])
            self.assertEqual(fathom("baseline", "show", self.file, "--json").stdout, self.file.read_text())

    def test_save_says_what_is_in_the_file(self):
        sums = 0
        for recording in (ROOT / "examples/resnet50_v100.pt.trace.json.gz", RECORDED / "recompilation.ill.trace.json.gz", self.trace("a", 10, 1)):
            said = self.save(recording).stdout
            rows = json.loads(self.file.read_text())["last"]["runs"][0][0]["rows"]
            folded = sum(row["op"] == "(further operators)" for row in rows)
            sums += folded
            self.assertEqual([f"and {len(rows) - 10} more"] if len(rows) > 10 else [], re.findall(r"and \d+ more", said))
            self.assertEqual([str(folded)] if folded else [], re.findall(rf"more; (\d+) of all {len(rows)} are sums of shorter ones that do not fit", said))
            self.assertEqual(fathom("baseline", "show", self.file).stdout, said)
        self.assertGreater(sums, 0)

    def test_several_runs_are_kept(self):
        runs = [self.trace(f"run{number}", 10 + number, number, turn(number, False)) for number in range(7)]
        self.save(*runs)
        again = [self.trace(f"new{number}", 10.5 * (10 + number) / 10, 50 + number, turn(number, True)) for number in range(7)]
        done = fathom("check", *again, "--against", self.file, "--budget", "step_time+3%", "--json")
        self.assertEqual(json.loads(done.stdout)["checks"][0]["budgets"][0]["basis"], "over 7 pairs of runs")
        self.assertEqual(done.returncode, 1)
        # Days later, or from a file of before times were kept, they are no pairs.
        later = [self.trace(f"later{number}", 10.5 * (10 + number) / 10, 70 + number, turn(1000 + number, True)) for number in range(7)]
        older = json.loads(self.file.read_text())
        for run in older["last"]["runs"]:
            for recording in run:
                del recording["started_unix_ns"]
        old_file = self.folder / "older.baseline.json"
        old_file.write_text(json.dumps({"schema": older.pop("schema"), **older}))
        for new, against, sentence in ((later, self.file, "not recorded in turns"), (again, old_file, "a baseline of an older Fathom does not")):
            done = fathom("check", *new, "--against", against, "--budget", "step_time+3%", "--json")
            budget = json.loads(done.stdout)["checks"][0]["budgets"][0]
            self.assertEqual((done.returncode, budget["result"]), (4, "cannot_tell"))
            self.assertIn(sentence, budget["reason"])

    def test_show_and_list(self):
        self.save(self.trace("a", 10, 1))
        shown = fathom("baseline", "show", self.file).stdout
        self.assertIn("40 steps", " ".join(shown.split()))
        self.assertIn("aten::mul", shown)
        listed = fathom("baseline", "list", self.folder)
        self.assertEqual(listed.returncode, 0)
        self.assertEqual(len(listed.stdout.splitlines()), 2, "the recordings in the folder are no baselines")
        self.assertIn("loop.baseline.json", fathom("baseline", "list", cwd=self.folder).stdout)
        answer = json.loads(fathom("baseline", "list", self.folder, "--json").stdout)
        self.assertEqual(answer["schema"], "fathom.baselines/1")
        self.assertEqual([(each["path"], each["runs"], each["steps"]) for each in answer["baselines"]], [(str(self.file), 1, 40)])
        (self.folder / "empty").mkdir()
        self.assertEqual(fathom("baseline", "list", self.folder / "empty").returncode, 3)

    def test_the_first_version_is_read_for_ever(self):
        done = fathom("baseline", "show", VERSION_1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("aten::mm", done.stdout)
        self.assertIn("an older Fathom", done.stdout)
        for command in (("check", RECORDED / "fp64.cured.trace.json.gz", "--against", VERSION_1, "--budget", "operator_calls+0"), ("compare", VERSION_1, RECORDED / "fp64.cured.trace.json.gz")):
            done = fathom(*command)
            self.assertIn(done.returncode, (0, 1, 4), done.stderr)
            self.assertIn("it was saved by an older Fathom (fathom.baseline/1)", done.stderr)

    def test_a_baseline_is_a_side_of_a_comparison(self):
        base, new = self.trace("a", 10, 1), self.trace("b", 12, 2)
        self.save(base)
        direct = json.loads(fathom("compare", base, new, "--json").stdout)["pairs"][0]
        saved = json.loads(fathom("compare", self.file, new, "--json").stdout)["pairs"][0]
        for key in ("change_ns", "mean_change_ns", "ratio_interval", "differs", "counters", "causes"):
            self.assertEqual(saved[key], direct[key])

    def test_verify_says_what_a_baseline_lacks(self):
        self.save(RECORDED / "fp64.ill.trace.json.gz")
        done = fathom("verify", "fp64", self.file, RECORDED / "fp64.cured.trace.json.gz")
        self.assertEqual(done.returncode, 3)
        self.assertIn("is a baseline, which has no findings", done.stderr)

    def test_a_newer_version_and_damage_are_refused_with_a_remedy(self):
        self.save(self.trace("a", 10, 1))
        text = self.file.read_text()
        for damaged, sentence in ((text.replace("baseline/2", "baseline/3"), "newer version"), (text[:500], "cut off"),
                                  (text.replace('"lengths_ns"', '"lengths"'), "'lengths_ns' is missing")):
            self.file.write_text(damaged)
            for command in (("baseline", "show", self.file), ("check", H100, "--against", self.file, "--budget", "launches+0")):
                done = fathom(*command)
                self.assertEqual(done.returncode, 3)
                self.assertIn(sentence, done.stderr)
                self.assertIn("save it anew", done.stderr)
            done = fathom("baseline", "save", self.file, H100)
            self.assertEqual(done.returncode, 3)
            self.assertEqual(self.file.read_text(), damaged, "what cannot be read is not overwritten")

    def test_nothing_else_is_overwritten(self):
        other = self.folder / "notes.txt"
        other.write_text("mine")
        done = fathom("baseline", "save", other, H100)
        self.assertEqual((done.returncode, other.read_text()), (2, "mine"))
        missing = self.folder / "none" / "x.json"
        done = fathom("baseline", "save", missing, H100)
        self.assertEqual((done.returncode, done.stderr), (2, f"fathom: {missing}: No such file or directory\n"))
        done = fathom("baseline", "show", missing)
        self.assertEqual((done.returncode, done.stderr), (3, f"fathom: {missing}: there is no such file\n"))
        self.assertEqual(fathom("baseline", "save", self.file, self.folder / "none.json").returncode, 3)
        self.assertFalse(self.file.exists())

    def test_wrong_words(self):
        for words in (("keep",), ("save", self.file), ("show",), ("show", "--accept", self.file), ()):
            self.assertEqual(fathom("baseline", *words).returncode, 2, words)
        self.assertEqual(fathom("baseline", "show", H100).returncode, 3)
        self.save(H100)
        done = fathom("check", H100, "--against", self.file, "--against", H100, "--budget", "launches+0")
        self.assertEqual(done.returncode, 2)

    def test_too_many_steps_are_refused_with_a_remedy(self):
        long = made_trace(self.folder / "long.json.gz", 0.1, 3, steps=20000, operators=1)
        done = fathom("baseline", "save", self.file, long)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--steps", done.stderr)
        self.save(long, "--steps", "1-500")


if __name__ == "__main__":
    unittest.main()
