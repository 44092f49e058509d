"""fathom check as CI meets it: exit codes, JSON, JUnit, markdown, several runs, ranks."""
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
RECORDED = ROOT / "tests/illness/recorded"
H100 = ROOT / "tests/data/traces/hta_alexnet.json.gz"
SUMMARY_LIMIT = 1024 * 1024


def check(*arguments):
    return subprocess.run([FATHOM, "check", *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)


def turn(number, is_new):
    """When a recording of that pair began, in ns since 1970: each side first in every other pair."""
    return 1_764_000_000_000_000_000 + (2 * number + (is_new ^ number % 2)) * 1_000_000_000


def made_trace(path, milliseconds, seed, steps=12, operators=3, started=None):
    """A training loop on the main thread whose steps take about so long. `started`: its time zero, in ns since 1970."""
    noise = random.Random(seed)
    events = []
    at = 1000.0
    for step in range(steps):
        length = 1000 * milliseconds * (1 + 0.004 * noise.random())
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": at, "dur": length})
        part = length / (operators + 1)
        for operator in range(operators):
            events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 1, "tid": 1, "ts": at + operator * part, "dur": part * 0.9})
        at += length + 1
    with gzip.open(path, "wt") as file:
        base = {} if started is None else {"baseTimeNanoseconds": started}
        json.dump({"schemaVersion": 1, **base, "traceEvents": events}, file)
    return path


def schema_problems(value, schema, where="$"):
    """The part of JSON Schema that ours uses."""
    if "anyOf" in schema:
        return min((schema_problems(value, each, where) for each in schema["anyOf"]), key=len)
    if "const" in schema or "enum" in schema:
        allowed = schema.get("enum", [schema.get("const")])
        return [] if value in allowed else [f"{where}: {value!r} is none of {allowed}"]
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float), "null": type(None)}
    if not isinstance(value, kinds[schema["type"]]) or (isinstance(value, bool) and schema["type"] != "boolean"):
        return [f"{where}: {value!r} is no {schema['type']}"]
    if schema["type"] == "array":
        return [found for at, item in enumerate(value) for found in schema_problems(item, schema["items"], f"{where}[{at}]")]
    if schema["type"] != "object":
        return []
    members = schema["properties"]
    wrong = [f"{where}: {name} is unknown" for name in value.keys() - members.keys()]
    wrong += [f"{where}: {name} is missing" for name in set(schema["required"]) - value.keys()]
    return wrong + [found for name in value.keys() & members.keys() for found in schema_problems(value[name], members[name], f"{where}.{name}")]


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-check-"))
        cls.base = made_trace(cls.folder / "base.json.gz", 10, 1)
        cls.same = made_trace(cls.folder / "same.json.gz", 10, 2)
        cls.slow = made_trace(cls.folder / "slow.json.gz", 11, 3, operators=4)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_exit_codes(self):
        budget = ("--within-runs", "--against", self.base, "--budget")
        self.assertEqual(check(self.same, *budget, "step_time+3%").returncode, 0)
        self.assertEqual(check(self.slow, *budget, "step_time+3%").returncode, 1)
        self.assertEqual(check(self.slow, *budget, "operator_calls+0").returncode, 1)
        self.assertEqual(check(self.same, *budget, "operator_calls+0").returncode, 0)
        self.assertEqual(check(self.same, *budget, "step_time+0%").returncode, 4)
        self.assertEqual(check(self.same, *budget, "step_time").returncode, 2)
        self.assertEqual(check(self.same, "--against", self.base).returncode, 2)
        self.assertEqual(check(self.same, "--budget", "launches+0").returncode, 2)
        self.assertEqual(check(self.folder / "none.json", *budget, "step_time+3%").returncode, 3)
        self.assertEqual(check(self.same, "--against", self.folder / "none", "--budget", "step_time+3%").returncode, 3)

    def test_a_limit_between_two_counts_is_not_rounded_to_the_one_that_is_over(self):
        many = made_trace(self.folder / "many.json.gz", 10, 4, operators=1467)
        shown = check(many, "--against", many, "--budget", "operator_calls<=1580.5", "--budget", "operator_calls+10%").stdout
        self.assertIn("1,467, at most 1,580.5", shown)
        self.assertIn("at most 1,613.7", shown)

    def test_what_was_not_recorded_is_said_in_one_number(self):
        shown = " ".join(check(self.same, "--against", self.base, "--budget", "flops+0", "--budget", "graph_breaks+0").stdout.split())
        self.assertIn("there is no shape in it; record with record_shapes=True", shown)
        self.assertIn("there is no compiled region in it", shown)

    def test_certainly_over_wins_over_what_cannot_be_told(self):
        done = check(self.slow, "--within-runs", "--against", self.base, "--budget", "step_time+3%", "--budget", "peak_memory<1GiB")
        self.assertEqual(done.returncode, 1)
        self.assertIn("profile_memory=True", done.stdout)

    def test_undecided_is_as_asked(self):
        for answer, code in (("pass", 0), ("fail", 1)):
            done = check(self.same, "--against", self.base, "--budget", "step_time+0%", "--undecided", answer)
            self.assertEqual(done.returncode, code)
        done = check(self.slow, "--within-runs", "--against", self.base, "--budget", "step_time+3%", "--undecided", "pass")
        self.assertEqual(done.returncode, 1, "what is certainly over is no matter of taste")
        self.assertEqual(check(self.same, "--against", self.base, "--budget", "step_time+0%", "--undecided", "x").returncode, 2)

    def test_one_run_a_side_decides_nothing_about_times_unless_asked(self):
        for new in (self.same, self.slow):
            done = check(new, "--against", self.base, "--budget", "step_time+3%", "--json")
            budget = json.loads(done.stdout)["checks"][0]["budgets"][0]
            self.assertEqual((done.returncode, budget["result"]), (4, "cannot_tell"))
            self.assertEqual(budget["basis"], "within one run a side")
            self.assertIn("does not show how runs vary", budget["reason"])
            self.assertEqual(len(budget["interval"]), 2, "it is shown all the same")
            self.assertNotIn("estimate", budget, "the interval is of the medians themselves")
        self.assertEqual(check(self.slow, "--against", self.base, "--budget", "operator_calls+0").returncode, 1)

    def test_pairs_of_runs_see_through_drift(self):
        base, new, over = self.folder / "b", self.folder / "n", self.folder / "o"
        for folder in (base, new, over):
            folder.mkdir()
        for run in range(7):
            drift = 10 * (1 + 0.1 * run)
            made_trace(base / f"run{run}.json.gz", drift, 10 + run, started=turn(run, False))
            made_trace(new / f"run{run}.json.gz", 1.002 * drift, 20 + run, started=turn(run, True))
            made_trace(over / f"run{run}.json.gz", 1.03 * drift, 30 + run, started=turn(run, True))
        self.assertEqual(check(new, "--against", base, "--budget", "step_time+1%").returncode, 0)
        done = check(over, "--against", base, "--budget", "step_time+1%", "--json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout)["checks"][0]["budgets"][0]["basis"], "over 7 pairs of runs")
        # The same runs named one by one.
        against = [word for file in sorted(base.iterdir()) for word in ("--against", file)]
        self.assertEqual(check(*sorted(over.iterdir()), *against, "--budget", "step_time+1%").returncode, 1)

    def test_of_pairs_the_number_beside_the_interval_is_what_it_is_of(self):
        base, new = self.folder / "halves", self.folder / "halves_of_new"
        for folder in (base, new):
            folder.mkdir()
        for run in range(10):
            # Each pair is 10 % slower, but one: with it the median of new is among the long runs, that of base between.
            length = 10 if run < 5 else 20
            made_trace(base / f"run{run}.json.gz", length, 10 + run, started=turn(run, False))
            made_trace(new / f"run{run}.json.gz", 1.1 * (20 if run == 4 else length), 50 + run, started=turn(run, True))
        # Of a percentage a change, of an amount the time that is compared with the limit.
        for budget in ("step_time+3%", "step_time+500us"):
            arguments = (new, "--against", base, "--budget", budget)
            junit = self.folder / "junit.xml"
            found = json.loads(check(*arguments, "--json", "--junit", junit).stdout)["checks"][0]["budgets"][0]
            self.assertEqual((found["result"], found["basis"]), ("over", "over 10 pairs of runs"))
            low, high = found["interval"]
            self.assertGreater(found["new"], 1.02 * high, "the medians of the sides are no pair")
            self.assertTrue(low <= found["estimate"] <= high)
            change = found["estimate"] / found["base"] - 1
            said = f"+{100 * change:.1f} % by pairs" if "%" in budget else f"{found['estimate'] / 1e6:.2f} ms by pairs"
            for text in (check(*arguments).stdout, check(*arguments, "--markdown").stdout, junit.read_text()):
                self.assertIn(f"{said} (95 % interval", " ".join(text.split()))

    def test_all_of_base_and_then_all_of_new_cannot_be_told(self):
        base, new, unknown = self.folder / "first", self.folder / "then", self.folder / "unknown"
        for folder in (base, new, unknown):
            folder.mkdir()
        for run in range(7):
            made_trace(base / f"run{run}.json.gz", 10, 40 + run, started=turn(run, False))
            made_trace(new / f"run{run}.json.gz", 13, 50 + run, started=turn(100 + run, False))
            made_trace(unknown / f"run{run}.json.gz", 13, 60 + run)
        for folder, sentence in ((new, "not recorded in turns"), (unknown, "not all recordings say when")):
            done = check(folder, "--against", base, "--budget", "step_time+1%", "--json")
            budget = json.loads(done.stdout)["checks"][0]["budgets"][0]
            self.assertEqual((done.returncode, budget["result"]), (4, "cannot_tell"))
            self.assertIn(sentence, budget["reason"])
            self.assertIn("record both sides in turns", budget["reason"])
        for option, code in ((("--within-runs",), 1), (("--undecided", "pass"), 0), (("--undecided", "fail"), 1)):
            self.assertEqual(check(new, "--against", base, "--budget", "step_time+1%", *option).returncode, code)

    def test_copies_of_a_recording_are_one_run(self):
        base, new = self.folder / "copies", self.folder / "copies_of_slow"
        for folder, recording in ((base, self.base), (new, self.slow)):
            folder.mkdir()
            for run in range(7):
                shutil.copy(recording, folder / f"run{run}.json.gz")
        done = check(new, "--against", base, "--budget", "step_time+1%", "--json")
        budget = json.loads(done.stdout)["checks"][0]["budgets"][0]
        self.assertEqual((done.returncode, budget["basis"]), (4, "within one run a side"))
        self.assertIn("copies of one recording count once", budget["reason"])

    def test_ranks_are_one_run(self):
        done = check(RECORDED / "late_rank.cured", "--against", RECORDED / "late_rank.ill", "--budget", "operator_calls+100%", "--json")
        answer = json.loads(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIsInstance(answer["checks"][0]["budgets"][0]["rank"], int)
        one = next(iter(sorted((RECORDED / "late_rank.cured").iterdir())))
        done = check(one, "--against", RECORDED / "late_rank.ill", "--budget", "operator_calls+100%")
        self.assertEqual(done.returncode, 4)
        self.assertIn("is missing in new", " ".join(done.stdout.split()))

    def test_all_that_differs_is_named(self):
        arguments = (H100, "--against", ROOT / "examples/resnet50_v100.pt.trace.json.gz", "--budget", "step_time+3%")
        differs = json.loads(check(*arguments, "--json").stdout)["checks"][0]["differs"]
        self.assertGreater(len(differs), 5)
        for words in ((), ("--markdown",)):
            text = " ".join(check(*arguments, *words).stdout.replace("\\", "").split())
            for each in differs:
                for value in (each["title"], each["base"], each["new"]):
                    self.assertIn(value, text)

    def test_json_is_as_the_schema_says(self):
        schema = json.loads((ROOT / "docs/check.schema.json").read_text())
        pairs = [self.folder / side for side in ("schema_base", "schema_new")]
        for is_new, folder in enumerate(pairs):
            folder.mkdir()
            for run in range(6):
                made_trace(folder / f"run{run}.json.gz", 10, 60 + 10 * is_new + run, started=turn(run, is_new))
        for arguments in (
            (pairs[1], "--against", pairs[0], "--budget", "step_time+3%"),
            (self.slow, "--against", self.base, "--budget", "step_time+3%", "--budget", "peak_memory<1GiB"),
            (H100, "--against", H100, "--budget", "launches+0", "--budget", "copied_bytes<1kB"),
            (RECORDED / "late_rank.cured", "--against", RECORDED / "late_rank.ill", "--budget", "step_time+3%"),
        ):
            answer = json.loads(check(*arguments, "--json").stdout)
            self.assertEqual(schema_problems(answer, schema), [])

    def test_junit_is_a_test_case_for_each_budget(self):
        file = self.folder / "junit.xml"
        budgets = ("--budget", "step_time+3%", "--budget", "peak_memory<1GiB", "--budget", "operator_calls+9")
        for undecided, expected in (((), {"errors": 1, "skipped": 0, "failures": 1}), (("--undecided", "pass"), {"errors": 0, "skipped": 1, "failures": 1}),
                                    (("--undecided", "fail"), {"errors": 0, "skipped": 0, "failures": 2})):
            check(self.slow, "--within-runs", "--against", self.base, *budgets, "--junit", file, *undecided)
            suite = ET.parse(file).getroot().find("testsuite")
            self.assertEqual({name: int(suite.get(name)) for name in expected}, expected)
            self.assertEqual(int(suite.get("tests")), 3)
            self.assertEqual([case.get("name") for case in suite], ["step_time+3%", "peak_memory<1GiB", "operator_calls+9"])
        self.assertIsNotNone(suite.find("testcase[@name='step_time+3%']/failure"))

    def test_the_answer_is_printed_where_junit_cannot_be_written(self):
        done = check(self.base, "--against", self.base, "--budget", "operator_calls+0", "--junit", self.folder / "none" / "x.xml")
        self.assertIn("certainly within", done.stdout)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--junit", done.stderr)

    def test_markdown_stays_below_the_limit_of_a_step_summary(self):
        budgets = [word for number in range(20000) for word in ("--budget", f"operator_calls<{number}")]
        done = check(self.slow, "--against", self.base, *budgets, "--markdown")
        self.assertEqual(done.returncode, 1)
        self.assertLess(len(done.stdout.encode()), SUMMARY_LIMIT)
        left = int(re.search(r"(\d+) more budgets do not fit", done.stdout)[1])
        shown = len(re.findall(r"^\| (?:within|over) \|", done.stdout, re.M))
        self.assertEqual(shown + left, 20000)

    def test_a_full_disk_is_no_passed_check(self):
        done = check(self.same, "--against", self.base, "--budget", "step_time+3%", "--junit", "/dev/full")
        self.assertEqual(done.returncode, 2)
        self.assertIn("No space left", done.stderr)


if __name__ == "__main__":
    unittest.main()
