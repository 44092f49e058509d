#!/usr/bin/env python3
"""The fast reader's store equals what a plain reader makes of the same file, on every trace there is.

Environment: FATHOM (the binary), FATHOM_SOURCE_DIR, FATHOM_DATA (more recorded traces, else tests/data/recordings).
"""
from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from random_capture import random_capture  # noqa: E402
from read_reference import digest_rows, read_bytes, reference_lines  # noqa: E402

SOURCE = Path(os.environ.get("FATHOM_SOURCE_DIR", Path(__file__).parents[2]))
FATHOM = os.environ.get("FATHOM", str(SOURCE / "build/release/fathom"))
# What the plain reader found, by what it read and by its own text: three builds are compared with it.
KEPT = SOURCE / "build/reference"
READER = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
MORE = Path(os.environ.get("FATHOM_DATA", SOURCE / "tests/data/recordings"))


def traces() -> list[Path]:
    own = [SOURCE / "examples", SOURCE / "tests/data/plain", SOURCE / "tests/data/traces", SOURCE / "tests/data/torch"]
    other = [MORE / "kineto", MORE / "kineto-multirank", MORE / "torch-cpu", MORE / "nsys/expected"]
    found = [path for folder in own + other for path in sorted(folder.rglob("*.json*")) if not path.name.startswith("labels")]
    return [path for path in found if is_trace(path)] + captures() + profiles()


def profiles() -> list[Path]:
    """What cProfile wrote, and each version of marshal."""
    corpus = SOURCE / "tests/fuzz/corpus/pstats"
    return sorted((SOURCE / "tests/data/profiles").glob("*.prof.gz")) + sorted(corpus.glob("version_*"))


def captures() -> list[Path]:
    """Fathom's own files: as recorded, and, of the fuzzer's, one that is cut off and one with damage."""
    corpus = SOURCE / "tests/fuzz/corpus/fathom_wire"
    return sorted((SOURCE / "tests/data").rglob("*.fathom")) + [
        corpus / name for name in ("process", "process_cut", "process_damaged")
    ]


def is_trace(path: Path) -> bool:
    """Beside the traces lie other tools' numbers, and one execution trace."""
    name = path.name.removesuffix(".gz").removesuffix(".json")
    if path.suffix not in (".gz", ".json") or "/kineto/expected/" in str(path):
        return False
    if "/data/torch/" in str(path):
        return name.endswith(".trace")
    return not name.endswith((".expected", "_et"))


def fast(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([FATHOM, "digest", str(path)], capture_output=True, text=True, check=False)


def first_difference(path: Path, lines: dict[str, list[str]]) -> str:
    command = [FATHOM, "digest", "--lines", str(path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    ours, theirs = set(printed), {f"{table}: {line}" for table in lines for line in lines[table]}
    missing, invented = sorted(theirs - ours)[:1], sorted(line for line in ours - theirs if line)[:1]
    return f"reference only: {missing}\nfathom only:    {invented}"


def compare(path: Path) -> str:
    """What differs, or ''."""
    result = fast(path)
    if result.returncode != 0:
        return result.stderr
    if result.stdout.splitlines() == reference_rows(path):
        return ""
    return first_difference(path, reference_lines(read_bytes(path)))


def reference_rows(path: Path) -> list[str]:
    data = read_bytes(path)
    kept = KEPT / hashlib.sha256(READER + data).hexdigest()
    if kept.exists():
        return kept.read_text().splitlines()
    rows = list(digest_rows(reference_lines(data)))
    KEPT.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=KEPT, delete=False) as new:
        new.write("\n".join(rows))
    Path(new.name).rename(kept)
    return rows


class Reference(unittest.TestCase):
    def test_the_digests_of_both_readers_are_equal_on_every_trace(self) -> None:
        paths = traces()
        self.assertGreater(len(paths), 0, "no traces to compare")
        with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
            for path, difference in zip(paths, pool.map(compare, paths)):
                with self.subTest(path.name):
                    self.assertEqual(difference, "", path)

    def test_they_are_equal_on_capture_files_that_make_no_sense(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "random.fathom")
            for seed in range(40):
                path.write_bytes(random_capture(seed))
                with self.subTest(seed=seed):
                    self.assertEqual(compare(path), "")

    def test_they_are_equal_on_what_devices_did(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "devices.fathom")
            for seed in range(60):
                path.write_bytes(random_capture(seed, devices=True))
                with self.subTest(seed=seed):
                    self.assertEqual(compare(path), "")

    def test_a_missing_file_is_an_error(self) -> None:
        self.assertEqual(fast(SOURCE / "no-such-trace.json").returncode, 3)


if __name__ == "__main__":
    unittest.main()
