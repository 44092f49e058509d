"""The check as a whole, without GPU and PyTorch: what is not possible is reported, with the reason."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import result
from main import BUDGETS

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
SECONDS = 480


def gpu_check(*words: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(ROOT / "tools/gpu_check.sh"), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


class DryRun(unittest.TestCase):
    def test_each_part_says_what_is_not_possible(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch, "result")
            # A Python without torch: only what needs neither is checked.
            done = gpu_check(
                *("-o", str(folder), "--fathom", FATHOM, "--python", "no-such-python"),
                *("--dry-run", "--parts", "nvml,cuda,torch,metrics"),
            )
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            self.assertEqual(result.problems(folder), [])
            document = json.loads((folder / "summary.json").read_text())
            parts = {part["part"]: part for part in document["parts"]}
            self.assertEqual(parts["cuda"]["reason"], "CUDA programs: no GPU")
            self.assertEqual(parts["torch"]["reason"], "PyTorch: no Python with torch")
            self.assertEqual(parts["metrics"]["state"], "not possible")
            self.assertEqual(parts["nvml"]["state"], "passed")
            self.assertTrue(document["dry_run"])

    def test_a_binary_that_is_not_there_is_a_mistake_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as scratch:
            done = gpu_check("-o", f"{scratch}/result", "--fathom", f"{scratch}/fathom")
            self.assertEqual(done.returncode, 2)
            self.assertIn("--fathom", done.stderr)

    def test_a_folder_that_is_not_empty_is_left_alone(self):
        with tempfile.TemporaryDirectory() as scratch:
            Path(scratch, "mine").write_text("")
            self.assertEqual(gpu_check("-o", scratch, "--fathom", FATHOM).returncode, 2)
            self.assertEqual([path.name for path in Path(scratch).iterdir()], ["mine"])


class Budgets(unittest.TestCase):
    def test_all_parts_together_stay_below_eight_minutes(self):
        self.assertLess(sum(BUDGETS.values()), SECONDS)

    def test_each_part_has_its_file(self):
        for name in BUDGETS:
            self.assertTrue(Path(__file__).with_name(f"part_{name}.py").exists(), name)


class Pairs(unittest.TestCase):
    def test_the_pairs_are_those_that_are_recorded(self):
        tree = ast.parse((ROOT / "tools/illness_gpu.py").read_text())
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        plain = [
            call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "plain"
        ]
        recorded = [call.args[0].id for call in plain if isinstance(call.args[0], ast.Name)]
        pairs = json.loads((ROOT / "tests/illness/gpu.pairs.json").read_text())["pairs"]
        self.assertEqual([each["pair"] for each in pairs], recorded)

    def test_each_pair_names_rules_that_there_are(self):
        for each in json.loads((ROOT / "tests/illness/gpu.pairs.json").read_text())["pairs"]:
            for rule in each["cures"]:
                sources = (ROOT / "src/rules").glob(f"*/{rule.replace('-', '_')}.cc")
                self.assertTrue(any(sources), f"{each['pair']}: {rule}")


if __name__ == "__main__":
    sys.exit(unittest.main())
