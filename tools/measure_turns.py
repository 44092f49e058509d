#!/usr/bin/env python3
"""Would two programs that take turns, step by step, be compared more truly than by whole runs?

    tools/measure_turns.py [--comparisons N] [--pairs N]

A prototype, and its trial of a program against itself. Two new processes of one program stay alive; each waits at its step
boundary until it is its turn, and the order within each pair of steps is drawn at random. Each comparison is judged by the sign
test over its pairs, at 5 %. Beside it: as many whole runs in random order, whose value is the median of their steps. And
how much longer a step is that follows the other program's than one that follows its own.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import subprocess
import sys
import time

# A step of plain Python over objects of many sizes, about 1 ms; it answers each line with how long its step took.
PROGRAM = """
import sys, time
table = {f"key{number}": [number, str(number)] for number in range(3000)}
order = list(table)
def step():
    total = 0
    for key in order:
        number, text = table[key]
        total += number + len(text)
    return total
for line in sys.stdin:
    begin = time.perf_counter_ns()
    step()
    print(time.perf_counter_ns() - begin, flush=True)
"""


class Worker:
    def __init__(self) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)
        self.step()
        self.step()

    def step(self) -> int:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def claims(pairs: list[tuple[float, float]]) -> bool:
    less = sum(a < b for a, b in pairs)
    n = sum(a != b for a, b in pairs)
    tail = sum(math.comb(n, k) for k in range(min(less, n - less) + 1)) / 2**n
    return 2 * tail < 0.05


def in_turns(pairs: int, draw: random.Random) -> tuple[list[tuple[float, float]], float]:
    """Steps of two processes in pairs, and how much longer one is that follows the other's than one after its own."""
    one, other = Worker(), Worker()
    taken = []
    for _ in range(pairs):
        if draw.random() < 0.5:
            first = one.step()
            taken.append((first, other.step()))
        else:
            first = other.step()
            taken.append((one.step(), first))
    alone = statistics.median(one.step() for _ in range(pairs))
    one.end()
    other.end()
    return taken, statistics.median(a for a, _ in taken) / alone


def whole_run(steps: int) -> float:
    worker = Worker()
    median = statistics.median(worker.step() for _ in range(steps))
    worker.end()
    return median


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comparisons", type=int, default=60)
    parser.add_argument("--pairs", type=int, default=100)
    args = parser.parse_args()
    began, load = time.monotonic(), os.getloadavg()[0]
    draw = random.Random(1)
    false, slowed = 0, []
    for _ in range(args.comparisons):
        pairs, longer = in_turns(args.pairs, draw)
        false += claims(pairs)
        slowed.append(longer)
    turns_s = time.monotonic() - began
    runs = [whole_run(30) for _ in range(40 * 10)]
    whole = sum(claims([pair if draw.random() < 0.5 else pair[::-1] for pair in zip(runs[i::40], runs[i + 1::40])])
                for i in range(0, 40, 2) for _ in range(50))
    print(f"In turns: {args.comparisons} comparisons of a program with itself, {args.pairs} pairs of steps of two processes each: a "
          f"difference is claimed in {false} ({100 * false / args.comparisons:.0f} %). A step between those of the other takes "
          f"{100 * (statistics.median(slowed) - 1):+.1f} % longer than one after its own. {turns_s:.0f} s.")
    print(f"Whole runs: 20 sets of 10 pairs of runs, each set judged with 50 orders: a difference is claimed in {whole} of 1000 "
          f"({whole / 10:.1f} %).")
    print(f"{os.cpu_count()} cores, load {load:.1f} at the start and {os.getloadavg()[0]:.1f} at the end.")


if __name__ == "__main__":
    main()
