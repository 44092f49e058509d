"""The held-out pairs: each is recorded and measured, and something is predicted for its first recording."""

from __future__ import annotations

import json
import unittest

from asking import ROOT, answers, findings

FOLDER = ROOT / "tests/illness/kept"
SUFFIX = ".trace.json.gz"
PAIRS = json.loads((ROOT / "tests/illness/kept.pairs.json").read_text())["pairs"]


class Kept(unittest.TestCase):
    def test_each_pair_is_recorded_and_measured(self):
        expected = {f"{each['pair']}.{role}" for each in PAIRS for role in ("ill", "cured")}
        self.assertEqual({path.name.removesuffix(SUFFIX) for path in FOLDER.iterdir()} - {"measured.json"}, expected)
        measured = json.loads((FOLDER / "measured.json").read_text())["pairs"]
        self.assertEqual(set(measured), {each["pair"] for each in PAIRS})

    def test_each_illness_is_promised_a_gain(self):
        for each in PAIRS:
            path = FOLDER / f"{each['pair']}.ill"
            path = path if path.exists() else path.with_name(path.name + SUFFIX)
            found = [one for answer in answers(str(path)) for one in findings(answer)]
            promised = [one for one in found if one["rule"] in each["cures"] and one["predicted_step_ns"]]
            with self.subTest(pair=each["pair"]):
                self.assertNotEqual(promised, [])
                for one in promised:
                    ends = one["predicted_step_ns"]
                    self.assertLess(ends["low"], ends["likely"])
                    self.assertLess(ends["likely"], ends["high"])


if __name__ == "__main__":
    unittest.main()
