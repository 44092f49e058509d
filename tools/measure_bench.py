#!/usr/bin/env python3
"""How often a bench claims a difference between a command and itself, and how often it finds a true one.

    tools/measure_bench.py [--parts windows live] [--pairs N] [--step-pairs N] [--live N] [--timers N] [--write docs/bench.md]
    tools/measure_bench.py --slow-down N [--seconds S] [--by wall cpu step] [--write docs/bench.md]

A process, and the steps of a small training loop, are recorded against themselves in one long `fathom bench` each. Of its
pairs, 1000 windows are judged, each with its order drawn anew: both sides are the same program, so whichever ran first may
have been either. The same runs, in the order of time, are also judged as "all of A, then all of B". Then whole comparisons
are made live: of the process and of the steps with themselves, and with what does more; by hyperfine where it is in PATH, of
the same two programs between ours; and of a function with itself by torch.utils.benchmark where build/torch has torch, and by
fathom.bench. Each row is written when it is measured, so that those that were are kept whatever ends the rest. With --slow-down, instead, a process and a step that take 1 % longer are sought, N comparisons or S seconds each;
it needs nobody, and writes its table after each comparison, whose rows by other metrics stay as they were. FATHOM names the binary (default build/release/fathom), with the Python package beside it; TORCH the Python that
has torch (default build/torch/bin/python).
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
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
from typing import Any

import measured_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
SLOW_DOWN_MARKS = ("<!-- slowed: begin -->", "<!-- slowed: end -->")
WINDOW_MARKS = ("<!-- windows: begin -->", "<!-- windows: end -->")
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


def longer_process(metric: str) -> tuple[list[str], list[str]]:
    """A process, and one that takes 1 % longer by that metric."""
    sides = json.loads(bench(["sh", "-c", ":"], command(), "--json", "--metric", metric, "--runs", "60"))["metrics"][0]
    start, whole = sides["base"]["median"], sides["new"]["median"]
    return command(), command(0.01 * whole / (whole - start))  # the shell's start does not get longer


# What is made 1 % slower: what it is called, the metric, and its two commands.
SLOWED: tuple[tuple[str, str, Callable[[], tuple[list[str], list[str]]]], ...] = (
    ("process", "wall", lambda: longer_process("wall")),
    ("process", "cpu", lambda: longer_process("cpu")),
    ("step", "step", lambda: (training(), training(0.01))),
)


def share_interval(found: int, of: int) -> tuple[float, float]:
    """Clopper and Pearson's of a share, 95 %: "The use of confidence or fiducial limits illustrated in the case of the
    binomial", Biometrika 26 (1934). Ends are those shares whose tails are 2.5 %, by bisection."""

    def tail(share: float, counts: range) -> float:
        return sum(math.comb(of, k) * share**k * (1 - share) ** (of - k) for k in counts)

    def solve(counts: range, rises: bool) -> float:
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            if (tail(middle, counts) < 0.025) == rises:
                low = middle
            else:
                high = middle
        return low

    return (0.0 if found == 0 else solve(range(found, of + 1), True),
            1.0 if found == of else solve(range(found + 1), False))


@dataclasses.dataclass
class Slowed:
    """Comparisons of something with what takes 1 % longer, as far as they came."""

    what: str
    metric: str
    load: tuple[float, float] = (0.0, 0.0)
    verdicts: list[str] = dataclasses.field(default_factory=list)
    pairs: list[int] = dataclasses.field(default_factory=list)
    taken: list[float] = dataclasses.field(default_factory=list)
    announced: list[float] = dataclasses.field(default_factory=list)  # inf: never

    def add(self, told: dict[str, Any]) -> None:
        self.verdicts.append(told["metrics"][0]["verdict"])
        self.pairs.append(told["pairs"])
        self.taken.append(told["elapsed_s"])
        self.announced.append(told["announced"]["time_s"] if told["announced"] else math.inf)

    def row(self) -> str:
        n = len(self.verdicts)
        if n == 0:
            return f"| {self.what} | `--metric {self.metric}` | 0 | – | – | – | – | – |"
        slower = self.verdicts.count("slower")
        in_time = sum(verdict == "slower" and math.isfinite(announced) and taken <= announced
                      for verdict, taken, announced in zip(self.verdicts, self.taken, self.announced))
        low, high = share_interval(in_time, n)
        announced = statistics.median(self.announced)
        return (f"| {self.what} | `--metric {self.metric}` | {n} | {in_time} ({100 * low:.0f} to {100 * high:.0f} %) | {slower}, "
                f"{self.verdicts.count('faster')} | {statistics.median(self.pairs):.0f} | {statistics.median(self.taken):.0f} s of "
                f"{'never' if math.isinf(announced) else f'{announced:.0f} s'} | {self.load[0]:.1f} to {self.load[1]:.1f} |")


def slow_down_table(rows: list[str], seconds: float) -> str:
    lines = [f"1 % longer, `--resolution 1%`, at most {seconds:.0f} s a comparison, of which none of a row begins later; behind what was found "
             "in time its 95 % interval (Clopper and Pearson):", "",
             "| what | by | comparisons | found within the announced time | found at all, the wrong way | pairs (median) | "
             "time taken of announced (medians) | load |", "|---|---|---:|---|---|---:|---|---|"]
    return "\n".join([*lines, *rows])


def slow_down(comparisons: int, seconds: float, metrics: list[str], shown: Callable[[dict[str, str]], None]) -> None:
    """The rows in turn, each until so many comparisons or so much time; the table is shown anew after each comparison, so
    that what was measured is kept whatever ends it. No comparison is cut off before it has had the row's whole time."""
    rows = {}
    for what, metric, commands in SLOWED:
        if metric not in metrics:
            continue
        row = Slowed(what, metric)
        began, load = time.monotonic(), os.getloadavg()[0]
        base, new = commands()
        while len(row.verdicts) < comparisons and time.monotonic() - began < seconds:
            told = bench(base, new, "--json", "--metric", metric, "--resolution", "1%", "--time", f"{seconds:.0f}s")
            row.add(json.loads(told))
            row.load = (load, os.getloadavg()[0])
            rows[metric] = row.row()
            shown(rows)


def with_rows(page: str, rows: dict[str, str], seconds: float) -> str:
    """The table of a page with these rows by their metric, where it had others."""
    lines = page.splitlines()
    kept = [next((line for line in lines if f"| `--metric {metric}` |" in line), "") for _, metric, _ in SLOWED]
    return slow_down_table([rows.get(metric) or old or Slowed(what, metric).row() for (what, metric, _), old in zip(SLOWED, kept)], seconds)


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


def window_part(args: argparse.Namespace) -> Iterator[str]:
    yield from window_table("A process, a loop of the shell", recorded(args.pairs, command(), "wall_ns"))
    if args.step_pairs:
        yield from window_table("The step of a small training loop, one value a run",
                                recorded(args.step_pairs, training(), "step_ns"))


def live_part(args: argparse.Namespace) -> Iterator[str]:
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
    if not args.timers:
        return
    for name, claims in with_timers(args.timers).items():
        yield from [f"A function of 0.3 ms with itself, {args.timers} times by {name}, 0.2 s a side: a difference is claimed in "
                    f"{claims} ({percent(claims / args.timers)}).", ""]


PARTS: dict[str, tuple[Callable[[argparse.Namespace], Iterator[str]], tuple[str, str]]] = {
    "windows": (window_part, WINDOW_MARKS),
    "live": (live_part, measured_part.MARKS),
}


def timed(lines: Iterator[str]) -> Iterator[str]:
    """And how long they took, at which load."""
    began, load = time.monotonic(), os.getloadavg()[0]
    yield from lines
    yield (f"It took {time.monotonic() - began:.0f} s on {os.cpu_count()} cores, load {load:.1f} at the start and "
           f"{os.getloadavg()[0]:.1f} at the end.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--pairs", type=int, default=600)
    parser.add_argument("--step-pairs", type=int, default=200, help="0: none")
    parser.add_argument("--live", type=int, default=40)
    parser.add_argument("--slow-down", type=int, default=0, help="that alone: comparisons with 1 %% more, by each metric")
    parser.add_argument("--seconds", type=float, default=3600, help="of each row of --slow-down, before its last comparison")
    parser.add_argument("--by", nargs="+", choices=[metric for _, metric, _ in SLOWED], default=[metric for _, metric, _ in SLOWED],
                        help="rows of --slow-down")
    parser.add_argument("--timers", type=int, default=100, help="comparisons of a function; 0: none")
    parser.add_argument("--write", type=pathlib.Path)
    args = parser.parse_args()
    if args.slow_down:
        if args.write is not None:
            measured_part.parts(args.write, SLOW_DOWN_MARKS)

        def shown(rows: dict[str, str]) -> None:
            if args.write is None:
                print(slow_down_table(list(rows.values()), args.seconds), flush=True)
            else:
                measured_part.write(args.write, with_rows(args.write.read_text(), rows, args.seconds), SLOW_DOWN_MARKS)

        slow_down(args.slow_down, args.seconds, args.by, shown)
        return
    if args.write is not None:
        for part in args.parts:
            measured_part.parts(args.write, PARTS[part][1])
    for part in args.parts:
        make, marks = PARTS[part]
        lines: list[str] = []
        for line in timed(make(args)):
            lines.append(line)
            if args.write is None:
                print(line, flush=True)
            else:
                measured_part.write(args.write, "\n".join(lines), marks)


if __name__ == "__main__":
    main()
