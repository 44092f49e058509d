"""Recordings of programs that were written to be unseen: what they show is summed here, without Fathom."""

from __future__ import annotations

import gzip
import json
import unittest
from typing import Any

from asking import ROOT, answers, findings

FOLDER = ROOT / "tests/data/unseen"


def diagnosis(name: str) -> dict[str, Any]:
    return answers(str(FOLDER / name))[0]


def events(name: str) -> list[dict[str, Any]]:
    with gzip.open(FOLDER / name) as file:
        return [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]


class Unseen(unittest.TestCase):
    def test_the_rest_that_a_second_cycle_leaves_is_no_step(self):
        found = diagnosis("rest_of_a_cycle.json.gz")
        self.assertEqual(found["verdict"]["id"], "cannot-tell", found["verdict"])
        self.assertIn("repeat=1", found["verdict"]["sentence"])
        self.assertEqual([one["rule"] for one in findings(found) if one["part"] != "capture"], [])

    def test_too_few_workers_are_named_with_the_time_that_is_waited(self):
        name = "too_few_workers.json.gz"
        spans = sorted((one["ts"], one["ts"] + one["dur"]) for one in events(name) if "ProfilerStep#" in one["name"])
        longest = max(spans, key=lambda span: span[1] - span[0])  # an outlier, which the diagnosis leaves out
        waited = sum(
            one["dur"]
            for one in events(name)
            if "enumerate(DataLoader)" in one["name"] and not longest[0] <= one["ts"] < longest[1]
        )
        found = diagnosis(name)
        self.assertEqual(found["verdict"]["id"], "input-bound", found["verdict"])
        card = next(one for one in found["findings"] if "data-loader-workers" in (one["rule"], *one["also"]))
        self.assertEqual(card["number"], 1)
        self.assertAlmostEqual(card["observed_ns"] / (1000 * waited / (len(spans) - 1)), 1, delta=0.02)

    def test_nodes_that_run_once_for_each_loss_are_named_first(self):
        """Four losses on one trunk: three quarters of what its nodes take is for going again."""
        name = "each_loss_goes_back.json.gz"
        spans = [(one["ts"], one["ts"] + one["dur"]) for one in events(name) if "ProfilerStep#" in one["name"]]
        nodes: dict[Any, list[float]] = {}
        for one in events(name):
            number = one.get("args", {}).get("Sequence number")
            if one["name"].startswith("autograd::engine::evaluate_function: ") and number is not None:
                nodes.setdefault(number, []).append(one["dur"])
        again = sum(sum(each) * (1 - 1 / len(each)) for each in nodes.values())
        self.assertEqual(max(len(each) for each in nodes.values()), 4)
        card = findings(diagnosis(name))[0]
        self.assertEqual(card["rule"], "repeated-backward")
        self.assertIn(" 4 times", card["title"])
        self.assertAlmostEqual(card["upper_bound_ns"] / (1000 * again / len(spans)), 1, delta=0.03)

    def test_anomaly_detection_is_told_by_what_autograd_looks_through(self):
        name = "anomaly_detection_left_on.json.gz"
        spans = [(one["ts"], one["ts"] + one["dur"]) for one in events(name) if "ProfilerStep#" in one["name"]]
        checks = ("aten::isnan", "aten::_is_any_true", "aten::item")
        looked = sum(one["dur"] for one in events(name) if one["name"] in checks)
        card = findings(diagnosis(name))[0]
        self.assertEqual(card["rule"], "anomaly-mode")
        self.assertGreater(card["upper_bound_ns"], 0.98 * 1000 * looked / len(spans))

    def test_an_embedding_of_which_few_rows_are_looked_up_is_named_first(self):
        """Eight tables of 60,000 rows: their dense gradients, and what updates all rows."""
        name = "few_rows.json.gz"
        whole = [
            one
            for one in events(name)
            if one.get("cat") == "cpu_op"
            and (
                one["name"] == "aten::embedding_dense_backward"
                or (one["name"] == "aten::add_" and one["args"]["Input Dims"][0] == [60000, 16])
            )
        ]
        spans = [(one["ts"], one["ts"] + one["dur"]) for one in events(name) if "ProfilerStep#" in one["name"]]
        counted = sum(one["dur"] for one in whole if any(begin <= one["ts"] < end for begin, end in spans))
        found = diagnosis(name)
        card = next(one for one in findings(found) if "dense-embedding-gradients" in (one["rule"], *one["also"]))
        self.assertEqual(card["number"], 1)
        self.assertAlmostEqual(card["observed_ns"] / (1000 * counted / len(spans)), 1, delta=0.02)
        self.assertIn("sparse=True", card["fix"]["after"])


if __name__ == "__main__":
    unittest.main()
