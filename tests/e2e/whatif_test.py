"""fathom whatif as people and scripts meet it: every change on real recordings, mistakes, JSON."""
import json
import unittest

import program

EXAMPLE = str(program.ROOT / "examples/resnet50_v100.pt.trace.json.gz")
TRANSFORMER = str(program.ROOT / "tests/data/traces/sidnb13_h100_transformer_step.pt.trace.json.gz")


def fathom(*arguments):
    done = program.fathom("whatif", *arguments, "--quiet", COLUMNS="80")
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    return done


def answer(*arguments) -> dict:
    done = fathom(*arguments, "--json")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class WhatIf(unittest.TestCase):
    def test_several_changes_print_the_new_step_time_and_what_bounds_it(self):
        done = fathom(EXAMPLE, "--scale", "aten::cudnn_convolution=0.5", "--remove-syncs", "--overlap-input")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for label in ("Step time", "Bound by", "Then by", "Change", "Unexplained"):
            self.assertIn(f"\n{label}", done.stdout)
        self.assertEqual(done.stdout.count("\nChange"), 3)
        self.assertLessEqual(max(len(line) for line in done.stdout.splitlines()), 80)

    def test_json_has_the_same_numbers_and_says_what_was_assumed(self):
        result = answer(EXAMPLE, "--scale", "kernel:.=0.5", "--overlap-input")
        self.assertEqual(result["schema"], "fathom.whatif/1")
        self.assertEqual([change["what"] for change in result["changes"]], ["scale kernel:.=0.5", "overlap input"])
        for change in result["changes"]:
            self.assertGreater(change["slices"], 0)
            self.assertTrue(change["assumption"])
        for forecast in (result["before"], result["best"], result["worst"]):
            self.assertIn(forecast["bound_by"], ("host", "launch", "device", "communication", "copy", "wait"))
            path = forecast["critical_path"]
            self.assertEqual(forecast["bound_by"], max(path, key=path.get).removesuffix("_ns"))
        self.assertLess(result["best"]["step_median_ns"], result["before"]["step_median_ns"])
        self.assertLessEqual(result["best"]["step_median_ns"], result["worst"]["step_median_ns"])

    def test_before_is_the_recorded_step(self):
        done = program.fathom("steps", EXAMPLE, "--json", "--quiet")
        windows = sorted(row["window_ns"] for row in json.loads(done.stdout)["rows"] if not row["edge"])
        middle = len(windows) // 2
        median = windows[middle] if len(windows) % 2 else (windows[middle - 1] + windows[middle]) // 2
        self.assertEqual(answer(EXAMPLE, "--remove-syncs")["before"]["step_median_ns"], median)

    def test_every_change_works_on_a_recording_that_has_what_it_changes(self):
        changes = [("--scale", "phase:backward=0.8"), ("--scale", "op:^aten::.*conv=0.5"), ("--scale", "host:aten=0"),
                   ("--fuse", "elementwise"), ("--roof", "sgemm|conv=0.8"), ("--remove-syncs",), ("--overlap-input",),
                   ("--launch-once",), ("--pin-copies",)]
        for change in changes:
            with self.subTest(change):
                result = answer(EXAMPLE, *change)
                self.assertLessEqual(result["best"]["step_median_ns"], result["before"]["step_median_ns"])
                self.assertGreater(result["best"]["step_median_ns"], 0)

    def test_what_bounds_the_step_changes_with_it(self):
        result = answer(EXAMPLE, "--scale", "kernel:.=0.01")
        self.assertEqual(result["best"]["bound_by"], "host")
        result = answer(EXAMPLE, "--scale", "host:.=0", "--overlap-input", "--launch-once")
        self.assertEqual(result["best"]["bound_by"], "device")

    def test_part_of_the_steps_may_be_chosen(self):
        self.assertEqual(answer(EXAMPLE, "--remove-syncs", "--steps", "6-7")["steps"], 2)

    def test_a_finding_saves_what_the_diagnosis_says(self):
        diagnosis = json.loads(program.fathom("diagnose", EXAMPLE, "--json", "--quiet").stdout)
        predicted = [finding for finding in diagnosis["findings"] if finding["predicted_step_ns"]]
        self.assertGreater(len(predicted), 2)
        for finding in predicted:
            with self.subTest(finding["id"]):
                result = answer(EXAMPLE, "--finding", finding["id"])
                self.assertEqual(result["before"]["step_mean_ns"], finding["step_ns"])
                self.assertEqual(result["best"]["step_mean_ns"], finding["predicted_step_ns"]["likely"])
                self.assertGreaterEqual(result["worst"]["step_mean_ns"], result["best"]["step_mean_ns"])
                self.assertEqual([change["what"] for change in result["changes"]], ["finding " + finding["id"]])
                self.assertGreater(result["changes"][0]["slices"], 0)
                self.assertIn(finding["assumption"], result["changes"][0]["assumption"])

    def test_a_finding_beside_another_change_is_one_replay(self):
        diagnosis = json.loads(program.fathom("diagnose", EXAMPLE, "--json", "--quiet").stdout)
        first = next(finding["id"] for finding in diagnosis["findings"] if finding["predicted_step_ns"])
        scale = ("--scale", "kernel:.=0.5")
        other, both = answer(EXAMPLE, *scale), answer(EXAMPLE, "--finding", first, *scale)
        self.assertLess(both["best"]["step_median_ns"], other["best"]["step_median_ns"])
        self.assertEqual([change["what"] for change in both["changes"]], ["finding " + first, "scale kernel:.=0.5"])

    def fails(self, *arguments, says):
        done = fathom(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn(says, done.stderr)

    def test_wrong_name_suggests_the_nearest(self):
        self.fails(EXAMPLE, "--scale", "aten::cudnn_convolutoin=0.5", says="did you mean 'aten::cudnn_convolution'?")
        self.fails(EXAMPLE, "--scale", "phase:forwards=0.5", says="phases are forward, backward")

    def test_changes_that_make_no_sense(self):
        self.fails(EXAMPLE, says="name a change")
        self.fails(EXAMPLE, "--scale", "aten::mm", says="an equals sign and a number")
        self.fails(EXAMPLE, "--scale", "aten::mm=fast", says="'fast' is not a number")
        self.fails(EXAMPLE, "--scale", "op:mm(=0.5", says="not a regular expression")
        self.fails(EXAMPLE, "--hide-communication", says="nothing of that in the trace")
        self.fails(EXAMPLE, "--finding", "host-bonud", says="finding host-bonud: none of this id")
        self.fails(EXAMPLE, "--roof", "gemm=2", says="not a number from 0 to 1")
        self.fails(EXAMPLE, "--roof", "gemm=0.5", "--peaks", "H1000", says="--peaks")


if __name__ == "__main__":
    unittest.main()
