"""A trace is edited in a way whose effect on the diagnosis is known: nothing changes, or rules abstain, or health tells."""

from __future__ import annotations

import json
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

import perturbing
from asking import FATHOM, ROOT, findings

TRACES = {
    path.name.split(".")[0]: path
    for path in (
        ROOT / "tests/data/traces/kineto_gpu_metrics_input.json.gz",
        ROOT / "tests/data/traces/luatil_rtx3060_compile_triton.json.gz",
        ROOT / "tests/data/traces/ptbench_a100_memcpy_only.json.gz",
        ROOT / "tests/data/traces/sidnb13_h100_transformer_step.pt.trace.json.gz",
        ROOT / "tests/data/traces/tl_h100_bert_small.json.gz",
        ROOT / "tests/data/traces/tl_mi300_torch_compile_triton.json.gz",
        ROOT / "tests/illness/recorded/outlier.cured.trace.json.gz",
        ROOT / "tests/illness/recorded/tokenisation.ill.trace.json.gz",
    )
}
COMPUTING = ("compute-bound", "memory-bandwidth-bound", "latency-bound")
UNDECIDED = ("cannot-tell", "balanced")


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


class Perturbed(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.traces = {name: perturbing.read(path) for name, path in TRACES.items()}
        cls.plain = {name: ask(path) for name, path in TRACES.items()}

    def unchanged(self, edit: Any) -> None:
        self.maxDiff = 2000
        for name, trace in self.traces.items():
            with self.subTest(trace=name):
                self.assertEqual(comparable(diagnosed(edit(trace))), comparable(self.plain[name]))

    def keeps_its_cause(self, edit: Any) -> None:
        for name, trace in self.traces.items():
            with self.subTest(trace=name):
                edited = diagnosed(edit(trace))
                if cause(edited) not in UNDECIDED:
                    self.assertEqual(cause(edited), cause(self.plain[name]), edited["verdict"]["sentence"])

    def test_the_order_of_unrelated_events_changes_nothing(self) -> None:
        self.unchanged(perturbing.shuffled)

    def test_names_of_the_users_functions_change_nothing(self) -> None:
        edited = perturbing.renamed(self.traces["tl_h100_bert_small"])
        self.assertIn(perturbing.RENAMED, json.dumps(edited))
        self.unchanged(perturbing.renamed)

    def test_without_device_properties_the_cause_stays(self) -> None:
        self.keeps_its_cause(perturbing.without_properties)

    def test_without_stacks_the_cause_stays(self) -> None:
        self.keeps_its_cause(perturbing.without_stacks)

    def test_without_shapes_the_cause_stays(self) -> None:
        self.keeps_its_cause(perturbing.without_shapes)

    def test_what_rests_on_shapes_is_not_found_without_them(self) -> None:
        self.assertIn("hot-kernel", rules(self.plain["luatil_rtx3060_compile_triton"]))
        edited = diagnosed(perturbing.without_shapes(self.traces["luatil_rtx3060_compile_triton"]))
        self.assertNotIn("hot-kernel", rules(edited))

    def test_cutting_off_the_warm_up_takes_its_finding_alone(self) -> None:
        for name in ("outlier", "ptbench_a100_memcpy_only", "tokenisation"):
            with self.subTest(trace=name):
                slow = perturbing.first_step_slowed(self.traces[name], 100_000)
                warm, cut = diagnosed(slow), diagnosed(perturbing.without_first_step(slow))
                self.assertIn("warmup-in-window", rules(warm))
                self.assertEqual(cause(cut), cause(self.plain[name]))
                gone = rules(warm) ^ rules(cut)
                self.assertLessEqual(gone, {"warmup-in-window", "step-outliers", "profiling-mistakes"})
                self.assertIn("warmup-in-window", gone)

    def test_a_shifted_clock_is_reported(self) -> None:
        for name, us in (("luatil_rtx3060_compile_triton", -30_000), ("tl_h100_bert_small", -5_000)):
            with self.subTest(trace=name):
                before = {check["check"] for check in self.plain[name]["health"]}
                self.assertNotIn("activities_before_launch", before)
                edited = diagnosed(perturbing.device_clock_shifted(self.traces[name], us))
                self.assertIn("activities_before_launch", {check["check"] for check in edited["health"]})


if __name__ == "__main__":
    unittest.main()
