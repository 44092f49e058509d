"""tools/eval --independent counts a finding as true only where its rule and its number hold."""

from __future__ import annotations

import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
sys.path.insert(0, str(ROOT / "tools"))

import independent_score  # noqa: E402
import independent_traces  # noqa: E402
from independent_score import Totals, judge, misses, named_times, wilson  # noqa: E402


def label(**more: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"trace": "x", "verdict": ["host-bound"], "arguable": ["balanced"], "verdict_reason": "late"}
    lists: dict[str, Any] = {"must": [], "true": {}, "false": {}, "false_if": [], "measured": [], "harmful_fix": []}
    return empty | lists | more


def finding(rule: str, title: str = "", **more: Any) -> dict[str, Any]:
    plain = {
        "id": rule,
        "rule": rule,
        "title": title,
        "family": "host",
        "confidence": "high",
        "counter_evidence": "",
        "evidence": [],
        "fix": {"text": "", "before": "", "after": ""},
    }
    return plain | more


def document(*findings: dict[str, Any], verdict: str = "host-bound", **more: Any) -> dict[str, Any]:
    return {"verdict": {"id": verdict}, "findings": list(findings), "health": [], "notes": []} | more


def judged(said: dict[str, Any], **more: Any) -> Any:
    return judge(label(**more), said, ["profiling-mistakes"])


class Verdicts(unittest.TestCase):
    def test_an_arguable_one_counts_half(self):
        for verdict, points in (("host-bound", 1), ("balanced", 0.5), ("sync-bound", 0)):
            self.assertEqual(judged(document(verdict=verdict)).verdict_points, points)

    def test_no_answer_is_no_verdict(self):
        self.assertEqual(judge(label(), {}, [], "exit code 3").verdict_points, 0)
        self.assertIn("exit code 3", misses(judge(label(), {}, [], "exit code 3"))[0])


class Findings(unittest.TestCase):
    def test_true_false_neutral_and_unjudged_ones_are_told_apart(self):
        said = document(*(finding(rule) for rule in ("fp64", "zero-grad", "profiling-mistakes", "late-rank")))
        each = judged(said, true={"fp64": ""}, false={"zero-grad": "there is none"})
        self.assertEqual([f["rule"] for f in each.true], ["fp64"])
        self.assertEqual([f["rule"] for f, _ in each.false], ["zero-grad"])
        self.assertEqual([f["rule"] for f in each.unjudged], ["late-rank"])

    def test_one_that_must_be_made_is_true(self):
        each = judged(document(finding("fp64")), must=[{"rules": ["fp64"], "reason": ""}])
        self.assertEqual(len(each.true), 1)

    def test_what_it_says_can_make_it_false(self):
        rule = [{"rule": "fp64", "match": ".", "unless": "delta_r2", "reason": "only one function"}]
        self.assertEqual(len(judged(document(finding("fp64", "all of it")), true={"fp64": ""}, false_if=rule).false), 1)
        self.assertEqual(len(judged(document(finding("fp64", "in delta_r2")), true={"fp64": ""}, false_if=rule).true), 1)

    def test_a_wrong_number_makes_it_false(self):
        times = [{"rule": "fp64", "match": ".", "ms": 10.0, "reason": "two kernels"}]
        for title, true in (("takes 10.15 ms", 1), ("takes 10.3 ms", 0), ("takes 0.010 s", 1), ("is slow", 0)):
            with self.subTest(title=title):
                self.assertEqual(len(judged(document(finding("fp64", title)), true={"fp64": ""}, measured=times).true), true)

    def test_what_it_observed_counts_as_its_number(self):
        times = [{"rule": "fp64", "match": ".", "ms": 10.0, "reason": "two kernels"}]
        for observed, right in (([9_900_000], True), ([4_000_000, 6_000_000], True), ([4_000_000], False)):
            said = document(*(finding("fp64", observed_ns=each) for each in observed))
            self.assertEqual(judged(said, measured=times).numbers[0].right, right)

    def test_a_fix_is_judged_by_its_text_and_its_code(self):
        fix = {"text": "", "before": "", "after": "is_causal=True"}
        harm = [{"rule": "fp64", "match": "is_causal", "reason": "an encoder"}]
        self.assertEqual(len(judged(document(finding("fp64", fix=fix)), harmful_fix=harm).harmful), 1)
        self.assertEqual(len(judged(document(finding("fp64", "is_causal")), harmful_fix=harm).harmful), 0)


class Demands(unittest.TestCase):
    must = [{"rules": ["late-rank"], "reason": "rank 3", "match": "rank 3"}]

    def test_the_place_of_a_required_finding_counts(self):
        others = [finding("fp64") for _ in range(3)]
        late = finding("late-rank", "waits for rank 3")
        self.assertTrue(judged(document(late, *others), must=self.must).demands[0].among_first)
        last = judged(document(*others, late), must=self.must)
        self.assertEqual((last.demands[0].met, last.demands[0].among_first), (True, False))
        self.assertIn("only in place 4", "\n".join(misses(last)))

    def test_remarks_on_the_recording_take_no_place(self):
        remarks = [finding("profiling-mistakes", family="capture") for _ in range(3)]
        each = judged(document(*remarks, finding("late-rank", "waits for rank 3")), must=self.must)
        self.assertTrue(each.demands[0].among_first)

    def test_what_the_verdict_is_about_is_no_remark(self):
        on_cpu = finding("profiling-mistakes", family="capture", part="no_gain")
        others = [finding("fp64", part="gain") for _ in range(3)]
        must = [{"rules": ["profiling-mistakes"], "reason": ""}]
        self.assertTrue(judged(document(on_cpu, *others), must=must).demands[0].among_first)
        remark = on_cpu | {"part": "capture"}
        self.assertFalse(judged(document(remark, *others), must=must).demands[0].among_first)

    def test_one_that_does_not_say_what_it_has_to_is_missing(self):
        each = judged(document(finding("late-rank", "waits for rank 5")), must=self.must)
        self.assertFalse(each.demands[0].met)
        self.assertIn("missing: late-rank: rank 3", misses(each))

    def test_a_sentence_about_the_capture_will_do_where_the_label_says_so(self):
        must = [{"rules": ["profiling-mistakes"], "reason": "", "capture": "launch"}]
        self.assertTrue(judged(document(health=[{"sentence": "378 launches lack a kernel"}]), must=must).demands[0].among_first)
        self.assertFalse(judged(document(), must=must).demands[0].met)


class Counting(unittest.TestCase):
    def test_times_are_read_with_their_rounding(self):
        self.assertEqual(named_times("1,234.5 ms of 2 s"), [(1234.5e6, 0.05e6), (2e9, 0.5e9)])
        self.assertEqual(named_times("step3 s, 3 seconds, 20 %"), [])

    def test_nearly_all_is_not_all(self):
        shares = [independent_score.share(part, whole) for part, whole in ((130.5, 131), (131, 131), (1, 2), (0, 0))]
        self.assertEqual(shares, ["130.5 of 131 (over 99 %)", "131 of 131 (100 %)", "1 of 2 (50 %)", "0 of 0 (–)"])

    def test_wilson_gives_the_textbook_interval(self):
        low, high = wilson(57, 60)
        self.assertAlmostEqual(low, 0.8630, places=3)
        self.assertAlmostEqual(high, 0.9829, places=3)
        self.assertEqual(wilson(10, 10)[1], 1.0)

    def test_totals_add_up_over_traces(self):
        good = judged(document(finding("fp64")), true={"fp64": ""}, must=[{"rules": ["fp64"], "reason": ""}])
        bad = judged(document(finding("fp64"), verdict="balanced"), false={"fp64": "none"})
        totals = Totals.of([good, bad])
        self.assertEqual((totals.verdicts, totals.true, totals.false, totals.met, totals.demanded), (1.5, 1, 1, 1, 1))
        self.assertEqual((totals.high, totals.high_true), (2, 1))
        self.assertIn("1 of 2 (50 %)", dict(totals.rows())["judged findings that are true, number included"])


class Traces(unittest.TestCase):
    def test_each_is_asked_about_once_and_absent_ones_are_named(self):
        labels = {"neutral": [], "traces": [label(trace="here"), label(trace="gone")], "interventions": []}
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "here.pt.trace.json.gz").touch()
            asked = []

            def ask(*arguments: str) -> dict[str, Any]:
                asked.append(arguments)
                return document()

            made, absent = independent_traces.judge_all(labels, [Path(folder)], ask, [])
        self.assertEqual((len(asked), [each.name for each in made], absent), (1, ["here"], ["gone"]))
        self.assertIn("1 of 2 (50 %) labelled traces are not there: gone", independent_traces.report(labels, made, absent, True))

    def test_what_is_labelled_has_rules_and_patterns_that_can_be_read(self):
        labels = independent_traces.load(ROOT / "tests/illness/independent.json")
        known = {path.stem.replace("_", "-") for path in (ROOT / "src/rules").glob("*/*.cc")}
        for each in labels["traces"]:
            with self.subTest(trace=each["trace"]):
                named = {*each["true"], *each["false"], *(rule for must in each["must"] for rule in must["rules"])}
                self.assertEqual(named - known, set())
                independent_score.judge(each, document(finding("fp64")), labels["neutral"])


if __name__ == "__main__":
    unittest.main()
