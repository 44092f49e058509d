"""The result folder keeps its rules, and names nothing of the machine."""

from __future__ import annotations

import gzip
import io
import json
import os
import struct
import tarfile
import tempfile
import unittest
import zlib
from pathlib import Path

import result
from outcome import FAILED, NOT_POSSIBLE, PASSED, Report, state_of_parts

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
MACHINE = {
    "gpus": [{"name": "A GPU", "memory.total": "1 MiB", "driver_version": "1"}],
    "processor": "2 × one",
    "cores": 2,
    "distribution": "a system",
    "system": "Linux",
    "torch": {},
    "nvcc": "",
    "fathom": ["fathom 1"],
}


def report(part: str, *states: str) -> Report:
    made = Report(part)
    for state in states:
        if state == PASSED:
            made.compare("x", "y", "y")
        else:
            {FAILED: made.failed, NOT_POSSIBLE: made.not_possible}[state]("x", "y")
    return made


class Outcomes(unittest.TestCase):
    def test_one_failure_fails_a_part(self):
        self.assertEqual(report("a", PASSED, FAILED, NOT_POSSIBLE).state, FAILED)

    def test_what_was_possible_and_right_passes_a_part(self):
        self.assertEqual(report("a", PASSED, NOT_POSSIBLE).state, PASSED)
        self.assertEqual(report("a", PASSED, NOT_POSSIBLE).reason, "1 checks, 1 not possible")

    def test_nothing_possible_is_not_passed(self):
        self.assertEqual(report("a", NOT_POSSIBLE).state, NOT_POSSIBLE)
        self.assertEqual(report("a").state, NOT_POSSIBLE)

    def test_the_whole_passes_only_with_all_its_parts(self):
        self.assertEqual(state_of_parts([PASSED, PASSED]), PASSED)
        self.assertEqual(state_of_parts([PASSED, NOT_POSSIBLE]), NOT_POSSIBLE)
        self.assertEqual(state_of_parts([NOT_POSSIBLE, FAILED, PASSED]), FAILED)

    def test_a_report_is_kept_as_it_grows(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "part.json")
            made = Report("a", file)
            made.compare("first", 1, 1)
            made.number("n", [1, 2])
            loaded = Report.load("a", file)
            self.assertEqual((loaded.state, loaded.numbers), (PASSED, {"n": [1, 2]}))

    def test_a_part_that_wrote_nothing_was_not_possible(self):
        self.assertEqual(Report.load("a", Path("nowhere.json")).checks, [])


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder, self.kept = Path(self.scratch.name, "result"), Path(self.scratch.name, "keep")

    def write(self) -> None:
        result.write(
            self.folder,
            [report("cuda", PASSED), report("pairs", FAILED)],
            MACHINE,
            self.kept,
            [],
            False,
        )

    def test_everything_together_keeps_the_rules(self):
        for part in ("cuda", "torch", "nvml", "pairs", "raw"):
            (self.kept / part).mkdir(parents=True)
            for number in range(20 if part == "pairs" else 5):
                (self.kept / part / f"{number}.bin").write_bytes(os.urandom(60_000))
        self.write()
        self.assertEqual(result.problems(self.folder), [])
        self.assertEqual(len(list(self.folder.iterdir())), result.FILES_AT_MOST)
        self.assertIn("Left out for their size", (self.folder / "README.md").read_text())

    def test_the_summary_tells_each_part(self):
        self.write()
        document = json.loads((self.folder / "summary.json").read_text())
        self.assertEqual(document["state"], FAILED)
        self.assertEqual([part["state"] for part in document["parts"]], [PASSED, FAILED])
        self.assertIn("| pairs | failed |", (self.folder / "summary.md").read_text())

    def test_a_pair_is_left_out_as_a_whole(self):
        source = Path(self.scratch.name, "pairs")
        source.mkdir()
        (source / "large.ill.trace.json.gz").write_bytes(gzip.compress(os.urandom(9000)))
        (source / "large.cured.trace.json.gz").write_bytes(gzip.compress(b"short"))
        (source / "small.ill.trace.json.gz").write_bytes(gzip.compress(b"short"))
        left_out = result.pack(source, Path(self.scratch.name, "pairs.tar.xz"), [], 8_000)
        self.assertEqual(sorted(left_out), ["large.cured.trace.json", "large.ill.trace.json"])
        with tarfile.open(Path(self.scratch.name, "pairs.tar.xz")) as archive:
            self.assertEqual(archive.getnames(), ["small.ill.trace.json"])

    def test_what_its_writer_did_not_finish_is_left_out_and_the_rest_kept(self):
        source = self.kept / "cuda"
        source.mkdir(parents=True, exist_ok=True)
        (source / "half.json.gz").write_bytes(gzip.compress(os.urandom(5_000))[:2_000])
        (source / "whole.json.gz").write_bytes(gzip.compress(b"whole"))
        target = Path(self.scratch.name, "cuda.tar.xz")
        self.assertEqual(result.pack(source, target, [], 100_000), ["half.json.gz"])
        with tarfile.open(target) as tar:
            self.assertIn("whole.json", tar.getnames())

    def test_it_can_be_written_after_each_part(self):
        (self.kept / "cuda").mkdir(parents=True, exist_ok=True)
        (self.kept / "cuda/first").write_text("first")
        packed: dict[str, list[str]] = {}
        folder = Path(self.scratch.name, "twice")
        reports = [report("cuda", PASSED)]
        result.write(folder, reports, MACHINE, self.kept, [], False, packed)
        made = (folder / "cuda.tar.xz").read_bytes()
        self.assertEqual(result.problems(folder), [])
        reports.append(report("metrics", FAILED))
        result.write(folder, reports, MACHINE, self.kept, [], False, packed)
        self.assertEqual((folder / "cuda.tar.xz").read_bytes(), made)
        self.assertEqual(result.problems(folder), [])
        self.assertEqual(json.loads((folder / "summary.json").read_text())["state"], FAILED)

    def test_broken_rules_are_named(self):
        self.write()
        (self.folder / "a b").write_text("")
        (self.folder / "inner").mkdir()
        (self.folder / "large").write_bytes(bytes(result.BYTES_AT_MOST))
        text = " ".join(result.problems(self.folder))
        for part in ("'a b'", "inner is no plain file", "bytes, not fewer"):
            self.assertIn(part, text)

    def test_long_numbers_are_left_out_of_the_summary(self):
        made = report("cuda", PASSED)
        made.number("long", ["x" * 100] * 10_000)
        made.number("short", 1)
        result.write(self.folder, [made], MACHINE, self.kept, [], False)
        numbers = json.loads((self.folder / "summary.json").read_text())["parts"][0]["numbers"]
        self.assertEqual(numbers, {"long": "left out for its size", "short": 1})

    def test_where_it_is_too_long_facts_of_what_failed_stay(self):
        many = {f"cuda.{i}": "x" * 20 for i in range(100)}
        for least, kept in ((1, True), (60, False)):
            report = Report("ends")
            for _ in range(least):
                report.compare("right", 1, 1, **many)
            report.compare("wrong", 1, 2, **many)
            text = result.shortened(result.summary([report], {"gpus": []}, False))
            checks = json.loads(text)["parts"][0]["checks"]
            self.assertLess(len(text), result.TEXT_SHARE)
            self.assertEqual(bool(checks[0]["facts"]), kept)
            self.assertEqual(checks[-1]["facts"], many)


class Names(unittest.TestCase):
    def test_words_are_replaced_in_text_and_compressed_text(self):
        self.assertEqual(result.neutral(b"at /home/me/x", ["/home/me"]), b"at xxxxxxxx/x")
        data = result.neutral(gzip.compress(b"at /home/me/x"), ["/home/me"])
        self.assertEqual(gzip.decompress(data), b"at xxxxxxxx/x")

    def test_a_capture_file_stays_readable(self):
        payload = struct.pack("<HHI", 1, 4 + 7, 1) + b"on host"
        tail = struct.pack("<HHQ", 1, 0, 0)
        crc = zlib.crc32(payload, zlib.crc32(tail))
        whole = (
            b"FATHOM\x01\x00" + struct.pack("<III", result.SYNC, len(payload), crc) + tail + payload
        )
        changed = result.neutral(whole, ["host"])
        self.assertEqual(len(changed), len(whole))
        self.assertTrue(changed.endswith(b"on xxxx"))
        stored = struct.unpack_from("<I", changed, 16)[0]
        self.assertEqual(stored, zlib.crc32(changed[32:], zlib.crc32(changed[20:32])))


class Committed(unittest.TestCase):
    def test_each_result_that_is_kept_keeps_the_rules(self):
        folders = sorted((ROOT / "tests/data/gpu").glob("*/"))
        if not folders:
            self.skipTest("no result of a machine with a GPU is kept yet")
        for folder in folders:
            with self.subTest(folder=folder.name):
                self.assertEqual(result.problems(folder), [])
                document = json.loads((folder / "summary.json").read_text())
                self.assertFalse(document["dry_run"])
                for packed in folder.glob("*.tar.xz"):
                    with tarfile.open(fileobj=io.BytesIO(packed.read_bytes())) as archive:
                        self.assertTrue(archive.getnames())


if __name__ == "__main__":
    unittest.main()
