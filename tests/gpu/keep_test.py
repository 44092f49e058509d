"""A result that is packed, carried away and kept: its folder, the fixtures, and what the page says of it."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import keep
import main
import result
from outcome import Report
from result_test import MACHINE


REPOSITORY = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])


class Kept(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name, "root")
        self.folder = Path(scratch.name, "result")
        self.packed = Path(scratch.name, "result.tar")
        kept = Path(scratch.name, "kept")
        for name in ("copies", "kernels"):
            (kept / "raw" / name).mkdir(parents=True)
            (kept / "raw" / name / "cupti-7.raw").write_bytes(b"FATHOMRAW1\n" + name.encode())
        ends = Report("ends")
        ends.compare("kill: kernels", 30, 29, **{"cuda.buffers_outstanding": "1"})
        layers = Report("layers")
        layers.compare("copies: what is recorded", "full activity", "full activity")
        machine = {**MACHINE, "gpus": [{"name": "NVIDIA X1", "memory.total": "1 GiB", "driver_version": "999.1"}]}
        result.write(self.folder, [layers, ends], machine, kept, [], False)
        self.assertEqual(result.problems(self.folder), [])

    def test_it_goes_through_one_file_into_the_repository(self) -> None:
        keep.pack(self.folder, self.packed)
        made = keep.keep([self.packed], self.root)
        names = {path.relative_to(self.root).as_posix() for path in made}
        self.assertEqual(
            names,
            {
                "tests/data/gpu/nvidia_x1",
                "tests/data/cupti/nvidia_x1-copies_cupti_7.raw",
                "tests/data/cupti/nvidia_x1-kernels_cupti_7.raw",
            },
        )
        self.assertEqual(result.problems(self.root / "tests/data/gpu/nvidia_x1"), [])
        # Once more replaces it.
        self.assertEqual(len(keep.keep([self.folder], self.root)), 3)

    def test_the_page_is_written_between_its_marks_and_nowhere_else(self) -> None:
        page = self.root / keep.PAGE
        page.parent.mkdir(parents=True)
        around = "# The GPU check\n\n<!-- made: results -->\n\n{}\n<!-- end: results -->\n\n## Running it\n"
        page.write_text(around.format(keep.NOT_YET))
        self.assertEqual(keep.keep([self.folder], self.root)[-1], page)
        self.assertEqual(page.read_text(), around.format(keep.page(self.root)))
        self.assertIn("### NVIDIA X1", page.read_text())
        # A result once more changes nothing.
        keep.keep([self.folder], self.root)
        self.assertEqual(page.read_text(), around.format(keep.page(self.root)))

    def test_the_page_of_the_repository_has_the_marks_and_is_as_it_would_be_written(self) -> None:
        page = (REPOSITORY / keep.PAGE).read_text()
        self.assertEqual(page.count(f"<!-- made: results -->\n\n{keep.page(REPOSITORY)}\n<!-- end: results -->"), 1)

    def test_a_page_without_a_place_is_left_and_that_is_reported(self) -> None:
        page = self.root / keep.PAGE
        page.parent.mkdir(parents=True)
        page.write_text("# Another\n")
        with mock.patch.object(main, "ROOT", self.root):
            self.assertEqual(main.keep_result([self.folder]), 1)
        self.assertEqual(page.read_text(), "# Another\n")

    def test_the_page_tells_of_it_with_what_was_expected_and_what_came(self) -> None:
        self.assertEqual(keep.page(self.root), keep.NOT_YET)
        keep.keep([self.folder], self.root)
        page = keep.page(self.root)
        self.assertNotIn("not been run", page)
        self.assertIn("### NVIDIA X1", page)
        self.assertIn("driver 999.1", page)
        self.assertIn("| ends: kill: kernels | 30 | 29 | cuda.buffers_outstanding 1 |", page)
        self.assertNotIn("copies: what is recorded", page)

    def another(self, name: str, gpu: str = "NVIDIA X1") -> Path:
        """What a second command made: one part anew, and one that the first had no time for."""
        folder = self.root.parent / name
        machine = {**MACHINE, "gpus": [{"name": gpu, "memory.total": "1 GiB", "driver_version": "999.1"}]}
        ends = Report("ends")
        ends.compare("kill: kernels", 30, 30)
        cost = Report("cost")
        cost.not_possible("cost", "no nvcc")
        result.write(folder, [ends, cost], machine, self.root.parent / "nothing", [], False)
        return folder

    def test_what_several_commands_made_becomes_one_result(self) -> None:
        keep.pack(self.folder, self.packed)
        made = keep.keep([self.packed, self.another("second")], self.root)
        self.assertEqual(len(made), 3)
        target = self.root / "tests/data/gpu/nvidia_x1"
        self.assertEqual(result.problems(target), [])
        document = json.loads((target / "summary.json").read_text())
        states = {part["part"]: part["state"] for part in document["parts"]}
        self.assertEqual(states, {"layers": "passed", "ends": "passed", "cost": "not possible"})
        self.assertEqual(document["state"], "not possible")
        self.assertNotIn("what failed", keep.page(self.root))
        self.assertIn("no nvcc", (target / "summary.md").read_text())

    def test_what_is_of_another_gpu_is_not_mixed_in(self) -> None:
        with self.assertRaisesRegex(ValueError, "different GPUs"):
            keep.keep([self.folder, self.another("second", "NVIDIA X2")], self.root)
        self.assertFalse((self.root / "tests").exists())

    def test_what_is_damaged_or_too_large_or_without_a_gpu_is_not_kept(self) -> None:
        (self.folder / "machine.json").unlink()
        with self.assertRaisesRegex(ValueError, "machine.json is missing"):
            keep.keep([self.folder], self.root)
        self.packed.write_bytes(b"nothing")
        with mock.patch.object(main, "ROOT", self.root):
            self.assertEqual(main.keep_result([self.packed]), 1)
        document = json.loads((self.folder / "summary.json").read_text())
        document["dry_run"] = True
        (self.folder / "summary.json").write_text(json.dumps(document))
        (self.folder / "machine.json").write_text("{}")
        with self.assertRaisesRegex(ValueError, "without a GPU"):
            keep.keep([self.folder], self.root)
        (self.folder / "large").write_bytes(bytes(keep.PACKED_AT_MOST))
        with self.assertRaisesRegex(ValueError, "not below"):
            keep.pack(self.folder, self.packed)
        self.assertFalse((self.root / "tests").exists())


if __name__ == "__main__":
    sys.exit(unittest.main())
