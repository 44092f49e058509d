#!/usr/bin/env python3
"""Compares own times of `--with functions` with those that a program knows of itself, for calls of some 10 microseconds.

    tools/measure_own_times.py [--python PATH]... [--runs 5] [--fathom PATH]
    tools/measure_own_times.py --python python3.12 --write docs/python-profiles.md    puts the table there

The program is tests/capture/programs/known_short_calls.py. It takes the time of many calls by the clock around them, in
the same run, less what calls of a function that does nothing take.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import pstats
import statistics
import subprocess
import sys
import tempfile

import measured_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "tests/capture/programs/known_short_calls.py"
MARKS = ("<!-- own times: begin -->", "<!-- own times: end -->")


def run(fathom: str, python: str, options: str, rounds: int) -> tuple[float, float]:
    """Of one run: what the program knows of a call, ns, and the recorded own time beside it."""
    with tempfile.TemporaryDirectory() as folder:
        words = [fathom, "run", "--quiet", "--no-diagnose", "--telemetry", "0", "--with", options]
        words += ["-o", f"{folder}/session", "--", python, str(PROGRAM), str(rounds)]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}\n{done.stderr}")
        calls, known, each = json.loads(done.stdout.splitlines()[-1])
        (path,) = pathlib.Path(folder, "session").glob("functions-*.prof")
        stats = pstats.Stats(str(path)).stats  # type: ignore[attr-defined]
        (row,) = [row for (_, _, name), row in stats.items() if name == "measured"]
    if row[1] != calls:
        sys.exit(f"{python}: {row[1]} calls were recorded of {calls}")
    return each, row[2] * 1e9 / known


def version_of(python: str) -> str:
    words = [python, "-c", "import platform; print(platform.python_version())"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.2f}"


def row_of(version: str, options: str, found: list[tuple[float, float]]) -> str:
    ratios = [ratio for _, ratio in found]
    each = min(each for each, _ in found) / 1e3
    middle, low, high = (percent(value) for value in (statistics.median(ratios), min(ratios), max(ratios)))
    return f"| {version} | `{options}` | {each:.1f} µs | {middle} % ({low} to {high}) |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", action="append", default=[], metavar="PATH")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--write", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--fathom", default=os.environ.get("FATHOM", str(ROOT / "build/release/fathom")))
    given = parser.parse_args()
    if given.write:
        measured_part.parts(given.write, MARKS)
    load = os.getloadavg()[0]
    rows = []
    for python in given.python or [sys.executable]:
        for options in ("functions", "functions=c"):
            found = [run(given.fathom, python, options, given.rounds) for _ in range(given.runs)]
            rows.append(row_of(version_of(python), options, found))
    text = [
        f"Median and range of {given.runs} runs, each of {given.rounds * 500} calls. "
        f"Load {load:.1f} at the start, {os.getloadavg()[0]:.1f} at the end.",
        "",
        "| Python | `--with` | a call | recorded own time, beside the program's |",
        "|---|---|---:|---:|",
        *rows,
    ]
    if given.write:
        measured_part.write(given.write, "\n".join(text), MARKS)
    else:
        print("\n".join(text))


if __name__ == "__main__":
    main()
