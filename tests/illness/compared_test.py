"""Our own pairs, compared as a user would: every level sums exactly, and the cured cause is named first.

What must be named stands in recorded.causes.json, and of the held-out pairs in kept.causes.json. With --list, prints each
pair with what is named first, and the share that is right.
"""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from asking import FATHOM, ROOT

ILLNESS = ROOT / "tests/illness"
LEAST_RIGHT = 0.9


@dataclasses.dataclass
class Pairs:
    """The pairs of a folder, and what must be named first of each."""

    folder: Path
    causes: dict[str, Any]

    def recording(self, pair: str, role: str) -> Path:
        """The file of a pair, or the folder with its ranks."""
        path = self.folder / f"{pair}.{role}"
        return path if path.is_dir() else path.with_name(path.name + ".trace.json.gz")

    def comparisons(self) -> dict[str, dict[str, Any]]:
        """Of each pair the one that is shown."""
        found = {}
        for pair in sorted([*self.causes["pairs"], *self.causes["not_judged"]]):
            answer = compare(self.recording(pair, "ill"), self.recording(pair, "cured"))
            found[pair] = answer["pairs"][answer["shown"]]
        return found

    def is_right(self, pair: str, comparison: dict[str, Any]) -> bool:
        expected = self.causes["pairs"][pair]
        cause, rows = first_cause(comparison)
        return cause in expected["causes"] and any(re.search(expected["what"], row) for row in rows)


def pairs_of(name: str) -> Pairs:
    return Pairs(ILLNESS / name, json.loads((ILLNESS / f"{name}.causes.json").read_text()))


RECORDED, KEPT = pairs_of("recorded"), pairs_of("kept")


def compare(base: Path, new: Path) -> dict[str, Any]:
    done = subprocess.run(
        [FATHOM, "compare", "--json", str(base), str(new)], capture_output=True, text=True, timeout=120, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def first_cause(comparison: dict[str, Any]) -> tuple[str, list[str]]:
    """The cause that is named first, and the bucket and name of its largest three rows."""
    if not comparison["causes"]:
        return comparison["comparability"], []
    group = comparison["causes"][0]
    rows = [comparison["rows"][row] for row in group["rows"][:3]]
    return group["cause"], [f"{row['bucket']}: {row['what']}" for row in rows]


def problems(value: Any, schema: dict[str, Any], where: str = "$") -> list[str]:
    """What of a value is not as the schema says: the part of JSON Schema that ours uses."""
    if "anyOf" in schema:
        found = [problems(value, each, where) for each in schema["anyOf"]]
        return min(found, key=len)
    if "const" in schema or "enum" in schema:
        allowed = schema.get("enum", [schema.get("const")])
        return [] if value in allowed else [f"{where}: {value!r} is none of {allowed}"]
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float), "null": type(None)}
    kind = schema["type"]
    if not isinstance(value, kinds[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return [f"{where}: {value!r} is no {kind}"]
    if kind == "array":
        return [each for place, item in enumerate(value) for each in problems(item, schema["items"], f"{where}[{place}]")]
    if kind != "object":
        return []
    members = schema["properties"]
    wrong = [f"{where}: {name} is unknown" for name in value.keys() - members.keys()]
    wrong += [f"{where}: {name} is missing" for name in set(schema["required"]) - value.keys()]
    return wrong + [each for name in value.keys() & members.keys() for each in problems(value[name], members[name], f"{where}.{name}")]


class OfRecordedPairs(unittest.TestCase):
    pairs = RECORDED
    comparisons: dict[str, dict[str, Any]]

    @classmethod
    def setUpClass(cls) -> None:
        cls.comparisons = cls.pairs.comparisons()

    def test_every_pair_is_labelled(self) -> None:
        recorded = {path.name.split(".")[0] for path in self.pairs.folder.iterdir() if path.name != "measured.json"}
        self.assertEqual(recorded, set(self.comparisons))

    def test_every_level_sums_exactly(self) -> None:
        for pair, comparison in self.comparisons.items():
            with self.subTest(pair=pair):
                buckets = comparison["buckets"]
                rows = comparison["rows"]
                mean = comparison["mean_change_ns"]
                self.assertEqual(sum(bucket["change_ns"] for bucket in buckets), mean)
                self.assertEqual(mean + comparison["skew_ns"], comparison["change_ns"])
                if not rows:
                    continue
                self.assertEqual(sum(group["change_ns"] for group in comparison["causes"]), mean)
                for bucket in buckets:
                    self.assertEqual(sum(rows[row]["change_ns"] for row in bucket["rows"]), bucket["change_ns"])
                for row in rows:
                    for level in ("kernels", "occurrences"):
                        if row[level]:
                            for number in ("change_ns", "base_sum_ns", "new_sum_ns"):
                                self.assertEqual(sum(each[number] for each in row[level]), row[number])
                for side in ("base", "new"):
                    steps = comparison[side]
                    whole = round(steps["mean_ns"] * steps["steps"])
                    self.assertEqual(sum(bucket[f"{side}_sum_ns"] for bucket in buckets), whole)
                    self.assertEqual(sum(row[f"{side}_sum_ns"] for row in rows), whole)

    def test_the_cured_cause_is_named_first(self) -> None:
        judged = self.pairs.causes["pairs"]
        wrong = {
            pair: first_cause(self.comparisons[pair])
            for pair in judged
            if not self.pairs.is_right(pair, self.comparisons[pair])
        }
        self.assertLessEqual(len(wrong), (1 - LEAST_RIGHT) * len(judged), wrong)


class OfKeptPairs(OfRecordedPairs):
    pairs = KEPT


class Compared(unittest.TestCase):
    def test_answers_are_as_the_schema_says(self) -> None:
        schema = json.loads((ROOT / "docs/compare.schema.json").read_text())
        for pair in ("late_rank", "loading", "recompilation"):
            answer = compare(RECORDED.recording(pair, "ill"), RECORDED.recording(pair, "cured"))
            self.assertEqual(problems(answer, schema), [])

    def test_a_recording_against_itself_is_the_same_recording(self) -> None:
        one = RECORDED.recording("loading", "ill")
        comparison = compare(one, one)["pairs"][0]
        self.assertEqual(comparison["comparability"], "same_recording")
        self.assertEqual(comparison["change_ns"], 0)
        self.assertEqual({row["change_ns"] for row in comparison["rows"]}, {0})
        self.assertTrue(all(counter["equal"] for counter in comparison["counters"]))

    def test_a_comparison_turned_around_has_the_opposite_sums(self) -> None:
        there, back = (
            compare(RECORDED.recording("fp64", base), RECORDED.recording("fp64", new))["pairs"][0]
            for base, new in (("ill", "cured"), ("cured", "ill"))
        )
        self.assertEqual(back["change_ns"], -there["change_ns"])
        self.assertEqual(first_cause(back)[0], first_cause(there)[0])


def listed(name: str, pairs: Pairs) -> None:
    right = 0
    for pair, comparison in pairs.comparisons().items():
        cause, rows = first_cause(comparison)
        judged = pair in pairs.causes["pairs"]
        good = judged and pairs.is_right(pair, comparison)
        right += good
        mark = "right" if good else "WRONG" if judged else "-"
        print(f"{mark:6} {pair:22} {100 * comparison['ratio'] - 100:+6.1f} %  {cause}: {'; '.join(rows)}")
    print(f"{right} of {len(pairs.causes['pairs'])} {name} pairs name the cured cause first")


def main() -> None:
    if sys.argv[1:] != ["--list"]:
        unittest.main()
    listed("recorded", RECORDED)
    listed("held-out", KEPT)


if __name__ == "__main__":
    main()
