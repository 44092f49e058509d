#!/usr/bin/env python3
"""Damaged inputs are read as far as possible, each repair is counted with its first byte, and what is no trace
is refused by a sentence that says what it looks like. The table is tests/data/damaged/expected.json."""
from __future__ import annotations

import json
import os
import subprocess
import unittest
from pathlib import Path
from typing import Any

SOURCE = Path(os.environ.get("FATHOM_SOURCE_DIR", Path(__file__).parents[2]))
FATHOM = os.environ.get("FATHOM", str(SOURCE / "build/release/fathom"))
# Under the sanitizers a command takes ten times as long: a fifth of the reports, others of each file.
ALL = "FATHOM_TEST_ALL_SIZES" in os.environ or b"__asan_init" not in Path(FATHOM).read_bytes()
FOLDER = SOURCE / "tests/data/damaged"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text())


def fathom(*arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([FATHOM, *arguments], capture_output=True, check=False, input=stdin, timeout=60)


def repairs(path: str, stdin: bytes | None = None) -> dict[str, list[int]]:
    lines = fathom("digest", "--repairs", path, stdin=stdin).stdout.decode().splitlines()
    return {kind: [int(count), int(place)] for kind, count, place in (line.split() for line in lines)}


class Damaged(unittest.TestCase):
    def readable(self) -> list[tuple[str, dict[str, Any]]]:
        return [(name, entry) for name, entry in EXPECTED.items() if "error" not in entry]

    def test_each_repair_is_counted_with_its_first_byte(self) -> None:
        for name, entry in self.readable():
            with self.subTest(name):
                self.assertEqual(repairs(str(FOLDER / name)), entry["repairs"])

    def test_what_could_be_read_is_there(self) -> None:
        for name, entry in self.readable():
            with self.subTest(name):
                result = fathom("digest", str(FOLDER / name))
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(int(result.stdout.split()[1]), entry["slices"])

    def test_health_tells_every_repair(self) -> None:
        for name, entry in self.readable():
            result = fathom("health", "--json", str(FOLDER / name))
            with self.subTest(name):
                self.assertEqual(result.returncode, 0, result.stderr)
                counts = [row["count"] for row in json.loads(result.stdout)["rows"] if row["status"] != "ok"]
                for count, _ in entry["repairs"].values():
                    self.assertIn(count, counts)

    def test_every_report_survives(self) -> None:
        reports = ["info", "overview", "steps", "ops", "kernels", "copies", "launches", "syncs", "modules", "stacks"]
        for number, (name, _) in enumerate(self.readable()):
            for report in reports if ALL else reports[number % 5 :: 5]:
                with self.subTest(f"{report} {name}"):
                    self.assertEqual(fathom(report, "--json", str(FOLDER / name)).returncode, 0)

    def test_what_is_no_trace_is_refused_by_its_name(self) -> None:
        for name, entry in EXPECTED.items():
            if "error" not in entry:
                continue
            with self.subTest(name):
                result = fathom("info", str(FOLDER / name))
                self.assertEqual(result.returncode, 3)
                self.assertEqual(result.stdout, b"")
                self.assertIn(entry["error"], result.stderr.decode())
                self.assertIn(name, result.stderr.decode())

    def test_a_pipe_tells_the_same_as_a_file(self) -> None:
        for name in ("cut_in_event.json", "wrong_checksum.json.gz", "members.json.gz"):
            with self.subTest(name):
                data = (FOLDER / name).read_bytes()
                self.assertEqual(repairs("-", stdin=data), EXPECTED[name]["repairs"])


if __name__ == "__main__":
    unittest.main()
