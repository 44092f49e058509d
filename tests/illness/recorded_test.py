"""Our own recordings, diagnosed as a user would: the verdict is one of the label's, and what must be found is found.

No times are compared: they depend on the machine that recorded. tools/eval judges everything else.
"""

from __future__ import annotations

import json
import unittest

from asking import ROOT, answers, findings

ILLNESS = ROOT / "tests/illness"
LABELS = json.loads((ILLNESS / "recorded.labels.json").read_text())["traces"]


class Recorded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.answers = {label["trace"]: answers(str(ILLNESS / "recorded" / label["trace"])) for label in LABELS}

    def for_each(self, check):
        """Calls check(label, answers, rules that found something), each in a subtest."""
        for label in LABELS:
            answers = self.answers[label["trace"]]
            found = {finding["rule"] for answer in answers for finding in findings(answer)}
            with self.subTest(trace=label["trace"]):
                check(label, answers, found)

    def test_every_recording_is_labelled(self):
        recorded = {path.name for path in (ILLNESS / "recorded").iterdir() if path.name != "measured.json"}
        self.assertEqual(recorded, set(self.answers))

    def test_verdicts_are_as_labelled(self):
        self.for_each(
            lambda label, answers, _: self.assertIn(
                answers[0]["verdict"]["id"], label["verdict"], label["verdict_reason"]
            )
        )

    def test_illnesses_are_found(self):
        def check(label, _, found):
            missed = {rule: reason for rule, reason in label["must"].items() if rule not in found}
            self.assertEqual(missed, {})
            for group in label["any_of"]:
                self.assertTrue(found & set(group["rules"]), group["reason"])

        self.for_each(check)

    def test_nothing_is_found_that_is_not_there(self):
        self.for_each(lambda label, _, found: self.assertEqual(found & set(label["must_not"]), set()))

    def test_findings_promise_no_more_than_the_step(self):
        def check(_, answers, __):
            for answer in answers:
                promised = sum(finding["upper_bound_ns"] for finding in findings(answer))
                self.assertLessEqual(promised, answer["baseline"]["step_mean_ns"])

        self.for_each(check)


if __name__ == "__main__":
    unittest.main()
