#!/usr/bin/env python3
"""How often a bench claims a difference between a command and itself, and how often it finds a true one.

    tools/measure_bench.py [--pairs N] [--step-pairs N] [--live N] [--slow-down N] [--timers N] [--write docs/bench.md]

A process, and the steps of a small training loop, are recorded against themselves in one long `fathom bench` each. Of its
pairs, 1000 windows are judged, each with its order drawn anew: both sides are the same program, so whichever ran first may
have been either. The same runs, in the order of time, are also judged as "all of A, then all of B". Then whole comparisons
are made live: of the process and of the steps with themselves, and with what does more; by hyperfine where it is in PATH, of
the same two programs between ours; and of a function with itself by torch.utils.benchmark where build/torch has torch, and by
fathom.bench. FATHOM names the binary (default build/release/fathom), with the Python package beside it; TORCH the Python that
has torch (default build/torch/bin/python).
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
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import measured_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
WINDOWS = 1000
PROGRAM = "i=0; while [ $i -lt {} ]; do i=$((i+1)); done"
ROUNDS = 6000
TORCH = pathlib.Path(os.environ.get("TORCH", str(ROOT / "build/torch/bin/python")))
# A step of plain Python, as an optimizer's loop has it; the hook sees its end. So many rows are a batch.
BATCH = 100
TRAINING = """
from fathom_recorder.api import step
weights = [0.5] * 64
for number in range(12):
    for row in range({batch}):
        total = sum(weight * (row + index) for index, weight in enumerate(weights))
        weights = [weight - 1e-9 * total for weight in weights]
    step()
"""


def command(more: float = 0) -> list[str]:
    """A loop of the shell, that takes so much longer."""
    return ["sh", "-c", PROGRAM.format(round(ROUNDS * (1 + more)))]


def training(more: float = 0) -> list[str]:
    """A small training loop, whose steps take so much longer."""
    return [sys.executable, "-c", TRAINING.format(batch=round(BATCH * (1 + more)))]


# What is measured: by how much more it does, the words of the command.
Program = Callable[[float], list[str]]


def bench(base: list[str], new: list[str], *options: str) -> str:
    line = " ".join(f"'{word}'" for word in base)
    done = subprocess.run([FATHOM, "bench", "--quiet", *options, "--base", line, "--", *new], capture_output=True,
                          text=True, check=True)
    return done.stdout


def recorded(pairs: int, words: list[str], column: str) -> list[tuple[float, float]]:
    """Times of the runs of each pair of a command with itself, in the order of time."""
    told = bench(words, words, "--csv", "--runs", str(pairs))
    rows = [row for row in csv.DictReader(io.StringIO(told)) if row["warmup"] == "false"]
    times = [float(row[column]) for row in rows]
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


def live(program: Program, comparisons: int, more: float, *options: str) -> dict[str, int]:
    """Verdicts of whole comparisons."""
    verdicts: dict[str, int] = {}
    for _ in range(comparisons):
        verdict = json.loads(bench(program(0), program(more), "--json", *options))["metrics"][0]["verdict"]
        verdicts[verdict] = verdicts.get(verdict, 0) + 1
    return verdicts


def with_hyperfine(comparisons: int, more: float, runs: int) -> tuple[int, int]:
    """How often Welch's test on hyperfine's times claims the second to be slower, and to be faster. That test is
    hyperfine's own script, scripts/welch_ttest.py."""
    slower = faster = 0
    for _ in range(comparisons):
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            lines = [f"sh -c '{command(each)[2]}'" for each in (0, more)]
            subprocess.run(["hyperfine", "--shell=none", "--warmup", "1", "--runs", str(runs), "--style", "none",
                            "--export-json", out.name, *lines], capture_output=True, check=True)
            times = [each["times"] for each in json.loads(pathlib.Path(out.name).read_text())["results"]]
        if welch_claims(*times):
            slower += statistics.mean(times[1]) > statistics.mean(times[0])
            faster += statistics.mean(times[1]) < statistics.mean(times[0])
    return slower, faster


# A function of about 0.3 ms, timed twice as two people would. A difference is claimed where torch.utils.benchmark.Compare
# shows two numbers when it trims what is not significant; by fathom.bench where it says faster or slower.
TIMERS = """
import json, sys
def work():
    return sum(index * index for index in range(4000))
comparisons, seconds = int(sys.argv[1]), float(sys.argv[2])
found = {}
try:
    from torch.utils.benchmark import Timer
    from torch.utils.benchmark.utils.common import trim_sigfig
    def timed():
        measured = Timer("work()", globals={"work": work}).blocked_autorange(min_run_time=seconds)
        return measured.median, measured.significant_figures
    claims = 0
    for _ in range(comparisons):
        (one, digits), (other, others) = timed(), timed()
        claims += trim_sigfig(one, min(digits, others)) != trim_sigfig(other, min(digits, others))
    found["torch.utils.benchmark, trimmed medians"] = claims
except ImportError:
    pass
try:
    import fathom
    claims = 0
    for _ in range(comparisons if hasattr(fathom, "bench") else 0):
        claims += fathom.bench(work, against=work, time=2 * seconds).verdict in ("faster", "slower")
    if hasattr(fathom, "bench"):
        found["fathom.bench"] = claims
except (ImportError, TypeError, AttributeError) as error:
    print(error, file=sys.stderr)
print(json.dumps(found))
"""


def with_timers(comparisons: int) -> dict[str, int]:
    python = str(TORCH) if TORCH.exists() else sys.executable
    package = {**os.environ, "PYTHONPATH": str(pathlib.Path(FATHOM).parent / "python")}
    done = subprocess.run([python, "-c", TIMERS, str(comparisons), "0.2"], capture_output=True, text=True, check=True, env=package)
    return json.loads(done.stdout)


def slow_down(comparisons: int, metric: str) -> str:
    """A row: a process that takes 1 % longer by that metric, sampled until 1 % is decided."""
    by = ("--json", "--metric", metric)
    load = os.getloadavg()[0]
    sides = json.loads(bench(["sh", "-c", ":"], command(), *by, "--runs", "60"))["metrics"][0]
    start, whole = sides["base"]["median"], sides["new"]["median"]
    more = 0.01 * whole / (whole - start)  # the shell's start does not get longer
    found = wrong = within = 0
    announced, taken, pairs = [], [], []
    for _ in range(comparisons):
        told = json.loads(bench(command(), command(more), *by, "--resolution", "1%"))
        row = told["metrics"][0]
        found += row["verdict"] == "slower"
        wrong += row["verdict"] == "faster"
        pairs.append(told["pairs"])
        if told["announced"]:
            announced.append(told["announced"]["time_s"])
            taken.append(told["elapsed_s"])
            within += told["elapsed_s"] <= 1.1 * told["announced"]["time_s"] + 1
    middle = statistics.median
    times = f"{middle(taken):.0f} s | {middle(announced):.0f} s; {within} of {len(announced)} kept to it" if taken else "– | never"
    return (f"| {comparisons} | `--metric {metric}` | {load:.1f} to {os.getloadavg()[0]:.1f} | {found}, the wrong way {wrong} | "
            f"{middle(pairs):.0f}, {times} |")


def slow_down_table(comparisons: int) -> Iterator[str]:
    """10 % of the time announced and a second are to spare."""
    yield from ["The process and one that takes 1 % longer, `--resolution 1%`:", "",
                "| comparisons | by | load | found | pairs, time (medians) | announced (median) |", "|---:|---|---|---|---|---|"]
    for metric in ("wall", "user"):
        yield slow_down(comparisons, metric)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def window_table(name: str, times: list[tuple[float, float]]) -> list[str]:
    median = statistics.median(value for pair in times for value in pair) / 1e6
    small, large = windows(times, 10, 1), windows(times, 30, 2)
    lines = [f"{name} (median {median:.3g} ms), {len(times)} pairs with itself; {WINDOWS} windows; how often a difference is "
             "claimed:", "", "| method | 10 a side | 30 a side |", "|---|---:|---:|"]
    return lines + [f"| {method} | {percent(small[method])} | {percent(large[method])} |" for method in small] + [""]


LIVE: tuple[tuple[str, Program, float, tuple[str, ...]], ...] = (
    ("the process", command, 0.0, ("--runs", "20", "--resolution", "5%")),
    ("the step", training, 0.0, ("--runs", "20", "--resolution", "5%")),
    ("the process", command, 0.2, ("--runs", "40", "--resolution", "5%")),
    ("the step", training, 0.2, ("--runs", "40", "--resolution", "5%")),
)


def page(args: argparse.Namespace) -> Iterator[str]:
    """Its lines, as they are measured."""
    began, load = time.monotonic(), os.getloadavg()[0]
    yield from window_table("A process, a loop of the shell", recorded(args.pairs, command(), "wall_ns"))
    if args.step_pairs:
        yield from window_table("The step of a small training loop, one value a run",
                                recorded(args.step_pairs, training(), "step_ns"))
    yield from ["Whole comparisons, live; \"the step\" is that of the training loop, \"the process\" the loop of the shell:", "",
                "| by | of | that does | options | claims |", "|---|---|---|---|---|"]
    for name, program, more, options in LIVE:
        comparisons = args.live if more == 0 else args.live // 4
        verdicts = live(program, comparisons, more, *options)
        told = ", ".join(f"{verdict} {count}" for verdict, count in sorted(verdicts.items()))
        yield f"| `fathom bench` | {name} | {100 * more:.0f} % more | `{' '.join(options)}` | {told} |"
        if program is command and shutil.which("hyperfine"):
            slower, faster = with_hyperfine(comparisons, more, int(options[1]))
            yield (f"| hyperfine, Welch | {name} | {100 * more:.0f} % more | `--warmup 1 --runs {options[1]}` | faster {faster}, "
                   f"slower {slower}, neither {comparisons - faster - slower} |")
    yield ""
    if args.timers:
        for name, claims in with_timers(args.timers).items():
            yield from [f"A function of 0.3 ms with itself, {args.timers} times by {name}, 0.2 s a side: a difference is claimed in "
                        f"{claims} ({percent(claims / args.timers)}).", ""]
    if args.slow_down:
        yield from [*slow_down_table(args.slow_down), ""]
    yield (f"It took {time.monotonic() - began:.0f} s on {os.cpu_count()} cores, load {load:.1f} at the start and "
           f"{os.getloadavg()[0]:.1f} at the end.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=600)
    parser.add_argument("--step-pairs", type=int, default=200, help="0: none")
    parser.add_argument("--live", type=int, default=40)
    parser.add_argument("--slow-down", type=int, default=10, help="comparisons with 1 %% more, by each metric; 0: none")
    parser.add_argument("--timers", type=int, default=100, help="comparisons of a function; 0: none")
    parser.add_argument("--write", type=pathlib.Path)
    args = parser.parse_args()
    if args.write is not None:
        measured_part.write(args.write, "\n".join(page(args)))
        return
    for line in page(args):
        print(line, flush=True)


if __name__ == "__main__":
    main()
