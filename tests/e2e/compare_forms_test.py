"""fathom compare of more than two recordings, of results of fathom bench, and as SVG and markdown."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from check_test import schema_problems
from compare_cases_test import EAGER, FATHOM, GPU, RECORDED, ROOT, Loop

SVG = "{http://www.w3.org/2000/svg}"


def compare(*words):
    return subprocess.run([FATHOM, "compare", *map(str, words)], capture_output=True, text=True, timeout=120, check=False)


def bench_result(path, times, metric="step"):
    """What fathom bench --json writes, as far as it is read; a test below reads a real one."""
    runs = [{"side": "new", "warmup": number == 0, f"{metric}_ns": time} for number, time in enumerate([max(times), *times])]
    path.write_text(json.dumps({"schema": "fathom.bench/1", "new": ["python", "train.py"], "headline": metric, "conditions": {"cpu": "x"}, "runs": runs}))
    return path


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-compare-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def loop(self, name, length):
        """A loop whose GEMM takes so many µs."""
        return Loop([("aten::mm", [("sgemm", length)]), *EAGER[1:]]).write(self.folder / f"{name}.json.gz")


class SideFiles(Folder):
    def test_the_comparison_is_printed_where_the_picture_cannot_be_written(self):
        base, new = self.loop("base", 1000), self.loop("new", 700)
        done = compare("--svg", self.folder / "none" / "x.svg", base, new)
        self.assertIn("Base ", done.stdout)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--svg", done.stderr)

    def test_markdown_stays_below_the_limit_of_a_step_summary(self):
        inputs = []
        for name, length in (("base", 100), ("new", 130)):
            operators = [(f"op{i}_" + "x" * 50_000, [(f"kernel{i}_" + "y" * 50_000, length)]) for i in range(30)]
            inputs.append(Loop(operators).write(self.folder / f"{name}.json.gz"))
        for words in (inputs, ["--all", *inputs], [*inputs, inputs[0]]):
            done = compare("--markdown", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess(len(done.stdout.encode()), 1_000_000)


class Ladders(Folder):
    def setUp(self):
        super().setUp()
        self.variants = [self.loop(name, length) for name, length in (("base", 1000), ("one", 700), ("two", 400))]

    def test_each_variant_is_what_two_recordings_give(self):
        answer = json.loads(compare("--json", *self.variants).stdout)
        self.assertEqual(answer["schema"], "fathom.ladder/1")
        self.assertEqual((answer["variants"][0]["step"], answer["variants"][0]["in_all"]), (None, None))
        for key, pairs in (("step", ((0, 1), (1, 2))), ("in_all", ((0, 1), (0, 2)))):
            for variant, (base, new) in zip(answer["variants"][1:], pairs, strict=True):
                direct = json.loads(compare("--json", self.variants[base], self.variants[new]).stdout)["pairs"][0]
                for member in ("change_ns", "ratio", "ratio_interval", "comparability", "counters", "differs"):
                    self.assertEqual(variant[key][member], direct[member])
                self.assertEqual(variant[key]["causes"][0]["cause"], direct["causes"][0]["cause"])
        self.assertEqual(sum(variant["step"]["change_ns"] for variant in answer["variants"][1:]), answer["variants"][2]["in_all"]["change_ns"])

    def test_json_is_as_the_schema_says(self):
        schema = json.loads((ROOT / "docs/ladder.schema.json").read_text())
        for words in (self.variants, ["--target", "40%", *self.variants], [self.variants[0], GPU, RECORDED / "fp64.ill.trace.json.gz"]):
            self.assertEqual(schema_problems(json.loads(compare("--json", *words).stdout), schema), [])

    def test_the_text_has_each_step_and_all(self):
        done = compare(*self.variants, "--target", "90%", "--within-runs")
        self.assertEqual(done.returncode, 0, done.stderr)
        whole = json.loads(compare("--json", *self.variants[::2]).stdout)["pairs"][0]
        self.assertIn(f"{1 / whole['ratio']:.3f}"[:4], done.stdout)
        self.assertIn("certainly not reached", " ".join(done.stdout.split()))
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)
        markdown = compare(*self.variants, "--markdown").stdout
        self.assertEqual(markdown.count("\n| "), 4)

    def test_targets_are_reached_certainly_or_not(self):
        for target, reached in (("1%", "reached"), ("99%", "not_reached"), ("10ms", "reached"), ("1us", "not_reached")):
            answer = json.loads(compare("--json", "--within-runs", "--target", target, *self.variants).stdout)
            self.assertEqual(answer["target"]["reached"], reached, target)
            two = json.loads(compare("--json", "--within-runs", "--target", target, *self.variants[::2]).stdout)
            self.assertEqual(two["target"], answer["target"])
            alone = json.loads(compare("--json", "--target", target, *self.variants).stdout)
            self.assertEqual(alone["target"]["reached"], "cannot_tell", "one run a side does not show how runs vary")
            self.assertIn("--within-runs", alone["target"]["reason"])
        self.assertIn("Target ", compare("--target", "1%", *self.variants[:2]).stdout)

    def test_what_does_not_go_together_is_refused(self):
        for words in (("--svg", self.folder / "x.svg", *self.variants), ("--target", "20", *self.variants), ("--target", "0%", *self.variants)):
            done = compare(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("compare: ", done.stderr)
        self.assertFalse((self.folder / "x.svg").exists())
        self.assertEqual(compare(*self.variants, self.folder / "none").returncode, 3)


class FlameGraphs(Folder):
    def test_frames_are_as_wide_as_their_times(self):
        file = self.folder / "change.svg"
        base, new = self.loop("base", 1000), self.loop("new", 500)
        done = compare("--svg", file, "--json", base, new)
        self.assertEqual(done.returncode, 0, done.stderr)
        pair = json.loads(done.stdout)["pairs"][0]
        root = xml.etree.ElementTree.parse(file).getroot()
        frames = {}
        for group in root.iter(f"{SVG}g"):
            name = group.find(f"{SVG}title").text.split("\n")[0]
            frames.setdefault(name, []).append(float(group.find(f"{SVG}rect").get("width")))
        whole, after = frames["mean step"]
        self.assertAlmostEqual(after / whole, pair["new"]["mean_ns"] / pair["base"]["mean_ns"], delta=0.001)
        mm = next(row for row in pair["rows"] if row["what"] == "aten::mm" and row["bucket"] == "compute")
        widths = next(frames[name] for name in frames if name.startswith("aten::mm [") and len(frames[name]) == 2)
        for width, side in zip(widths, ("base", "new"), strict=True):
            share = mm[f"{side}_sum_ns"] / pair[side]["steps"] / pair["base"]["mean_ns"]
            self.assertAlmostEqual(width / whole, share, delta=0.001)
        classes = {rect.get("class") for rect in root.iter(f"{SVG}rect")}
        self.assertIn("less", classes)
        # The sentence with the step times is there whole.
        lines = " ".join(each.text for each in root.iter(f"{SVG}text") if each.get("class") == "soft")
        self.assertRegex(lines, r"^Step time: .* medians of the usual steps\. .*one recording a side\. Width: ")

    def test_names_cannot_break_out(self):
        file = self.folder / "x.svg"
        name = "</text><script>alert(1)</script>"
        base, new = (Loop([(name, [(name, length)])]).write(self.folder / f"{length}.json.gz") for length in (300, 200))
        self.assertEqual(compare("--svg", file, base, new).returncode, 0)
        self.assertIn("script", file.read_text())
        self.assertEqual([each.tag for each in xml.etree.ElementTree.parse(file).iter() if "script" in each.tag], [])

    def test_a_file_that_cannot_be_written_is_said(self):
        base = self.loop("base", 1000)
        done = compare("--svg", self.folder / "none" / "x.svg", base, base)
        self.assertNotEqual(done.returncode, 0)
        self.assertTrue(done.stderr.startswith("fathom: compare: --svg: "), done.stderr)
        self.assertIn("x.svg", done.stderr)


class BenchResults(Folder):
    def test_times_of_runs_are_compared_and_nothing_else(self):
        base = bench_result(self.folder / "base.json", [30_000_000 + number for number in range(8)])
        new = bench_result(self.folder / "new.json", [20_000_000 + number for number in range(9)])
        done = compare("--json", base, new)
        pair = json.loads(done.stdout)["pairs"][0]
        self.assertEqual((pair["comparability"], pair["base"]["steps"], pair["new"]["steps"]), ("times_only", 8, 9))
        self.assertEqual((pair["buckets"], pair["rows"], pair["phases"], pair["causes"]), ([], [], [], []))
        self.assertLess(pair["ratio_interval"][1], 1)
        self.assertIn("not taken in turns", pair["ratio_note"])
        self.assertEqual(schema_problems(json.loads(done.stdout), json.loads((ROOT / "docs/compare.schema.json").read_text())), [])
        self.assertIn("8 runs (step)", compare(base, new).stdout)

    def test_a_folder_with_a_result_is_one_and_itself_is_the_same(self):
        (self.folder / "session").mkdir()
        result = bench_result(self.folder / "session" / "bench.json", [5, 6, 7])
        self.assertIn("same recording", compare(self.folder / "session", result).stdout)

    def test_beside_a_recording_only_times_are_compared(self):
        pair = json.loads(compare("--json", bench_result(self.folder / "b.json", [5000] * 8), self.loop("new", 400)).stdout)["pairs"][0]
        self.assertEqual(pair["comparability"], "times_only")
        self.assertIn("One side is a result of fathom bench", pair["notes"][0])

    def test_a_real_result_is_read(self):
        done = subprocess.run([FATHOM, "bench", "--runs", "6", "--metric", "wall", "--json", "--", "true"], capture_output=True, text=True, timeout=120, check=True)
        result = self.folder / "real.json"
        result.write_text(done.stdout)
        pair = json.loads(compare("--json", result, bench_result(self.folder / "b.json", [5000] * 8, "wall")).stdout)["pairs"][0]
        self.assertEqual((pair["comparability"], pair["base"]["steps"], pair["base"]["step_name"]), ("times_only", 6, "wall"))

    def test_what_cannot_be_read_is_said(self):
        result = bench_result(self.folder / "b.json", [5000] * 8)
        result.write_text(result.read_text().replace('"headline": "step"', '"headline": "peak-memory"'))
        done = compare(result, self.loop("new", 400))
        self.assertEqual(done.returncode, 3)
        self.assertIn("peak-memory", done.stderr)
        old = self.folder / "old.json"
        old.write_text('{"schema": "fathom.bench/0"}')
        done = compare(old, old)
        self.assertEqual(done.returncode, 3)
        self.assertIn("measure it anew", done.stderr)


class Screens(Folder):
    def test_a_comparison_is_one_screen(self):
        for name in sorted(path.name.removesuffix(".ill.trace.json.gz") for path in RECORDED.glob("*.ill.trace.json.gz")):
            pair = [RECORDED / f"{name}.{kind}.trace.json.gz" for kind in ("ill", "cured")]
            self.assert_one_screen(pair)

    def test_with_phases_it_is_one_screen_still(self):
        # A loop in four phases whose every kernel changes.
        base = Loop([(name, [(f"k{number}", 300 + number)]) for number, (name, _) in enumerate(EAGER)])
        text = self.assert_one_screen([GPU, GPU.with_name("hta_alexnet.json.gz")])
        self.assertIn("Step time", text)
        new = Loop([(name, [(f"k{number}", 200)]) for number, (name, _) in enumerate(EAGER)])
        text = self.assert_one_screen([base.write(self.folder / "base.json.gz"), new.write(self.folder / "new.json.gz")])
        self.assertIn("By phase", text)

    def test_all_that_differs_is_named_on_it(self):
        pair = [GPU, ROOT / "examples/resnet50_v100.pt.trace.json.gz"]
        self.assert_one_screen(pair)
        self.assert_all_is_named(*pair)
        # A ladder has each beside the one before.
        self.assert_all_is_named(*pair, ROOT / "tests/data/runs/cpu_train")

    def test_what_differs_on_another_rank_is_named_too(self):
        ranks = ROOT / "tests/data/runs/two_ranks"
        other = shutil.copytree(ranks, self.folder / "other")
        facts = other / "process-5773.json"
        facts.write_text(facts.read_text().replace('"seed": 0', '"seed": 7').replace('"tf32_matmul": false', '"tf32_matmul": true'))
        for words in ((), ("--markdown",)):
            text = " ".join(compare(*words, ranks, other).stdout.split())
            self.assertIn("seed of torch of rank 1 0 → 7", text)
            self.assertIn("TF32 of rank 1 false → true", text)

    def assert_all_is_named(self, *inputs):
        answer = json.loads(compare("--json", *inputs).stdout)
        pairs = answer["pairs"] if len(inputs) == 2 else [each["step"] for each in answer["variants"][1:]]
        for words in ((), ("--all",), ("--markdown",)):
            text = " ".join(compare(*words, *inputs).stdout.replace("\\", "").split())
            for each in (each for pair in pairs for each in pair["differs"]):
                for value in (each["title"], each["base"], each["new"]):
                    self.assertIn(value, text, words)

    def assert_one_screen(self, pair):
        done = subprocess.run([FATHOM, "compare", *map(str, pair)], capture_output=True, text=True, timeout=120, check=True,
                              env={**os.environ, "COLUMNS": "80"})
        self.assertLessEqual(done.stdout.count("\n"), 24, f"{pair}\n{done.stdout}")
        return done.stdout


class Everything(Folder):
    def test_all_shows_the_levels_below_one_another(self):
        base, new = self.loop("base", 1000), self.loop("new", 500)
        text = compare("--all", base, new).stdout
        lines = text.splitlines()
        heading = next(number for number, line in enumerate(lines) if "phase, module, operator, kernel" in line)
        below = [line[17:] for line in lines[heading + 1 :] if line.strip()]
        self.assertFalse(below[0].startswith(" "), "a phase")
        self.assertTrue(below[1].startswith("  compute: aten::mm"), below[1])
        self.assertIn("By phase", compare(base, new).stdout)


if __name__ == "__main__":
    unittest.main()
