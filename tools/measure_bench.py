#!/usr/bin/env python3
"""How often a bench claims a difference between a command and itself, and how often it finds a true one.

    tools/measure_bench.py [--pairs N] [--live N] [--write docs/bench.md]

One program is recorded against itself in one long `fathom bench`. Of its pairs, 1000 windows are judged, each with its
order drawn anew: both sides are the same program, so whichever ran first may have been either. The same runs, in the order of
time, are also judged as "all of A, then all of B". Then whole comparisons are made live: of the program with itself, and
with one that does more. FATHOM names the binary (default build/release/fathom).
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
WINDOWS = 1000
PROGRAM = "i=0; while [ $i -lt {} ]; do i=$((i+1)); done"
ROUNDS = 20000


def command(more: float = 0) -> list[str]:
    """A loop of the shell, that takes so much longer."""
    return ["sh", "-c", PROGRAM.format(round(ROUNDS * (1 + more)))]


def bench(new: list[str], *options: str) -> str:
    words = command()
    base = f"{words[0]} {words[1]} '{words[2]}'"
    done = subprocess.run([FATHOM, "bench", "--quiet", *options, "--base", base, "--", *new], capture_output=True,
                          text=True, check=True)
    return done.stdout


def recorded(pairs: int) -> list[tuple[float, float]]:
    """Wall times of the runs of each pair, in the order of time."""
    rows = [row for row in csv.DictReader(io.StringIO(bench(command(), "--csv", "--runs", str(pairs))))
            if row["warmup"] == "false"]
    times = [float(row["wall_ns"]) for row in rows]
    return list(zip(times[::2], times[1::2]))


def sign_test_claims(pairs: list[tuple[float, float]]) -> bool:
    less = sum(a < b for a, b in pairs)
    n = sum(a != b for a, b in pairs)
    tail = sum(math.comb(n, k) for k in range(min(less, n - less) + 1)) / 2**n
    return 2 * tail < 0.05


def welch_claims(a: list[float], b: list[float]) -> bool:
    """Welch's test at 5 %, by the normal distribution from 30 values on, else with its quantile of t."""
    va, vb = statistics.variance(a) / len(a), statistics.variance(b) / len(b)
    if va + vb == 0:
        return False
    t = abs(statistics.mean(a) - statistics.mean(b)) / math.sqrt(va + vb)
    return t > (2.101 if len(a) <= 10 else 2.002)


def rank_claims(a: list[float], b: list[float]) -> bool:
    """Mann and Whitney, by the normal approximation."""
    merged = sorted([(value, 0) for value in a] + [(value, 1) for value in b])
    rank = sum(i + 1 for i, (_, side) in enumerate(merged) if side == 0)
    n, m = len(a), len(b)
    deviation = math.sqrt(n * m * (n + m + 1) / 12)
    return abs(rank - n * (n + m + 1) / 2) / deviation > 1.96


def windows(pairs: list[tuple[float, float]], size: int, seed: int) -> dict[str, float]:
    """The share of false claims of each method, of that many values a side."""
    draw = random.Random(seed)
    claims = {"pairs in random order: sign test": 0, "blocks: Welch": 0, "blocks: Mann and Whitney": 0}
    for _ in range(WINDOWS):
        begin = draw.randrange(len(pairs) - size + 1)
        chosen = pairs[begin:begin + size]
        claims["pairs in random order: sign test"] += sign_test_claims(
            [pair if draw.random() < 0.5 else (pair[1], pair[0]) for pair in chosen])
        runs = [time for pair in chosen for time in pair]
        claims["blocks: Welch"] += welch_claims(runs[:size], runs[size:])
        claims["blocks: Mann and Whitney"] += rank_claims(runs[:size], runs[size:])
    return {name: count / WINDOWS for name, count in claims.items()}


def live(comparisons: int, more: float, *options: str) -> dict[str, int]:
    """Verdicts of whole comparisons."""
    verdicts: dict[str, int] = {}
    for _ in range(comparisons):
        verdict = json.loads(bench(command(more), "--json", *options))["metrics"][0]["verdict"]
        verdicts[verdict] = verdicts.get(verdict, 0) + 1
    return verdicts


def page(pairs: int, comparisons: int) -> str:
    began, load = time.monotonic(), os.getloadavg()[0]
    times = recorded(pairs)
    median = statistics.median(value for pair in times for value in pair) / 1e6
    small, large = windows(times, 10, 1), windows(times, 30, 2)
    lines = [f"One program, a loop of the shell (median {median:.3g} ms), {pairs} pairs with itself; {WINDOWS} windows; "
             f"how often a difference is claimed:", "", "| method | 10 a side | 30 a side |", "|---|---:|---:|"]
    lines += [f"| {name} | {100 * small[name]:.1f} % | {100 * large[name]:.1f} % |" for name in small]
    lines += ["", f"{comparisons} whole comparisons each, live:", "", "| the new command does | options | verdicts |",
              "|---|---|---|"]
    for more, options in ((0.0, ("--runs", "20", "--resolution", "5%")), (0.2, ("--runs", "40", "--resolution", "5%"))):
        verdicts = live(comparisons, more, *options)
        told = ", ".join(f"{name} {count}" for name, count in sorted(verdicts.items()))
        lines.append(f"| {100 * more:.0f} % more | `{' '.join(options)}` | {told} |")
    lines += ["", f"It took {time.monotonic() - began:.0f} s on {os.cpu_count()} cores, load {load:.1f} at the start and "
              f"{os.getloadavg()[0]:.1f} at the end."]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=600)
    parser.add_argument("--live", type=int, default=40)
    parser.add_argument("--write", type=pathlib.Path)
    args = parser.parse_args()
    text = page(args.pairs, args.live)
    if args.write is None:
        print(text, end="")
        return
    begin, end = "<!-- measured: begin -->\n", "<!-- measured: end -->"
    head, rest = args.write.read_text().split(begin)
    args.write.write_text(head + begin + "\n" + text + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
