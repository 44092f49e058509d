"""tools/eval counts what a made-up diagnosis got right, and measures its promises against what happened."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import io
import json
import os
import stat
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])


def load() -> Any:
    loader = importlib.machinery.SourceFileLoader("fathom_eval", str(ROOT / "tools/eval"))
    specification = importlib.util.spec_from_loader("fathom_eval", loader)
    assert specification is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["fathom_eval"] = module  # dataclasses look their module up
    loader.exec_module(module)
    return module


tool = load()
import eval_against  # noqa: E402
import illness_changes  # noqa: E402
import illness_parts  # noqa: E402  (found through tools/eval)
import illness_score  # noqa: E402
import label_sums  # noqa: E402


def label(**more: Any) -> dict[str, Any]:
    empty = {
        "trace": "kineto/x.json.gz",
        "verdict": ["host-bound"],
        "verdict_reason": "late launches",
        "must": {},
        "any_of": [],
        "may": {},
        "must_not": {},
    }
    return empty | more


def finding(rule: str, low: int, likely: int, high: int) -> dict[str, Any]:
    return {
        "rule": rule,
        "title": rule,
        "step_ns": 1000,
        "upper_bound_ns": 1000 - low,
        "step_percent": 1,
        "predicted_step_ns": {"low": low, "likely": likely, "high": high},
    }


def document(verdict: str, findings: list[dict[str, Any]], step: int = 1000) -> dict[str, Any]:
    found = {each["rule"] for each in findings}
    rules = [
        {"rule": rule, "outcome": "found" if rule in found else "silent", "reason": ""}
        for rule in ("fp64", "zero-grad")
    ]
    return {
        "schema": "fathom.diagnosis/1",
        "input": "x",
        "baseline": {"step_mean_ns": step, "step_median_ns": step, "steps": 1},
        "replay_residual_percent": 1.5,
        "verdict": {"id": verdict},
        "findings": findings,
        "ranks": None,
        "rules": rules,
    }


def judged(answer: Any, **more: Any) -> Any:
    return illness_score.Judgement(label(**more), answer)


def verified(rules: list[str], base: str, new: str) -> dict[str, Any]:
    """What fathom verify says of a finding of fp64, which took 400 to 700 ns of 1000, and then took 500."""
    assert (rules, base, new) == (["fp64"], "x", "x")
    return {"predicted": {"low": 0.4, "likely": 0.55, "high": 0.7}, "measured": {"ratio": 0.5}}


class Judging(unittest.TestCase):
    def test_any_acceptable_verdict_is_right(self):
        self.assertTrue(judged(illness_score.Answer("sync-bound"), verdict=["host-bound", "sync-bound"]).verdict_right)
        self.assertFalse(judged(illness_score.Answer("balanced")).verdict_right)

    def test_a_failed_diagnosis_has_no_right_verdict(self):
        self.assertFalse(judged(illness_score.Answer(failure="exit code 3")).verdict_right)

    def test_one_rule_of_a_group_meets_the_demand(self):
        group = [{"rules": ["late-rank", "exposed-communication"], "reason": "waits"}]
        self.assertEqual(len(judged(illness_score.Answer(found={"late-rank"}), any_of=group).met), 1)
        self.assertEqual(
            judged(illness_score.Answer(found={"fp64"}), any_of=group).missed,
            [("late-rank or exposed-communication", "waits")],
        )

    def test_findings_are_true_false_or_unjudged(self):
        answer = illness_score.Answer(found={"fp64", "zero-grad", "conv-layout", "hot-kernel"})
        each = judged(answer, must={"fp64": ""}, may={"zero-grad": ""}, must_not={"conv-layout": ""})
        self.assertEqual(
            (each.true, each.false, each.unjudged), ({"fp64", "zero-grad"}, {"conv-layout"}, {"hot-kernel"})
        )

    def test_precision_leaves_unjudged_findings_out_and_strict_precision_counts_them(self):
        answer = illness_score.Answer("host-bound", {"fp64", "conv-layout", "hot-kernel", "late-rank"})
        score = illness_score.Score.of(
            [judged(answer, must={"fp64": "", "zero-grad": ""}, must_not={"conv-layout": ""})]
        )
        self.assertEqual((score.precision, score.strict_precision, score.recall), (0.5, 0.25, 0.5))

    def test_a_finding_with_another_time_than_its_events_sum_to_is_false(self):
        said = finding("fp64", 1, 1, 1) | {"id": "fp64", "title": "Double precision takes 3.10 ms"}
        answer = illness_score.Answer("host-bound", {"fp64"}, document("host-bound", [said]))
        right, wrong = (judged(answer, must={"fp64": ""}, sums={"fp64": ms}) for ms in (3.09, [3.2, 3.4]))
        self.assertEqual((right.true, right.false), ({"fp64"}, set()))
        self.assertEqual((wrong.true, wrong.false), (set(), {"fp64"}))
        self.assertIn("its events sum to 3.2 to 3.4 ms", wrong.wrong_numbers["fp64"])
        self.assertEqual((right.is_true(said), wrong.is_true(said)), (True, False))

    def test_among_the_first_are_three_without_remarks_on_the_recording(self):
        made = [finding(rule, 1, 1, 1) for rule in ("a", "b", "c", "d")]
        remark = finding("profiling-mistakes", 1, 1, 1) | {"family": "capture"}
        answer = illness_score.Answer("host-bound", {"c", "d"}, document("host-bound", [remark, *made]))
        each = judged(answer, must={"c": "third", "d": "fourth"})
        self.assertEqual((len(each.met), [rule for rule, _ in each.among_first]), (2, ["c"]))

    def test_fixes_are_judged_by_the_facts_of_the_label(self):
        fix = {"text": "", "before": "", "after": "sdpa(q, k, v, is_causal=True)"}
        said = finding("unfused-attention", 1, 1, 1) | {"id": "unfused-attention", "fix": fix}
        answer = illness_score.Answer("host-bound", {"unfused-attention"}, document("host-bound", [said]))
        self.assertEqual([rule for rule, _ in judged(answer, facts={"causal": False}).harmful], ["unfused-attention"])
        self.assertEqual(judged(answer).harmful, [])

    def test_sums_are_written_into_labels_and_those_of_other_findings_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "made.labels.json"
            file.write_text(json.dumps({"traces": [{"trace": "x", "sums": {"fp64": 1, "old": 2}}, {"trace": "y"}]}))
            label_sums.rewrite(file, {"x": {"sums": {"fp64": label_sums.as_label(1.5e6, 2.5e6)}, "facts": {"loader": True}}})
            x, y = json.loads(file.read_text())["traces"]
        self.assertEqual((x["sums"], x["facts"]), ({"fp64": [1.5, 2.5], "old": 2}, {"loader": True}))
        self.assertEqual(y, {"trace": "y"})

    def test_nothing_found_has_no_precision(self):
        self.assertIsNone(illness_score.Score.of([judged(illness_score.Answer("host-bound"))]).precision)


class Promises(unittest.TestCase):
    def test_findings_of_the_cured_rules_are_promised_together(self):
        both = document(
            "host-bound",
            [finding("fp64", 600, 700, 900), finding("fp64", 900, 900, 1000), finding("zero-grad", 1, 1, 1)],
        )
        self.assertEqual([round(part, 3) for part in illness_score.promise(both, ["fp64"])], [0.5, 0.6, 0.9])

    def test_no_finding_promises_nothing(self):
        self.assertIsNone(illness_score.promise(document("balanced", []), ["fp64"]))

    def test_a_pair_compares_the_promise_with_the_cured_recording_and_the_unprofiled_times(self):
        ill = illness_score.Answer(
            "compute-bound", {"fp64"}, document("compute-bound", [finding("fp64", 400, 550, 700)])
        )
        cured = illness_score.Answer("compute-bound", set(), document("compute-bound", [], 500))
        judgements = [judged(ill, pair="p", role="ill", cures=["fp64"]), judged(cured, pair="p", role="cured")]
        times = {"p": {"step": {"ill": {"wall_ms_min": 2.0}, "cured": {"wall_ms_min": 1.1}}}}
        (pair,), none = illness_score.pairs(judgements, times, verified)
        self.assertEqual(none, [])
        self.assertAlmostEqual(pair.error, 0.1)
        self.assertAlmostEqual(pair.unprofiled_error, 0.0)
        self.assertTrue(pair.inside)

    def test_a_pair_without_a_promise_is_named(self):
        silent = illness_score.Answer("balanced", set(), document("balanced", []))
        judgements = [judged(silent, pair="p", role="ill", cures=["fp64"]), judged(silent, pair="p", role="cured")]
        self.assertEqual(illness_score.pairs(judgements, {}, verified), ([], ["p"]))


class OnGpus(unittest.TestCase):
    def test_pairs_of_a_gpu_check_are_read_from_where_it_is_kept(self):
        before = {name: getattr(tool, name) for name in ("GPU", "diagnose", "verify")}
        self.addCleanup(lambda: [setattr(tool, name, value) for name, value in before.items()])
        with tempfile.TemporaryDirectory() as name:
            tool.GPU = Path(name)
            files = {
                "measured.json": b'{"pairs": {}}',
                "gpu_fp64.ill.trace.json": b"",
                "gpu_fp64.cured.trace.json": b"",
                "gpu_tf32.ill.trace.json": b"",
                "gpu_tf32.cured.trace.json": b"",
            }
            Path(name, "a_gpu").mkdir()
            with tarfile.open(Path(name, "a_gpu/pairs.tar.xz"), "w:xz") as archive:
                for file, data in files.items():
                    entry = tarfile.TarInfo(file)
                    entry.size = len(data)
                    archive.addfile(entry, io.BytesIO(data))

            def diagnose(path: Path) -> Any:
                found = [finding("fp64", 400, 550, 700)] if ".ill." in path.name else []
                return illness_score.Answer("", set(), document("compute-bound", found, 1000 if found else 500))

            tool.diagnose = diagnose
            tool.verify = verified
            (pair,), none = tool.on_gpus()
        self.assertEqual((pair.name, none), ("a_gpu: gpu_fp64", ["a_gpu: gpu_tf32"]))
        self.assertEqual(pair.recorded, 0.5)


class Changes(unittest.TestCase):
    def test_kernels_are_scaled_by_what_they_took_and_gaps_left_out(self):
        asked: list[tuple[str, ...]] = []

        def ask(*arguments: str) -> Any:
            asked.append(arguments)
            return {
                "kernels": {"rows": [{"total_ns": 100 if arguments[1] == "from" else 150}]},
                "whatif": {"before": {"step_mean_ns": 900}, "best": {"step_mean_ns": 1000}},
                "diagnose": {"baseline": {"step_mean_ns": 5000}},
                "gaps": {"rows": [{"duration_ns": 4000}]},
            }[arguments[0]]

        case = {"about": "x", "arguments": ["--remove-syncs"], "to_without_gaps": 1}
        change = illness_changes.predicted(ask, case, "from", "to")
        self.assertIn(("whatif", "from", "--scale", "kernel:.=1.5000", "--remove-syncs"), asked)
        self.assertEqual((change.before_ns, change.predicted_ns, change.measured_ns), (900, 1000, 1000))
        self.assertEqual(change.error, 0)


class Unprofiled(unittest.TestCase):
    def promised(self, before: int | None, after: int | None) -> float | None:
        said = document("host-bound", [finding("fp64", 1, 2, 3) | {"predicted_unprofiled_step_ns": after}])
        said["baseline"]["unprofiled_step_ns"] = before
        return illness_score.promise_unprofiled(said, ["fp64"])

    def test_the_promise_without_a_profiler_is_of_the_step_without_it(self):
        self.assertEqual(self.promised(800, 200), 0.25)

    def test_nothing_is_promised_where_the_profilers_part_is_not_told(self):
        self.assertIsNone(self.promised(None, None))
        self.assertIsNone(self.promised(800, None))


class Quantiles(unittest.TestCase):
    def test_ninetieth_percentile_is_not_exceeded_by_nine_of_ten(self):
        self.assertEqual(illness_score.quantile([float(n) for n in range(1, 11)], 0.9), 9)
        self.assertEqual(illness_score.quantile([3.0], 0.9), 3)


class Plugin(unittest.TestCase):
    STEPS = [{"window_ns": 100}, {"window_ns": 100}]
    BUSY = {"utilisation": 90, "idle": 20, "communication exposed": 0, "tensor-core share of kernel time": 30}

    def test_loading_counts_only_as_far_as_the_device_is_idle(self):
        loader = [{"name": "enumerate(DataLoader)#x", "host_total_ns": 100}]
        self.assertEqual(tool.plugin_rules(self.BUSY, self.STEPS, loader, {}), {"data-loading"})
        self.assertEqual(tool.plugin_rules(self.BUSY | {"idle": 9}, self.STEPS, loader, {}), set())

    def test_low_utilisation_and_exposed_communication(self):
        device = self.BUSY | {"utilisation": 49, "communication exposed": 21}
        self.assertEqual(tool.plugin_rules(device, self.STEPS, [], {}), {"host-bound", "exposed-communication"})

    def test_tensor_cores_only_when_never_used_and_eligible(self):
        operators = [{"name": "aten::mm", "host_total_ns": 1}]
        unused = self.BUSY | {"tensor-core share of kernel time": 0}
        new, old = {"device 0 compute capability": "8.0"}, {"device 0 compute capability": "6.1"}
        self.assertEqual(tool.plugin_rules(unused, self.STEPS, operators, new), {"tensor-cores-unused"})
        self.assertEqual(tool.plugin_rules(unused, self.STEPS, operators, old), set())
        self.assertEqual(tool.plugin_rules(self.BUSY, self.STEPS, operators, new), set())

    def test_memory_above_nine_tenths(self):
        full = self.BUSY | {"peak memory reserved": 91}
        self.assertEqual(tool.plugin_rules(full, self.STEPS, [], {"device 0 memory": 100}), {"memory-capacity"})

    def test_a_cpu_trace_is_judged_by_its_loading_alone(self):
        loader = [{"name": "enumerate(DataLoader)#x", "host_total_ns": 11}]
        self.assertEqual(tool.plugin_rules({}, self.STEPS, loader, {}), {"data-loading"})


class Asking(unittest.TestCase):
    def answer(self, body: str) -> Any:
        """What eval takes from a program that prints this."""
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "fathom")
            script.write_text(body)
            script.chmod(script.stat().st_mode | stat.S_IXUSR)
            before, tool.FATHOM = tool.FATHOM, str(script)
            try:
                return tool.diagnose(Path("x.json.gz"))
            finally:
                tool.FATHOM = before

    def test_a_diagnosis_is_read(self):
        text = json.dumps(document("sync-bound", [finding("fp64", 1, 2, 3)]))
        answer = self.answer(f"#!/bin/sh\ncat <<'EOF'\n{text}\nEOF\n")
        self.assertEqual((answer.verdict, answer.found, answer.failure), ("sync-bound", {"fp64"}, ""))

    def test_of_several_ranks_the_findings_are_taken_together(self):
        text = json.dumps([document("straggler", []), document("balanced", [finding("fp64", 1, 2, 3)])])
        answer = self.answer(f"#!/bin/sh\ncat <<'EOF'\n{text}\nEOF\n")
        self.assertEqual((answer.verdict, answer.found), ("straggler", {"fp64"}))

    def test_a_program_that_fails_is_a_failure_not_a_crash(self):
        self.assertIn("exit code 3", self.answer("#!/bin/sh\necho damaged >&2\nexit 3\n").failure)


class Recordings(unittest.TestCase):
    def test_every_labelled_recording_is_in_the_repository(self):
        document = json.loads((ROOT / "tests/illness/shared.labels.json").read_text())
        data = ROOT / "tests/data/recordings"
        self.assertGreater(len(document["traces"]), 50)
        self.assertEqual([each["trace"] for each in document["traces"] if not tool.recording(each["trace"], data)], [])

    def test_one_that_is_missing_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(tool.recording("kineto/nowhere.json.gz", Path(folder)))
            (Path(folder) / "nowhere.json.gz").touch()
            self.assertEqual(tool.recording("nowhere.json.gz", Path(folder)), Path(folder) / "nowhere.json.gz")
        self.assertIn("1 labelled traces are not there and left out: a/b.gz", tool.left_out(["a/b.gz"]))


class Against(unittest.TestCase):
    def test_changes_are_sorted_by_what_the_labels_say(self):
        def standing(trace: str, verdict: str, points: float, *wrong: str) -> Any:
            return eval_against.Standing(trace, verdict, points, set(wrong))

        before = [standing("a", "balanced", 1), standing("b", "balanced", 0, "missing: fp64"), standing("c", "balanced", 1)]
        after = [standing("a", "host-bound", 0), standing("b", "host-bound", 0.5), standing("c", "balanced", 1, "false: fp64")]
        self.assertEqual(
            eval_against.differences(before, after),
            [
                "worse: a: verdict balanced (1) is now host-bound (0)",
                "worse: c: now false: fp64",
                "better: b: verdict balanced (0) is now host-bound (0.5)",
                "better: b: no longer missing: fp64",
                "| | worse | better |\n| --- | --- | --- |\n| verdict | 1 | 1 |\n| false | 1 | 0 |\n| missing | 0 | 1 |\n"
                "| not among the first | 0 | 0 |\n| harmful fix | 0 | 0 |",
                "2 worse, 2 better, 0 neither",
            ],
        )


class Printing(unittest.TestCase):
    def test_every_part_is_printed_and_failures_quote_the_label(self):
        wrong = illness_score.Answer("balanced", {"fp64"}, document("balanced", [finding("fp64", 1, 2, 3)]))
        judgements = [judged(wrong, must={"zero-grad": "fills gradients"}, must_not={"fp64": "all is float"})]
        change = illness_changes.Change("a larger batch", 10_000_000, 11_000_000, 10_000_000)
        columns = {"fathom": judgements, "always x": judgements, "plugin": judgements}
        kept = illness_score.Pair("kept_x", (0.4, 0.5, 0.9), 0.45, 0.6, 0.66)
        parts = illness_parts.made_parts(columns, ([], []), ([kept], ["kept_y"]), ([], []), [change])
        names = ["summary", "rules", "pairs", "kept", "gpu", "changes", "residuals", "failures"]
        self.assertEqual(list(parts), names)
        self.assertIn("None yet", parts["gpu"])
        row = "| kept_x | 50 % | 40 % … 90 % | 45 % | +11 % | yes | 66 % | 60 % | +10 % |"
        self.assertIn(row, parts["kept"])
        self.assertIn("Nothing was predicted for: kept_y.", parts["kept"])
        self.assertIn("| a larger batch | 10.00 ms | 11.00 ms | 10.00 ms | +10.0 % |", parts["changes"])
        self.assertIn("| x | 1 | 0.00 ms | 1.50 % |", parts["residuals"])
        for text in ("is balanced, not host-bound", "fills gradients", "all is float"):
            self.assertIn(text, parts["failures"])
        self.assertIn("never seen on real data", parts["rules"])


if __name__ == "__main__":
    unittest.main()
