#!/usr/bin/env python3
"""What `fathom compare` of two large traces takes, beside `fathom diagnose` of one of them.

    tools/measure_compare.py [--size 1GB] [--rounds 3] [--cases same-names unique-names other-names] [--folder DIR]
                             [--trace TRACE] [--write docs/bench.md]

Two traces of that size are made of TRACE (examples/resnet50_v100.pt.trace.json.gz) with tools/scale_trace; in the second, each
kernel takes a tenth less. With unique-names no two events of a trace have one name, and with other-names no operator's name of
the first trace is in the second. The commands take turns, round by round, after one round that does not count; files are in the
page cache, and nothing that was kept of them is used (--no-cache). Shown are medians: processor time, wall time and peak
memory, and how often a diagnosis that is. The traces are made in DIR (default: a temporary folder) and removed. FATHOM names
the binary (default build/release/fathom).
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import measured_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
COMPARED_MARKS = ("<!-- compared: begin -->", "<!-- compared: end -->")
LIMIT = 2.2
EVENT = re.compile(r'"cat"\s*:\s*"[Kk]ernel".*?"dur"\s*:\s*(\d+)', re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Case:
    """Two traces."""

    title: str
    variant: str
    renamed: bool = False  # Operators of the second.


CASES = {
    "same-names": Case("the same names", "plain"),
    "unique-names": Case("each event has a name of its own", "unique"),
    "other-names": Case("no operator's name in common", "plain", renamed=True),
}


@dataclasses.dataclass
class Taken:
    """Of one process."""

    cpu_s: float
    wall_s: float
    peak_bytes: int


def shortened(text: str) -> str:
    """The trace, each kernel a tenth shorter."""
    return EVENT.sub(lambda found: found[0][: found.start(1) - found.start()] + str(int(found[1]) * 9 // 10), text)


def renamed(text: str) -> str:
    """The trace, no operator called as before."""
    return text.replace('"aten::', '"other::')


def make(trace: pathlib.Path, folder: pathlib.Path, size: str, case: Case) -> tuple[pathlib.Path, pathlib.Path]:
    """Both traces."""
    text = (gzip.open(trace, "rt") if trace.suffix == ".gz" else trace.open()).read()
    changed = shortened(text)
    if changed == text:
        sys.exit(f"{trace}: no kernel in it could be shortened")
    made = []
    for name, source in (("base", text), ("new", renamed(changed) if case.renamed else changed)):
        small, large = folder / f"{name}_small.json", folder / f"{name}.json"
        small.write_text(source)
        subprocess.run([str(ROOT / "tools/scale_trace"), str(small), str(large), "--size", size, "--variant", case.variant],
                       check=True, stderr=subprocess.DEVNULL)
        small.unlink()
        made.append(large)
    return made[0], made[1]


def taken(*words: str) -> Taken:
    """By the command, which must succeed."""
    begun = time.monotonic()
    process = subprocess.Popen([FATHOM, *words, "--no-cache"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"fathom {' '.join(words)}: exit code {process.returncode}")
    return Taken(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024)


def measured(base: pathlib.Path, new: pathlib.Path, rounds: int) -> tuple[list[Taken], list[Taken]]:
    """Of a diagnosis of `base`, and of a comparison."""
    both = [(taken("diagnose", str(base)), taken("compare", str(base), str(new))) for _ in range(rounds + 1)]
    return [one for one, _ in both[1:]], [two for _, two in both[1:]]


def row(title: str, size: int, diagnoses: list[Taken], comparisons: list[Taken]) -> str:
    def median(of: list[Taken], field: str) -> float:
        return float(statistics.median(getattr(each, field) for each in of))

    cells = [title, f"{size / 1e6:.0f} MB"]
    for field, shown in (("cpu_s", "{:.1f} s"), ("wall_s", "{:.1f} s"), ("peak_bytes", "{:.0f} MB")):
        one, two = (median(of, field) / (1e6 if field == "peak_bytes" else 1) for of in (diagnoses, comparisons))
        cells.append(f"{shown.format(one)}, {shown.format(two)}: {two / one:.2f} ×")
    return "| " + " | ".join(cells) + " |"


def table(rows: list[str], rounds: int, loads: tuple[float, float]) -> str:
    return "\n".join([
        "| the two traces | each | processor time: `diagnose`, `compare` | wall time | peak memory |", "|---|---:|---:|---:|---:|",
        *rows, "",
        f"At most {LIMIT} × is wanted. Medians of {rounds} rounds on {os.cpu_count()} cores, load {loads[0]:.1f} at the start and {loads[1]:.1f} at "
        "the end."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="1GB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--trace", type=pathlib.Path, default=ROOT / "examples/resnet50_v100.pt.trace.json.gz")
    parser.add_argument("--write", type=pathlib.Path)
    args = parser.parse_args()
    if args.write is not None:
        measured_part.parts(args.write, COMPARED_MARKS)
    load = os.getloadavg()[0]
    rows = []
    for name in args.cases:
        with tempfile.TemporaryDirectory(dir=args.folder, prefix="fathom-compare-") as folder:
            base, new = make(args.trace, pathlib.Path(folder), args.size, CASES[name])
            size = base.stat().st_size
            rows.append(row(CASES[name].title, size, *measured(base, new, args.rounds)))
        print(rows[-1], flush=True)
        if args.write is not None:
            measured_part.write(args.write, table(rows, args.rounds, (load, os.getloadavg()[0])), COMPARED_MARKS)
    if args.write is None:
        print(table(rows, args.rounds, (load, os.getloadavg()[0])))


if __name__ == "__main__":
    main()
