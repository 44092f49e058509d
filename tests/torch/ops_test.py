#!/usr/bin/env python3
"""`fathom ops` beside what torch itself said about the same run, cell by cell.

Every cell equals torch's, times within 1 ns per event, or stands in exceptions.json with the
value that fathom gives. Where fathom says null (operations without shapes) torch says 0.
"""

from __future__ import annotations

import collections
import gzip
import json
import os
import pathlib
import subprocess
import unittest
from decimal import Decimal
from typing import Any

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
DATA = ROOT / "tests/data/torch"

TABLES = {
    "key_averages": [],
    "key_averages_by_input_shape": ["--group-by", "shape"],
    "key_averages_by_stack5": ["--group-by", "stack=5"],
}
COLUMNS = {
    "count": "calls",
    "cpu_time_total": "host_total_ns",
    "self_cpu_time_total": "host_self_ns",
    "device_time_total": "device_total_ns",
    "self_device_time_total": "device_self_ns",
    "cpu_memory_usage": "host_memory_bytes",
    "self_cpu_memory_usage": "host_memory_self_bytes",
    "device_memory_usage": "device_memory_bytes",
    "self_device_memory_usage": "device_memory_self_bytes",
    "flops": "flops",
    "is_async": "asynchronous",
}
LONGEST_LIST = 10


def load(path: pathlib.Path) -> Any:
    with gzip.open(path, "rt") as file:
        return json.load(file, parse_float=Decimal)


def fathom_rows(trace: pathlib.Path, *options: str) -> list[dict[str, Any]]:
    command = [FATHOM, "ops", str(trace), "--json", "--limit", "0", "--columns", "all", *options]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["rows"]


def torch_key(row: dict[str, Any], annotations: bool) -> tuple[Any, ...]:
    """What tells torch's rows apart; before 2.5 it does not tell annotations from operators."""
    device = row.get("device_type", "CPU") != "CPU"
    annotation = annotations and bool(row["is_user_annotation"])
    stack = ";".join(row.get("stack", []))
    return row["key"], device, annotation, row.get("input_shapes", ""), stack


def fathom_key(row: dict[str, Any], annotations: bool) -> tuple[Any, ...]:
    device = row["kind"].startswith("device")
    annotation = annotations and row["kind"].endswith("annotation")
    return row["name"], device, annotation, row["input_shapes"] or "", row["stack"] or ""


def as_integer(value: Any, column: str) -> int:
    """torch's times are microseconds with a fraction."""
    return round(value * 1000) if "time" in column else int(value)


class OpsEqualTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        document = json.loads((DATA / "exceptions.json").read_text())
        cls.exceptions = {
            (e["trace"], e["table"], e["row"], e["column"]): e["here"] for e in document["exceptions"]
        }

    def test_every_cell_is_torchs_or_a_listed_exception(self) -> None:
        cells = 0
        used = set()
        for expected in sorted(DATA.rglob("*.expected.json.gz")):
            trace = expected.with_name(expected.name.replace(".expected.", ".trace."))
            with self.subTest(trace=str(trace.relative_to(DATA))):
                compared, wrong, excepted = self.compare(trace, load(expected))
                cells += compared
                used |= excepted
                self.assertEqual(wrong[:LONGEST_LIST], [], f"{len(wrong)} of {compared} cells")
        self.assertGreater(cells, 0)
        self.assertEqual(sorted(self.exceptions.keys() - used), [], "exceptions that are none any more")
        self.assertLessEqual(len(used), 0.02 * cells)

    def compare(self, trace: pathlib.Path, said: Any) -> tuple[int, list[Any], set[Any]]:
        cells, wrong, excepted = 0, [], set()
        for table, options in TABLES.items():
            theirs = said.get(table, [])
            annotations = any(row.get("is_user_annotation") is not None for row in theirs)
            ours = collections.defaultdict(list)
            for row in fathom_rows(trace, *options):
                ours[fathom_key(row, annotations)].append(row)
            for number, row in enumerate(theirs):
                for column in (c for c in COLUMNS if row.get(c) is not None):
                    cells += 1
                    place = (str(trace.relative_to(DATA)), table, number, column)
                    mine = ours[torch_key(row, annotations)]
                    got = sum(r[COLUMNS[column]] or 0 for r in mine)
                    want = self.exceptions.get(place, as_integer(row[column], column))
                    if place in self.exceptions:
                        excepted.add(place)
                    slack = row["count"] if "time" in column and place not in self.exceptions else 0
                    if not mine or abs(int(got) - want) > slack:
                        wrong.append((*place, row["key"], want, got))
            extra = ours.keys() - {torch_key(row, annotations) for row in theirs}
            wrong += [(trace.name, table, "a row that torch does not have", key) for key in extra]
        return cells, wrong, excepted


if __name__ == "__main__":
    unittest.main()
