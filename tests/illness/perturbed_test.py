"""A trace is edited in a way whose effect on the diagnosis is known: nothing changes, or rules abstain, or health tells."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import itertools
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

import perturbing
from asking import FATHOM, ROOT, findings

# Every recording where FATHOM_TEST_ALL_RECORDINGS is set, which takes minutes; else some of each kind.
ALL = bool(os.environ.get("FATHOM_TEST_ALL_RECORDINGS"))
SOME = (
    "kineto_gpu_metrics_input",
    "luatil_rtx3060_compile_triton",
    "ptbench_a100_memcpy_only",
    "sidnb13_h100_transformer_step",
    "tl_h100_bert_small",
    "tl_mi300_torch_compile_triton",
    "outlier.cured",
    "served.ill",
    "tokenisation.ill",
    "zero_grad.ill",
)
FOLDERS = ("tests/data/traces", "tests/illness/recorded", "tests/illness/kept", "tests/data/recordings")
EVERY = {
    str(path.relative_to(ROOT / folder)).replace("/", ".").removesuffix(".json.gz").removesuffix(".trace").removesuffix(".pt"): path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.json.gz"))
    if not path.name.endswith("_et.json.gz")  # graphs of operators, which have no time
}
TRACES = {name: path for name, path in EVERY.items() if ALL or name in SOME}
COMPUTING = ("compute-bound", "memory-bandwidth-bound", "latency-bound")
UNDECIDED = "cannot-tell"
# Findings that only say what was not recorded.
MISSING = {"profiling-mistakes/not-recorded"}
# Rules that give way to a cause, which have its time where that cause is no longer recognised.
TAKES_OVER = (("python-loop", "host-bound"), ("zero-grad", "host-bound"))
# What else a slow first step is reason for: what the host did in it only stacks would show.
FIRST_STEP = MISSING


def ask(path: Path) -> dict[str, Any]:
    done = subprocess.run(
        [FATHOM, "diagnose", "--all", "--json", str(path)], capture_output=True, text=True, timeout=60, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def diagnosed(trace: perturbing.Trace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edited.json"
        path.write_text(json.dumps(trace))
        return ask(path)


def cause(answer: dict[str, Any]) -> str:
    """The verdict, where which roof the device is near is not known without shapes and properties."""
    verdict = str(answer["verdict"]["id"])
    return "computing" if verdict in COMPUTING else verdict


def comparable(answer: dict[str, Any]) -> dict[str, Any]:
    """All but the file's name and the rows of its events."""
    said = json.loads(json.dumps(answer | {"input": ""}).replace(perturbing.RENAMED, ""))
    for finding in findings(said):
        for evidence in finding["evidence"]:
            evidence["slices"] = len(evidence["slices"])
    return dict(said)


def rules(answer: dict[str, Any]) -> set[str]:
    return {finding["rule"] for finding in findings(answer)}


@dataclasses.dataclass
class Edited:
    """The answers about a trace before and after an edit."""

    trace: str
    plain: dict[str, Any]
    edited: dict[str, Any]


def edited(name: str, edit: Any) -> Edited | None:
    """None where the edit finds nothing to change."""
    trace = perturbing.read(TRACES[name])
    changed = edit(trace)
    # Both are written alike, for times in nanoseconds lose digits on the way.
    return Edited(name, diagnosed(trace), diagnosed(changed)) if changed != trace else None


class Perturbed(unittest.TestCase):
    pool: concurrent.futures.ProcessPoolExecutor

    @classmethod
    def setUpClass(cls) -> None:
        cls.maxDiff = 2000
        cls.pool = concurrent.futures.ProcessPoolExecutor(os.cpu_count())
        cls.addClassCleanup(cls.pool.shutdown)

    def for_each(self, edit: Any, check: Any, least: int) -> None:
        """Of every trace that the edit changes, which are at least so many of the few."""
        pairs = [each for each in self.pool.map(edited, TRACES, itertools.repeat(edit)) if each is not None]
        self.assertGreaterEqual(len(pairs), least)
        for each in pairs:
            with self.subTest(trace=each.trace):
                check(each)

    def unchanged(self, edit: Any, least: int) -> None:
        self.for_each(edit, lambda each: self.assertEqual(comparable(each.edited), comparable(each.plain)), least)

    def keeps_its_cause(self, edit: Any, least: int) -> None:
        """Where too little is left the verdict may be that nobody can tell, and no other."""

        def check(each: Edited) -> None:
            if cause(each.edited) != UNDECIDED:
                self.assertEqual(cause(each.edited), cause(each.plain), each.edited["verdict"]["sentence"])

        self.for_each(edit, check, least)

    def test_the_order_of_unrelated_events_changes_nothing(self) -> None:
        self.unchanged(perturbing.shuffled, len(SOME))

    def test_names_of_the_users_functions_change_nothing(self) -> None:
        self.unchanged(perturbing.renamed, 2)

    def test_without_device_properties_the_cause_stays(self) -> None:
        self.keeps_its_cause(perturbing.without_properties, 5)

    def only_abstains(self, edit: Any, least: int) -> None:
        """Nothing is found that was not, but what is missing, and time that no other finding explains any longer."""

        def check(each: Edited) -> None:
            before, after = rules(each.plain), rules(each.edited)
            left = {rule for cause, rule in TAKES_OVER if cause in before - after}
            for finding in findings(each.edited):
                if finding["rule"] in before | left or finding["id"] in MISSING:
                    continue
                self.fail(f"{finding['id']}: {finding['title']}")

        self.for_each(edit, check, least)

    def test_without_device_properties_nothing_is_found_that_was_not(self) -> None:
        self.only_abstains(perturbing.without_properties, 5)

    def test_without_stacks_nothing_is_found_that_was_not(self) -> None:
        self.only_abstains(perturbing.without_stacks, 2)

    def test_without_shapes_nothing_is_found_that_was_not(self) -> None:
        self.only_abstains(perturbing.without_shapes, 6)

    def test_without_stacks_the_cause_stays(self) -> None:
        self.keeps_its_cause(perturbing.without_stacks, 2)

    def test_without_shapes_the_cause_stays(self) -> None:
        self.keeps_its_cause(perturbing.without_shapes, 4)

    def test_what_rests_on_shapes_is_not_found_without_them(self) -> None:
        both = edited("luatil_rtx3060_compile_triton", perturbing.without_shapes)
        assert both is not None
        self.assertIn("hot-kernel", rules(both.plain))
        self.assertNotIn("hot-kernel", rules(both.edited))

    def test_cutting_off_the_warm_up_takes_its_finding_alone(self) -> None:
        for name in ("outlier.cured", "ptbench_a100_memcpy_only", "tokenisation.ill"):
            with self.subTest(trace=name):
                slow = perturbing.first_step_slowed(perturbing.read(TRACES[name]), 100_000)
                warm, cut = diagnosed(slow), diagnosed(perturbing.without_first_step(slow))
                plain = ask(TRACES[name])
                self.assertEqual((cause(cut), rules(cut)), (cause(plain), rules(plain)))
                gone = {finding["id"]: finding["title"] for finding in findings(warm) if finding["rule"] not in rules(cut)}
                warmup = {each for each in gone if each.startswith("warmup-in-window/")}
                self.assertTrue(warmup)
                self.assertLessEqual(set(gone) - warmup, FIRST_STEP)

    def test_a_shifted_clock_is_reported(self) -> None:
        for name, us in (("luatil_rtx3060_compile_triton", -30_000), ("tl_h100_bert_small", -5_000)):
            with self.subTest(trace=name):
                both = edited(name, functools.partial(perturbing.device_clock_shifted, us=us))
                assert both is not None
                self.assertNotIn("activities_before_launch", {check["check"] for check in both.plain["health"]})
                self.assertIn("activities_before_launch", {check["check"] for check in both.edited["health"]})


if __name__ == "__main__":
    unittest.main()
