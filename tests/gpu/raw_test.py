"""Files of CUPTI's records: their kinds are counted, and one that is cut off is recognised."""

from __future__ import annotations

import struct
import tempfile
import unittest
from pathlib import Path

import raw


def record(kind: int, text: bytes | None = None) -> bytes:
    texts = b"" if text is None else struct.pack("<II", 8, len(text)) + text
    return struct.pack("<II", 16, text is not None) + struct.pack("<I", kind) + bytes(12) + texts


def file_of(*records: bytes) -> bytes:
    return raw.MAGIC + struct.pack("<II", 130000, len(records)) + b"".join(records)


class Kinds(unittest.TestCase):
    def test_records_are_counted_by_kind_whatever_they_point_to(self) -> None:
        data = file_of(record(10, b"_Z3addPfS_i"), record(10), record(1), record(99))
        self.assertEqual(raw.kinds(data), {"CONCURRENT_KERNEL": 2, "MEMCPY": 1, "kind 99": 1})
        self.assertEqual(raw.kinds(file_of()), {})

    def test_those_of_several_processes_are_counted_together(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("a.raw", "b.raw")]
            for file in files:
                file.write_bytes(file_of(record(2)))
            self.assertEqual(raw.kinds_of(files), {"MEMSET": 2})

    def test_what_is_cut_off_or_something_else_is_recognised(self) -> None:
        data = file_of(record(10, b"name"), record(1))
        for length in range(len(data)):
            with self.assertRaises(raw.Broken):
                raw.kinds(data[:length])
        with self.assertRaises(raw.Broken):
            raw.kinds(b"something else")


if __name__ == "__main__":
    unittest.main()
