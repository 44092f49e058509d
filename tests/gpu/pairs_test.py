"""The report on a pair: whether its cause was found, the predicted and the measured saving."""

from __future__ import annotations

import unittest
from typing import Any

from part_pairs import judgement, said

CASE = {"pair": "gpu_fp64", "cures": ["fp64"], "verdicts": ["compute-bound"]}
MEASURED = {"gpu_fp64": {"step": {"ill": {"wall_ms_min": 2.0}, "cured": {"wall_ms_min": 1.1}}}}


def document(rules: list[str], step: int) -> dict[str, Any]:
    promised = {"low": 400, "likely": 550, "high": 700}
    finding = {"step_ns": step, "predicted_step_ns": promised, "upper_bound_ns": 600}
    return {
        "input": f"{step} ns",
        "verdict": {"id": "compute-bound"},
        "baseline": {"step_mean_ns": step, "step_median_ns": step},
        "findings": [finding | {"rule": rule} for rule in rules],
    }


def verified(rules: list[str], base: str, new: str) -> dict[str, Any]:
    """What fathom verify says of the two documents below."""
    assert (rules, base, new) == (["fp64"], "1000 ns", "500 ns")
    return {"predicted": {"low": 0.4, "likely": 0.55, "high": 0.7}, "measured": {"ratio": 0.5}}


class Judged(unittest.TestCase):
    def test_a_found_illness_has_a_promise_and_its_error(self):
        facts = judgement(CASE, document(["fp64"], 1000), document([], 500), MEASURED, verified)
        self.assertTrue(facts["found"])
        self.assertEqual(facts["promised"], [0.4, 0.55, 0.7])
        self.assertEqual((facts["error_percent"], facts["inside"]), (10.0, True))
        self.assertEqual(facts["unprofiled_error_percent"], 0.0)
        self.assertEqual(said(facts), "compute-bound; fp64; promised 0.55, became 0.50 (+10 %)")

    def test_an_illness_that_is_not_found_promises_nothing(self):
        facts = judgement(CASE, document(["zero-grad"], 1000), document([], 500), MEASURED, verified)
        self.assertFalse(facts["found"])
        self.assertIsNone(facts["error_percent"])
        self.assertEqual(said(facts), "compute-bound; zero-grad; nothing promised")


if __name__ == "__main__":
    unittest.main()
