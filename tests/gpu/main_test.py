"""The check as a whole, without GPU and PyTorch: what is not possible is reported, with the reason."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import main
import result
from main import BUDGETS

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
SECONDS = 480
# They measure steps on a CPU, too.
HEAVY = ("pairs", "overhead")
NEED_A_GPU = (
    *("layers", "truth", "ends", "threads", "windows", "sessions", "graphs", "others", "refused"),
    *("edges", "cost", "ncu", "libtorch", "lines", "clock"),
)


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
                *("--dry-run", "--parts", ",".join(name for name in BUDGETS if name not in HEAVY)),
                *("--pack", f"{scratch}/result.tar"),
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
            for name in NEED_A_GPU:
                self.assertEqual(parts[name]["state"], "not possible", name)
                self.assertIn("no GPU", parts[name]["reason"], name)
            # It can be carried away as one file; but there is nothing to keep of it.
            with tarfile.open(f"{scratch}/result.tar") as tar:
                self.assertIn("summary.json", tar.getnames())
            kept = gpu_check("--keep", f"{scratch}/result.tar")
            self.assertEqual(kept.returncode, 1)
            self.assertIn("made without a GPU", kept.stderr)

    def test_a_binary_that_is_not_there_is_a_mistake_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as scratch:
            done = gpu_check("-o", f"{scratch}/result", "--fathom", f"{scratch}/fathom")
            self.assertEqual(done.returncode, 2)
            self.assertIn("--fathom", done.stderr)

    def test_parts_for_which_there_is_no_time_are_named_for_another_command(self):
        with tempfile.TemporaryDirectory() as scratch:
            words = ("--fathom", FATHOM, "--python", "no-such-python", "--dry-run", "--parts", "clock,nvml,sessions")
            done = gpu_check("-o", f"{scratch}/result", *words, "--minutes", "15")
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            self.assertIn("--parts clock,sessions\n", done.stdout)
            document = json.loads(Path(scratch, "result/summary.json").read_text())
            self.assertEqual([part["part"] for part in document["parts"]], ["nvml"])
            self.assertEqual(gpu_check("-o", f"{scratch}/none", *words, "--minutes", "1").returncode, 2)

    def test_a_folder_that_is_not_empty_is_left_alone(self):
        with tempfile.TemporaryDirectory() as scratch:
            Path(scratch, "mine").write_text("")
            self.assertEqual(gpu_check("-o", scratch, "--fathom", FATHOM).returncode, 2)
            self.assertEqual([path.name for path in Path(scratch).iterdir()], ["mine"])


class Budgets(unittest.TestCase):
    def test_each_part_stays_below_eight_minutes(self):
        for name, seconds in BUDGETS.items():
            self.assertLess(seconds, SECONDS, name)

    def test_each_part_has_its_file(self):
        for name in BUDGETS:
            self.assertTrue(Path(__file__).with_name(f"part_{name}.py").exists(), name)

    def test_the_page_names_the_parts_that_do_not_fit_into_the_shortest_commands(self):
        page = (ROOT / "docs/gpu.md").read_text()
        minutes = min(int(word) for word in re.findall(r"tools/gpu_check.sh.*--minutes (\d+)", page))
        longer = {name for name, seconds in BUDGETS.items() if seconds > 60 * minutes}
        sentence = re.search(r"The parts ([^.]*), whose budgets are longer", page)
        self.assertIsNotNone(sentence)
        self.assertEqual(set(re.findall(r"`(\w+)`", sentence.group(1))), longer)

    def test_the_page_names_the_first_parts_and_those_that_begin_first_or_not_at_all(self):
        page = (ROOT / "docs/gpu.md").read_text()
        first = re.search(r"begin with what tells most: ([^.]*)\.", page)
        self.assertIsNotNone(first)
        named = re.findall(r"`(\w+)`", first.group(1))
        self.assertEqual(named, list(BUDGETS)[: len(named)])
        long = re.search(r"first or not at all: of ([^.]*?) name first", page, re.S)
        self.assertIsNotNone(long)
        minutes = min(int(word) for word in re.findall(r"tools/gpu_check.sh.*--minutes (\d+)", page))
        fitting = {name for name, seconds in BUDGETS.items() if 240 <= seconds <= 60 * minutes}
        self.assertEqual(set(re.findall(r"`(\w+)`", long.group(1))), fitting)

    def test_the_page_has_each_part_with_its_budget_in_commands_below_ten_minutes(self):
        page = (ROOT / "docs/gpu.md").read_text()
        rows = re.findall(r"^\| `(\w+)` \| (\d+) s \|", page, re.M)
        self.assertEqual({name: int(seconds) for name, seconds in rows}, BUDGETS)
        commands = [words.split(",") for words in re.findall(r"`--parts ([\w,]+)`[;.]", page)]
        self.assertEqual(sorted(name for names in commands for name in names), sorted(BUDGETS))
        for names in commands:
            self.assertLessEqual(sum(BUDGETS[name] for name in names), 600, names)

    def test_each_of_the_twelve_checks_names_parts_that_there_are(self):
        page = (ROOT / "docs/gpu.md").read_text().split("## The twelve checks", 1)[1]
        page = page.split("\n## ", 1)[0]
        rows = re.findall(r"^\| (\d+) \|(.*)\|$", page, re.M)
        self.assertEqual([int(number) for number, _ in rows], list(range(1, 13)))
        named = {name for _, row in rows for name in re.findall(r"`(\w+)`", row.rsplit("|", 1)[1])}
        self.assertLessEqual(named, set(BUDGETS))
        self.assertLessEqual(set(BUDGETS) - {"nvml", "pairs"}, named)

    def test_a_clock_that_is_watched_for_longer_is_budgeted_or_refused(self):
        with tempfile.TemporaryDirectory() as scratch:
            words = ["gpu_check", "-o", f"{scratch}/result", "--fathom", FATHOM]
            with unittest.mock.patch.object(sys, "argv", [*words, "--clock-seconds", "300"]):
                args = main.arguments()
            self.assertEqual(main.budget_of("truth", args), BUDGETS["truth"] + 295)
            self.assertLess(main.budget_of("truth", args), SECONDS)
            self.assertEqual(main.budget_of("clock", args), BUDGETS["clock"])
            self.assertEqual(gpu_check(*words[1:], "--clock-seconds", "301").returncode, 2)


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
