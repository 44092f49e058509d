"""The time in a finding's title is the one before time is divided among findings; else it says which part it is. In text and in JSON."""

from __future__ import annotations

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from asking import FATHOM, ROOT

sys.path.insert(0, str(ROOT / "tools"))

from label_sums import NEAR, named_times  # noqa: E402

DATA = Path(os.environ.get("FATHOM_DATA", ROOT / "tests/data/recordings"))
FOLDERS = (ROOT / "tests/illness/recorded", ROOT / "tests/data/traces", DATA / "kineto", DATA / "torch-cpu")
TRACES = sorted({path.name: path for folder in FOLDERS for path in folder.glob("*.json.gz")}.items())
SAYS_WHICH_PART = re.compile(r"by fusing|this finding's share|of which|could be saved")
# What a finding says of the mean step: "3.00 ms (12.0 % of the step)", "3.00 ms per step".
PER_STEP = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)? ?(?:ns|µs|us|ms|s|min))\b(?: \([^()]* % of the step\)| per step| of each step)")


def said(trace: Path, *options: str) -> str:
    command = [FATHOM, "diagnose", "--all", *options, str(trace)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout


def asked(trace: Path) -> tuple[list[dict[str, Any]], str]:
    """The findings, and the text without its line breaks."""
    findings: list[dict[str, Any]] = json.loads(said(trace, "--json"))["findings"]
    return findings, "".join(said(trace).split())


def is_share(finding: dict[str, Any]) -> bool:
    """Is the first time of the title what was granted to the finding, and less than what it observed?"""
    time, rounding = next(iter(named_times(finding["title"])), (None, 0.0))
    if time is None or not finding["observed_ns"] or not finding["upper_bound_ns"]:
        return False
    observed = abs(time - finding["observed_ns"]) <= NEAR * finding["observed_ns"] + rounding
    granted = abs(time - finding["upper_bound_ns"]) <= rounding
    return granted and not observed


# How an evidence says that its time is a part of the title's, or of something else: what waited, ran, or was marked.
OF_WHAT = re.compile(r"of (it|that|which)\b|on the host|in \d+ stretch|marked as|right before|which wait for|run for")


def per_step(text: str) -> list[tuple[float, float]]:
    return [named_times(time)[0] for time in PER_STEP.findall(text)]


def differ(finding: dict[str, Any]) -> bool:
    """Do the title and the first evidence name different times of the step, and none says of what? Those of an evidence
    may be the parts that make up the title's."""
    evidence = finding["evidence"][0]["text"] if finding["evidence"] else ""
    title, said = per_step(finding["title"]), per_step(evidence)
    if not title or not said or SAYS_WHICH_PART.search(finding["title"] + evidence) or OF_WHAT.search(evidence):
        return False
    time, rounding = title[0]
    parts = [(sum(each for each, _ in said), sum(each for _, each in said)), said[0]]
    return all(abs(time - other) > NEAR * max(time, other) + rounding + more for other, more in parts)


class Titles(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            names, paths = zip(*TRACES, strict=True)
            cls.asked = dict(zip(names, pool.map(asked, paths), strict=True))

    def for_each(self, check: Any) -> None:
        for name, (findings, text) in self.asked.items():
            with self.subTest(trace=name):
                check(findings, text)

    def test_there_are_findings_with_times(self) -> None:
        times = [f for findings, _ in self.asked.values() for f in findings if named_times(f["title"])]
        self.assertGreater(len(times), 50)

    def test_a_granted_share_is_called_so(self) -> None:
        def check(findings: list[dict[str, Any]], _: str) -> None:
            shares = [f["title"] for f in findings if is_share(f)]
            self.assertEqual([title for title in shares if not SAYS_WHICH_PART.search(title)], [])

        self.for_each(check)

    def test_the_first_evidence_names_the_time_of_the_title(self) -> None:
        def check(findings: list[dict[str, Any]], _: str) -> None:
            apart = [f"{f['title']}: {f['evidence'][0]['text']}" for f in findings if differ(f)]
            self.assertEqual(apart, [])

        self.for_each(check)
        both = [f for found, _ in self.asked.values() for f in found if f["evidence"]]
        self.assertGreater(sum(bool(per_step(f["title"]) and per_step(f["evidence"][0]["text"])) for f in both), 20)

    def test_times_that_differ_are_found(self) -> None:
        made = {"title": "Copies: 3.00 ms (10.0 % of the step)", "evidence": [{"text": "9 copies take 9.00 ms per step"}]}
        self.assertTrue(differ(made))
        self.assertFalse(differ(made | {"title": "Copies: 9.00 ms (30.0 % of the step)"}))
        self.assertFalse(differ(made | {"evidence": [{"text": "9 copies, of which 9.00 ms per step wait"}]}))
        self.assertFalse(differ(made | {"evidence": [{"text": "the longest takes 9.00 ms"}]}))

    def test_the_text_has_the_titles_of_the_json(self) -> None:
        def check(findings: list[dict[str, Any]], text: str) -> None:
            self.assertEqual([f["title"] for f in findings if "".join(f["title"].split()) not in text], [])

        self.for_each(check)

    def test_a_share_that_is_not_called_so_is_found(self) -> None:
        made = {"title": "Copies: 3.00 ms", "observed_ns": 9_000_000, "upper_bound_ns": 3_000_000}
        self.assertTrue(is_share(made))
        self.assertFalse(is_share(made | {"title": "Copies: 9.00 ms"}))


if __name__ == "__main__":
    unittest.main()
