#!/usr/bin/env python3
"""How often fathom.bench() claims a difference between a function and itself, and finds a true one.

    PYTHONPATH=build/release/python tools/measure_bench_python.py [--comparisons N] [--write docs/bench-api.md]

Each comparison is live: fathom.bench(f, against=f) of a loop of about 0.3 ms, without options of sampling but --pairs. Beside
it, in the same run, methods that measure all of A and then all of B: as many values a side by timeit, judged by Welch's test
and by Mann and Whitney's; and torch.utils.benchmark's Timer, where PyTorch is there, judged as its Compare does (a difference
of medians beyond what both spreads hold). The methods take turns, so that all meet the same machine.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import pathlib
import statistics
import time
import timeit
from collections.abc import Callable

import measure_bench
import measured_part

import fathom

ROUNDS = 9000
# A number, and no sum where it is used: an object that lives in one of two functions moves the others to other places in memory.
MORE_ROUNDS = ROUNDS + ROUNDS // 100


def loop(rounds: int) -> int:
    total = 0
    for number in range(rounds):
        total += number & 7
    return total


def work() -> int:
    return loop(ROUNDS)


def more() -> int:
    """One percent more."""
    return loop(MORE_ROUNDS)


BYTES = 400_000
MORE_BYTES = BYTES + BYTES // 100
DATA = memoryview(bytes(MORE_BYTES))


def digest() -> bytes:
    """A loop in C, in which objects of Python play no part."""
    return hashlib.sha256(DATA[:BYTES]).digest()


def digest_more() -> bytes:
    return hashlib.sha256(DATA[:MORE_BYTES]).digest()


def welch_claims(a: list[float], b: list[float]) -> bool:
    """At 5 %, by the normal distribution: there are 30 values and more."""
    spread = math.sqrt(statistics.variance(a) / len(a) + statistics.variance(b) / len(b))
    return spread > 0 and abs(statistics.mean(a) - statistics.mean(b)) / spread > 1.96


def rank_claims(a: list[float], b: list[float]) -> bool:
    merged = sorted([(value, 0) for value in a] + [(value, 1) for value in b])
    ranks = sum(place + 1 for place, (_, side) in enumerate(merged) if side == 0)
    n, m = len(a), len(b)
    return abs(ranks - n * (n + m + 1) / 2) / math.sqrt(n * m * (n + m + 1) / 12) > 1.96


def blocks(values: int) -> tuple[list[float], list[float]]:
    """All of A, then all of B, a call a value."""
    def timed() -> list[float]:
        return timeit.repeat(work, number=1, repeat=values)

    return timed(), timed()


def torch_claims(seconds: float) -> Callable[[], bool] | None:
    """As Compare.trim_significant_figures() shows them: medians whose significant figures are not the same."""
    try:
        from torch.utils.benchmark import Timer
        from torch.utils.benchmark.utils.common import trim_sigfig
    except ImportError:
        return None

    def claims() -> bool:
        first, second = (Timer("work()", globals={"work": work}).blocked_autorange(min_run_time=seconds) for _ in range(2))
        # Of one column the fewest figures hold for all.
        figures = min(first.significant_figures, second.significant_figures)
        return trim_sigfig(first.median, figures) != trim_sigfig(second.median, figures)

    return claims


def same_twice(comparisons: int, pairs: int) -> list[str]:
    names = [f"`fathom.bench(f, against=f, runs={pairs})`", "`fathom.bench(f, against=f)`", "timeit, A then B: Welch",
             "timeit, A then B: Mann and Whitney"]
    claims = dict.fromkeys(names, 0)
    torch = torch_claims(pairs * 0.0003)
    if torch is not None:
        claims["torch.utils.benchmark, A then B: medians in their significant figures"] = 0
    used: list[int] = []
    for _ in range(comparisons):
        claims[names[0]] += fathom.bench(work, against=work, runs=pairs).verdict in ("faster", "slower")
        stopped = fathom.bench(work, against=work, resolution=0.02, time=0.3)
        claims[names[1]] += stopped.verdict in ("faster", "slower")
        used.append(stopped.pairs)
        a, b = blocks(pairs)
        claims[names[2]] += welch_claims(a, b)
        claims[names[3]] += rank_claims(a, b)
        if torch is not None:
            claims[list(claims)[4]] += torch()
    labels = dict.fromkeys(names)
    labels[names[1]] = f"the same, stopped by precision (2 %, 0.3 seconds; {statistics.median(used):.0f} pairs, median)"
    return [f"| {labels.get(name) or name} | {count} of {comparisons} ({100 * count / comparisons:.1f} %) |" for name, count in claims.items()]


def true_difference(name: str, new: Callable[[], object], base: Callable[[], object], comparisons: int, seconds: float) -> str:
    """Found is a difference where the whole interval lies above 0, whether or not it is larger than the resolution."""
    verdicts: dict[str, int] = {}
    ratios: list[float] = []
    medians: list[float] = []
    took: list[float] = []
    announcements: list[float] = []
    found = in_time = wrong = 0
    for _ in range(comparisons):
        told = fathom.bench(new, against=base, resolution=0.01, time=seconds).to_dict()
        headline, announced = told["metrics"][0], told["announced"]
        verdicts[headline["verdict"] or "none"] = verdicts.get(headline["verdict"] or "none", 0) + 1
        ratios.append(headline["ratio"])
        medians.append(headline["new"]["median"] / 1e6)
        took.append(told["elapsed_s"])
        announcements.append(announced["time_s"] if announced else math.inf)
        interval = headline["ratio_interval"]
        above = interval is not None and interval[0] > 1
        found += above
        wrong += interval is not None and interval[1] < 1
        # Where the first pairs are as many as it takes, writing the result comes after that time.
        in_time += above and announced is not None and (took[-1] <= announced["time_s"] or told["pairs"] <= announced["pairs"])
    low, high = measure_bench.share_interval(in_time, comparisons)
    shown = ", ".join(f"{verdict} {count}" for verdict, count in sorted(verdicts.items()))
    return (f"| {name}, {statistics.median(medians):.2f} ms | {100 * (statistics.median(ratios) - 1):+.2f} % | {in_time} of {comparisons} "
            f"({100 * low:.0f} to {100 * high:.0f} %) | {found}, {wrong} | {statistics.median(took):.2f} s of {statistics.median(announcements):.2f} s | {shown} |")


def powers(comparisons: int, seconds: float) -> list[str]:
    return [f"1 % more work, `resolution=0.01, time={seconds:g}`, {comparisons} comparisons each. Found is what has all of its interval above 0; behind what was "
            "found in time is its 95 % interval (Clopper and Pearson):", "",
            "| function | measured (median) | found within the announced time | found at all, the wrong way | time taken of announced (medians) | verdicts |",
            "|---|---:|---:|---:|---|---|",
            true_difference("SHA-256", digest_more, digest, comparisons, seconds),
            true_difference("loop of Python", more, work, comparisons, seconds)]


def page(comparisons: int, pairs: int, power: int, seconds: float) -> str:
    began, load = time.monotonic(), os.getloadavg()[0]
    median = fathom.bench(work, runs=200).new.median / 1e6
    same = [f"A loop of Python (median {median:.2f} ms a call) against itself, {comparisons} live comparisons, {pairs} values a side; "
             "how often a difference is claimed:", "", "| method | claims |", "|---|---:|", *same_twice(comparisons, pairs), ""] if comparisons else []
    lines = [*same, *powers(power, seconds), "", f"It took {time.monotonic() - began:.0f} s on {os.cpu_count()} cores, load {load:.1f} at the start and "
             f"{os.getloadavg()[0]:.1f} at the end."]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comparisons", type=int, default=1000, help="of the loop with itself; 0: none")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--power", type=int, default=100, help="comparisons with what does 1 %% more")
    parser.add_argument("--seconds", type=float, default=3.0, help="the most that one of these may take")
    parser.add_argument("--write", type=pathlib.Path)
    args = parser.parse_args()
    text = page(args.comparisons, args.pairs, args.power, args.seconds)
    if args.write is None:
        print(text, end="")
        return
    measured_part.write(args.write, text)


if __name__ == "__main__":
    main()
