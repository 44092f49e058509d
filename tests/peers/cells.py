"""What all comparisons share: running fathom, finding data, and comparing one published number with ours."""
from __future__ import annotations

import csv
import dataclasses
import functools
import json
import math
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
BUNDLED = ROOT / "tests/data"
FURTHER = pathlib.Path(os.environ.get("FATHOM_DATA", ROOT / "tests/data/recordings"))


@dataclasses.dataclass(frozen=True)
class Cell:
    """One published number beside ours, in the same unit. `tolerance` is what rounding explains, in that unit."""
    id: str  # tool/trace/table/row/column
    theirs: float
    ours: float | None
    tolerance: float = 0.0

    def equal(self) -> bool:
        if self.ours is None:
            return False
        # 1e-9: both sides print doubles.
        return abs(self.theirs - self.ours) <= self.tolerance + 1e-9 * max(abs(self.theirs), 1e-3)


def expected_folders(tool: str) -> dict[str, pathlib.Path]:
    """The published tables of a tool by trace name: the bundled ones, and those of FATHOM_DATA."""
    folders: dict[str, pathlib.Path] = {}
    for base in (BUNDLED / "peers", FURTHER / "kineto/expected"):
        for folder in sorted((base / tool).glob("*/")):
            folders[folder.name] = folder
    return folders


def trace_file(name: str) -> pathlib.Path | None:
    for base in (BUNDLED / "traces", BUNDLED / "peers/traces", ROOT / "examples", FURTHER / "kineto"):
        found = sorted(base.glob(f"{name}.*gz")) if base.is_dir() else []
        if found:
            return found[0]
    alias = {"kineto_tb_resnet50_workers0_span1": ROOT / "examples/resnet50_v100.pt.trace.json.gz"}.get(name)
    return alias if alias is not None and alias.exists() else None


@functools.cache
def table(report: str, trace: pathlib.Path, *options: str) -> list[dict]:
    """The rows of a report as dictionaries."""
    done = subprocess.run([FATHOM, report, str(trace), "--json", "--limit", "0", *options], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"fathom {report} {trace.name}: {done.stderr.strip()}")
    return json.loads(done.stdout)["rows"]


def overview(trace: pathlib.Path, *options: str) -> dict[tuple[str, str], object]:
    """Values of the overview by (section without the device's name, metric)."""
    rows = table("overview", trace, *options)
    return {(row["section"].split(" · ")[0], row["metric"]): row["value"] for row in rows}


def read_csv(path: pathlib.Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def half_last_digit(text: str) -> float:
    """Half a unit of the last digit of a number as published: "14.62" is within 0.005."""
    digits = text.split(".")[1] if "." in text and "e" not in text else ""
    return 0.5 * 10.0 ** -len(digits) if digits else 0.5


def clock_grain(trace_start_us: float) -> float:
    """What a double can tell apart near a time stamp in microseconds, in ns: tools that keep times as doubles
    round each start and each end by half of it."""
    return math.ulp(trace_start_us) * 1000
