"""tools/held_out.py chooses thresholds without the source that it judges."""

from __future__ import annotations

import os
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
sys.path.insert(0, str(ROOT / "tools"))

import held_out  # noqa: E402
from held_out import BUILT_IN, Said, Sample, Thresholds, modelled  # noqa: E402


def sample(source: str, right: str, **families: float) -> Sample:
    return Sample(source, "", {right}, set(), families)


class Verdicts(unittest.TestCase):
    def test_the_model_chooses_as_the_program_does(self):
        for verdict, families in {
            "host-bound": {"host": 30.0, "compute": 50.0},
            "compute-bound": {"host": 12.0, "compute": 80.0},
            "latency-bound": {"latency": 50.0, "compute": 30.0},
            "balanced": {"host": 9.0, "compute": 55.0},
        }.items():
            with self.subTest(verdict=verdict):
                self.assertEqual(modelled(sample("a", verdict, **families), BUILT_IN), verdict)
        thread = Sample("a", "", set(), set(), {"host": 30.0, "compute": 70.0}, on_device=False)
        self.assertEqual(modelled(thread, BUILT_IN), "host-bound")
        unknown = Sample("a", "", set(), set(), {"host": 20.0, "compute": 30.0}, unexplained=50.0)
        self.assertEqual(modelled(unknown, BUILT_IN), "cannot-tell")

    def test_thresholds_are_those_of_the_source(self):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "verdict.cc"
            names = ("kLeastPercent", "kLossPerCompute", "kMostUnexplained", "kComputePercent")
            source.write_text("".join(f"constexpr double {name} = {i}.5;\n" for i, name in enumerate(names)))
            self.assertEqual(held_out.built_in(source), Thresholds(0.5, 1.5, 2.5, 3.5))

    def test_a_verdict_that_no_threshold_gives_stays(self):
        said = {"verdict": {"id": "io-bound", "families": [{"family": "host", "percent": 90.0}]}, "usual_account_ns": {}}
        said["baseline"] = {"device": 0}
        self.assertEqual(modelled(held_out.sample("a", said, [], []), BUILT_IN), "io-bound")

    def test_a_verdict_without_families_stays(self):
        self.assertEqual(modelled(Sample("a", "cannot-tell", set(), set(), {}), BUILT_IN), "cannot-tell")

    def test_thresholds_are_chosen_by_the_other_sources_alone(self):
        # What "a" would need contradicts what all others need.
        others = [sample(name, "host-bound", host=8.0, compute=20.0, transfer=7.0, input=7.0, sync=30.0) for name in "bcd"]
        mine = [sample("a", "balanced", host=8.0, compute=20.0, transfer=7.0, input=7.0, sync=30.0)] * 10
        chosen = held_out.chosen_without(mine + others)
        self.assertLessEqual(chosen["a"].loss, 8)
        self.assertGreater(chosen["b"].loss, 8)
        self.assertEqual(held_out.held_out_points(mine, chosen), 0)

    def test_of_equal_choices_the_one_nearest_to_the_built_in_wins(self):
        chosen = held_out.chosen_without([sample(name, "host-bound", host=90.0, compute=10.0) for name in "ab"])
        self.assertEqual(set(chosen.values()), {BUILT_IN})
        self.assertEqual(held_out.distance(BUILT_IN), 0)


class Rules(unittest.TestCase):
    def test_a_share_that_others_choose_is_applied_to_this_source(self):
        def of(source: str, *said: Said) -> Sample:
            return Sample(source, "", set(), set(), {}, said=list(said))

        true, false = Said("fp64", 20, True, True), Said("fp64", 5, False, True)
        (rule,) = held_out.held_out_rules([of("a", true, false), of("b", true, false), of("c", Said("fp64", 10, True, True))])
        self.assertEqual((rule.true, rule.false), (3, 2))
        self.assertEqual((rule.kept_true, rule.kept_false), (2, 0), "without c its share is 20 %")

    def test_findings_of_high_confidence_are_counted_by_source(self):
        def of(source: str, *said: Said) -> Sample:
            return Sample(source, "", set(), set(), {}, said=list(said))

        true, false, unsure = Said("fp64", 20, True, True), Said("fp64", 5, False, True), Said("zero-grad", 9, False, False)
        samples = [of("a", true, false, unsure), of("b", true, false)]
        self.assertEqual(held_out.by_confidence(samples), {"high": (2, 4), "lower": (0, 1)})
        self.assertEqual(held_out.held_out_high(samples), (2, 2), "the other source's share is 20 %")
        self.assertEqual(held_out.false_high(samples), {"fp64": (2, 4)})

    def test_the_built_in_share_stays_where_none_is_better(self):
        self.assertEqual(held_out.best_share([Said("fp64", 5, True, True), Said("fp64", 20, False, True)]), 0)


class Sources(unittest.TestCase):
    def test_they_are_read_from_the_table(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "SOURCES.md"
            page.write_text("| file | source |\n| traces/x.json.gz | owner/name `x.json` @1 | MIT |\n| kineto/y.json | o/n `y` |\n")
            self.assertEqual(held_out.sources(page), {"x.json.gz": "owner/name", "y.json": "o/n"})


if __name__ == "__main__":
    unittest.main()
