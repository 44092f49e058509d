"""The check from one end to the other, on a machine that looks as if it had a GPU: one command runs all parts and packs
what they found, another turns that into the page, the kept result and the fixtures of CUPTI's records."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import keep
import main
import result
from parts_test import DONE, FATHOM, NVCC, script

REPOSITORY = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
SMI = """#!/bin/sh
case "$*" in
*compute_cap,*) echo "NVIDIA X1, 999.1, 1, 81920 MiB, 700 W, 1980, 2619, 9.0, 5, 16, Disabled, Enabled, Enabled" ;;
*compute_cap*) echo 9.0 ;;
*) echo "143771, 600, 700, 100, 40, 1980, 3201, 1980, 3201, 90, 5, 16" ;;
esac
"""


# All of them at night.
FEW = ("layers", "nvml", "nvtx", "cost")
PARTS = tuple(main.BUDGETS) if os.environ.get("FATHOM_TEST_ALL_PARTS") else FEW


class Whole(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)
        (self.scratch / "bin").mkdir()
        script(self.scratch / "bin/nvcc", NVCC)
        script(self.scratch / "bin/nvidia-smi", SMI)
        script(self.scratch / "fathom", FATHOM.format(python=sys.executable))
        # What the repository would have before.
        self.root = self.scratch / "repository"
        (self.root / "docs").mkdir(parents=True)
        shutil.copy(REPOSITORY / keep.PAGE, self.root / keep.PAGE)

    def gpu_check(self, *words: str) -> tuple[int, str]:
        """Each part is a process of its own, as always."""
        path = f"{self.scratch / 'bin'}{os.pathsep}{os.environ['PATH']}"
        out = io.StringIO()
        with (
            mock.patch.dict(os.environ, {"PATH": path, "DONE": json.dumps(DONE), "ROWS": "1"}),
            mock.patch.object(main, "ROOT", self.root),
            mock.patch.object(sys, "argv", ["gpu_check", *words]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
        ):
            return main.main(), out.getvalue()

    def run_all(self, name: str, *more: str) -> Path:
        """With a Python that has no PyTorch."""
        packed = self.scratch / f"{name}.tar"
        words = ("-o", str(self.scratch / name), "--fathom", str(self.scratch / "fathom"), "--python", "no-such-python")
        code, said = self.gpu_check(*words, "--pack", str(packed), *more)
        self.assertIn(code, (0, 1, 3), said)
        return packed

    def test_all_parts_are_run_packed_kept_and_written_into_the_page(self) -> None:
        packed = self.run_all("all", "--parts", ",".join(PARTS))
        self.assertLess(packed.stat().st_size, keep.PACKED_AT_MOST)
        document = json.loads((self.scratch / "all/summary.json").read_text())
        parts = {part["part"]: part for part in document["parts"]}
        self.assertEqual(list(parts), list(PARTS))
        self.assertEqual(parts["layers"]["state"], "passed", parts["layers"])
        # Of what this machine does wrong each check says what was expected and what came.
        wrong = [each for part in document["parts"] for each in part["checks"] if each["state"] == "failed"]
        self.assertTrue(wrong)
        for each in wrong:
            self.assertTrue(each["expected"] and each["got"], each)

        code, said = self.gpu_check("--keep", str(packed))
        self.assertEqual(code, 0, said)
        self.assertIn(keep.PAGE, said)
        page = (self.root / keep.PAGE).read_text()
        self.assertNotIn("has not been run on a machine with a GPU yet", page)
        self.assertIn("### NVIDIA X1", page)
        for part in PARTS:
            self.assertIn(f"| `{part}` | {parts[part]['state']} |", page)
        raw = sorted((self.root / "tests/data/cupti").glob("nvidia_x1-*.raw"))
        self.assertTrue(raw)
        for file in raw:
            self.assertTrue(file.read_bytes().startswith(b"FATHOMRAW1\n"), file)
            self.assertIn(file.name, said)
        self.assertEqual(result.problems(self.root / "tests/data/gpu/nvidia_x1"), [])

    def test_what_two_commands_made_is_kept_as_one(self) -> None:
        one = self.run_all("one", "--parts", "layers")
        two = self.run_all("two", "--parts", "nvml")
        code, said = self.gpu_check("--keep", str(one), str(two))
        self.assertEqual(code, 0, said)
        page = (self.root / keep.PAGE).read_text()
        for part in ("layers", "nvml"):
            self.assertIn(f"| `{part}` |", page)
        self.assertTrue(list((self.root / "tests/data/cupti").glob("nvidia_x1-*.raw")))


if __name__ == "__main__":
    unittest.main()
