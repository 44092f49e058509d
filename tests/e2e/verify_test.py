"""fathom verify: predictions beside measurements, the ledger, and what it refuses."""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from check_test import schema_problems, turn

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
RECORDED = ROOT / "tests/illness/recorded"
KEPT = ROOT / "tests/illness/kept"
sys.path.insert(0, str(ROOT / "tools"))

from illness_score import promise  # noqa: E402


def fathom(*arguments):
    return subprocess.run([FATHOM, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)


def verify(*arguments):
    return fathom("verify", *arguments)


def pair(folder, name):
    return folder / f"{name}.ill.trace.json.gz", folder / f"{name}.cured.trace.json.gz"


class Verify(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-verify-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def test_predictions_are_those_of_the_evaluation(self):
        """Every held-out pair: what tools/eval sums up, and the ratio that it takes for measured."""
        seen = 0
        for case in json.loads((ROOT / "tests/illness/kept.pairs.json").read_text())["pairs"]:
            ill, cured = pair(KEPT, case["pair"])
            if not ill.exists():
                continue
            document = json.loads(fathom("diagnose", "--json", ill).stdout)
            found = {each["rule"] for card in document["findings"] for each in [card, *card.get("alternatives", [])]}
            expected = promise(document, case["cures"])
            rules = [rule for rule in case["cures"] if rule in found]
            if expected is None:
                continue
            with self.subTest(case["pair"]):
                done = verify(",".join(rules), ill, cured, "--json")
                self.assertEqual(done.stderr, "")
                answer = json.loads(done.stdout)
                for value, name in zip(expected, ("low", "likely", "high"), strict=True):
                    self.assertAlmostEqual(answer["predicted"][name], value, places=6)
                after = json.loads(fathom("diagnose", "--json", cured).stdout)
                measured = after["baseline"]["step_median_ns"] / document["baseline"]["step_median_ns"]
                self.assertAlmostEqual(answer["measured"]["ratio"], measured, places=6)
                seen += 1
        self.assertGreater(seen, 10)

    def test_few_steps_cannot_be_told(self):
        done = verify("fp64", *pair(RECORDED, "fp64"), "--within-runs", "--json")
        answer = json.loads(done.stdout)
        self.assertEqual((done.returncode, answer["outcome"]), (4, "cannot_tell"))
        self.assertIn("7 steps", answer["reason"])

    def moved(self, recording, path, started, factor):
        """Another run of it: begun then, and that much longer, so that it is no copy."""
        with gzip.open(recording, "rt") as file:
            document = json.load(file)
        document["baseTimeNanoseconds"] = started
        for event in document["traceEvents"]:
            for name in ("ts", "dur"):
                if isinstance(event.get(name), (int, float)):
                    event[name] *= factor
        first = min(event["ts"] for event in document["traceEvents"] if event.get("ph") == "X")
        for event in document["traceEvents"]:
            if isinstance(event.get("ts"), (int, float)):
                event["ts"] -= first
        with gzip.open(path, "wt") as file:
            json.dump(document, file)

    def test_pairs_of_runs_confirm_and_refute(self):
        ill, cured = pair(RECORDED, "fp64")
        base, fast, same, later = (self.folder / name for name in ("base", "fast", "same", "later"))
        for folder in (base, fast, same, later):
            folder.mkdir()
        for run in range(6):
            drift = 1 + 0.001 * run
            self.moved(ill, base / f"run{run}.trace.json.gz", turn(run, False), drift)
            self.moved(cured, fast / f"run{run}.trace.json.gz", turn(run, True), drift)
            self.moved(ill, same / f"run{run}.trace.json.gz", turn(run, True), drift + 0.0001)
            self.moved(cured, later / f"run{run}.trace.json.gz", turn(100 + run, True), drift)
        done = verify("fp64", base, fast, "--json")
        answer = json.loads(done.stdout)
        self.assertEqual((done.returncode, answer["outcome"]), (0, "confirmed"), answer)
        self.assertEqual(answer["measured"]["basis"], "over 6 pairs of runs")
        done = verify("fp64", base, same, "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["outcome"]), (1, "refuted"))
        done = verify("fp64", base, later, "--json")
        answer = json.loads(done.stdout)
        self.assertEqual((done.returncode, answer["outcome"]), (4, "cannot_tell"))
        self.assertIn("not recorded in turns", answer["reason"])

    def test_copies_of_a_recording_are_one_run(self):
        ill, cured = pair(RECORDED, "fp64")
        base, fast = self.folder / "base", self.folder / "fast"
        for folder, recording in ((base, ill), (fast, cured)):
            folder.mkdir()
            for run in range(6):
                shutil.copy(recording, folder / f"run{run}.trace.json.gz")
        done = verify("fp64", base, fast, "--json")
        answer = json.loads(done.stdout)
        self.assertEqual((done.returncode, answer["outcome"]), (4, "cannot_tell"), answer)
        self.assertIn("copies of one recording count once", answer["reason"])

    def test_json_is_as_the_schema_says(self):
        schema = json.loads((ROOT / "docs/verify.schema.json").read_text())
        self.assertEqual(schema_problems(json.loads(verify("fp64", *pair(RECORDED, "fp64"), "--json").stdout), schema), [])

    def test_what_is_not_there_is_named(self):
        base, new = pair(RECORDED, "fp64")
        for finding, sentence in (("fp46", "did you mean 'fp64'?"), ("the-rule-of-old", "an older one may have had it"),
                                  ("nccl-straggler/x", "no rule"), ("zero-grad", "there is no finding 'zero-grad'")):
            done = verify(finding, base, new)
            self.assertEqual(done.returncode, 3, done.stdout)
            self.assertIn(sentence, done.stderr)
        self.assertEqual(verify("fp64", base).returncode, 2)
        self.assertEqual(verify("", base, new).returncode, 2)
        self.assertEqual(verify("fp64", base, self.folder / "none").returncode, 3)

    def test_a_baseline_as_new_is_refused_by_name(self):
        base, new = pair(RECORDED, "fp64")
        saved = self.folder / "saved.json"
        self.assertEqual(fathom("baseline", "save", saved, new).returncode, 0)
        for done in (verify("fp64", base, saved), fathom("check", saved, "--against", base, "--budget", "step_time+3%")):
            self.assertEqual(done.returncode, 3)
            self.assertIn("this is a baseline, and here a recording is needed", done.stderr)

    def test_the_outcome_is_printed_where_the_ledger_cannot_be_written(self):
        done = verify("fp64", *pair(RECORDED, "fp64"), "--ledger", self.folder / "none" / "ledger.jsonl")
        self.assertIn("Outcome", done.stdout)
        self.assertEqual(done.returncode, 3)
        self.assertIn("the ledger cannot be written", done.stderr)

    def test_the_ledger_keeps_outcomes(self):
        file = self.folder / "ledger.jsonl"
        self.assertEqual(verify("--ledger", file).returncode, 3)
        for _ in range(2):
            verify("fp64", *pair(RECORDED, "fp64"), "--ledger", file)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        self.assertEqual([line["outcome"] for line in lines], ["cannot_tell", "cannot_tell"])
        self.assertEqual(lines[0]["schema"], "fathom.ledger/1")
        with file.open("a") as ledger:
            ledger.write('{"schema": "fathom.ledger/9"}\n')
        answer = json.loads(verify("--ledger", file, "--json").stdout)
        self.assertEqual((answer["entries"], answer["unreadable"]), (2, 1))
        self.assertEqual([(row["rule"], row["cannot_tell"], row["median_share"]) for row in answer["rules"]], [("fp64", 2, None)])
        self.assertIn("1 line is no entry", verify("--ledger", file).stdout)
        file.write_text(json.dumps(lines[0]))
        self.assertIn("1 verification.", verify("--ledger", file).stdout)


if __name__ == "__main__":
    unittest.main()
