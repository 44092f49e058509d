#!/usr/bin/env python3
"""Measures what recording costs: torch.profiler alone beside `fathom run`, with each option, on a
small and a large step. Run it on a quiet machine; it takes less than five minutes.

    build/torch/bin/python tools/measure_overhead.py                             prints the tables
    build/torch/bin/python tools/measure_overhead.py --write docs/overhead.md    puts them there

Each configuration runs as a process of its own, all of them in turn, --rounds times; of the rounds
the one with the fastest median counts, since whatever else the machine does only adds.

    nice -n -19 tools/measure_overhead.py --pairs 9

measures telemetry and `--with functions` alone, of plain programs, on any Python: a run with and
one without, one after the other, the order changing from pair to pair, --pairs times. The result
is the median of the pairs' ratios, and their range: what changes slowly on the machine is in both.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import measured_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAIR_MARKS = ("<!-- pairs: begin -->", "<!-- pairs: end -->")
SLICES = 200_000
NEVER = 1_000_000


@dataclasses.dataclass(frozen=True)
class Size:
    """Four linear layers with ReLU. Of `steps`, those from `begin` to `end` are recorded."""

    width: int
    rows: int
    begin: int
    end: int

    @property
    def steps(self) -> int:
        return self.end + 2


SIZES = {"small": Size(64, 16, 300, 700), "large": Size(1024, 256, 8, 20)}


@dataclasses.dataclass(frozen=True)
class Way:
    """One row of the table, by one of both recorders."""

    row: str
    # The options of torch.profiler in the program itself; None: it is not used there.
    own: str | None = None
    # Words for `fathom run`; None: without.
    fathom: tuple[str, ...] | None = None
    recorded: bool = True


NOTHING = Way("nothing")
OUTSIDE = Way("steps that are not recorded", fathom=(), recorded=False)
ROWS = ("default", "shapes", "memory", "stacks")
FATHOM_ROWS = {
    "functions": ("--with", "functions"),
    "telemetry off": ("--telemetry", "0"),
}


def ways() -> list[Way]:
    found = [NOTHING, OUTSIDE]
    for row in ROWS:
        asked = () if row == "default" else ("--with", row)
        found += [Way(row, own=row), Way(row, fathom=asked)]
    return found + [Way(row, fathom=words) for row, words in FATHOM_ROWS.items()]


# In the process that is measured


def train(size: Size, own: str, clock: str) -> None:
    import torch

    torch.set_num_threads(1)
    now = time.process_time_ns if clock == "cpu" else time.perf_counter_ns
    parts: list[torch.nn.Module] = []
    for _ in range(4):
        parts += [torch.nn.Linear(size.width, size.width), torch.nn.ReLU()]
    model = torch.nn.Sequential(*parts)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(size.rows, size.width)
    times = []
    with profiler(torch, size, own) as profile:
        for _ in range(size.steps):
            begin = now()
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            if profile is not None:
                profile.step()
            times.append(now() - begin)
    print(json.dumps(times))


@contextlib.contextmanager
def profiler(torch: Any, size: Size, own: str) -> Iterator[Any]:
    if own == "-":
        yield None
        return
    plan = torch.profiler.schedule(
        wait=size.begin - 1, warmup=1, active=size.end - size.begin, repeat=1
    )
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=plan,
        on_trace_ready=lambda p: p.export_chrome_trace(os.environ["TRACE"]),
        record_shapes=own == "shapes",
        profile_memory=own == "memory",
        with_stack=own == "stacks",
    ) as profile:
        yield profile


# Around it


class Measurement:
    def __init__(self, fathom: str, clock: str) -> None:
        self._fathom = fathom
        self._clock = clock

    def median(self, name: str, way: Way) -> float:
        """Of the steps that are recorded, or would be, ns."""
        size = SIZES[name]
        with tempfile.TemporaryDirectory() as folder:
            environment = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")}
            environment.update(OMP_NUM_THREADS="1", TRACE=f"{folder}/own.json")
            script = str(pathlib.Path(__file__).resolve())
            words = [sys.executable, script, "--steps", name, way.own or "-", self._clock]
            if way.fathom is not None:
                words = [*self._run(size, way, folder), "--", *words]
            done = subprocess.run(words, env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{' '.join(words)}\n{done.stderr}")
            times: list[int] = json.loads(done.stdout.splitlines()[-1])
        # Both ends hold some of the profiler's start and end, where it is called inside the step.
        return statistics.median(times[size.begin + 1 : size.end - 1])

    def _run(self, size: Size, way: Way, folder: str) -> list[str]:
        active = size.end - size.begin
        steps = f"wait={size.begin - 1},warmup=1,active={active}"
        if not way.recorded:
            steps = f"skip_first={NEVER}"
        command = [self._fathom, "run", "--quiet", "--no-overhead", "-o", f"{folder}/session"]
        return [*command, "--steps", steps, *(way.fathom or ())]


Medians = dict[tuple[str, Way], float]


def measure(fathom: str, clock: str, rounds: int) -> Medians:
    measurement = Measurement(fathom, clock)
    best: Medians = {}
    for number in range(rounds):
        for way in ways():
            for name in SIZES:
                median = measurement.median(name, way)
                best[name, way] = min(best.get((name, way), float("inf")), median)
        print(f"round {number + 1} of {rounds} is done", file=sys.stderr)
    return best


def cost_of_a_slice() -> float:
    """ns for one slice, from the call until it is in the file."""
    sys.path.insert(0, str(ROOT / "python/fathom_hook"))
    from fathom_recorder.wire import Writer

    with tempfile.TemporaryDirectory() as folder:
        writer = Writer(f"{folder}/process-1.fathom", 1 << 28, 1 << 30)
        begin = time.process_time_ns()
        for number in range(SLICES):
            writer.slice("sample", "loader.sample", number, 1, number)
        writer.flush()
        return (time.process_time_ns() - begin) / SLICES


# Pairs: a program that uses nothing but Python


@dataclasses.dataclass(frozen=True)
class Work:
    """A plain program: so many calls of a function that adds up so many numbers."""

    calls: int
    length: int


WORKS = {
    "long": Work(12_000_000, 1),
    "calls": Work(1_000_000, 1),
    "loops": Work(5_000, 10_000),
}

UNRECORDED: tuple[str, ...] = ("--telemetry", "0")
PAIRS = {
    "telemetry at 10 Hz (the default)": ("long", UNRECORDED, ("--telemetry", "10")),
    "telemetry at 100 Hz": ("long", UNRECORDED, ("--telemetry", "100")),
    "`--with functions`, calls of 0.2 ms": (
        "loops",
        UNRECORDED,
        (*UNRECORDED, "--with", "functions"),
    ),
    "`--with functions`, calls of 0.15 µs": (
        "calls",
        UNRECORDED,
        (*UNRECORDED, "--with", "functions"),
    ),
}
# Beside a run without fathom at all.
BARE = {"all of fathom run, telemetry at 10 Hz": ("long", None, ("--telemetry", "10"))}


def add_up(length: int) -> int:
    total = 0
    for number in range(length):
        total += number
    return total


def work(name: str) -> None:
    """Prints what the calls take together, wall and processor time in ns."""
    asked = WORKS[name]
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    for _ in range(asked.calls):
        add_up(asked.length)
    print(json.dumps([time.perf_counter_ns() - wall, time.process_time_ns() - cpu]))


def run_work(fathom: str, name: str, words: tuple[str, ...] | None) -> tuple[float, float]:
    """Wall and processor time of one process. None: without `fathom run`."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")}
    command = [sys.executable, str(pathlib.Path(__file__).resolve()), "--work", name]
    with tempfile.TemporaryDirectory() as folder:
        if words is not None:
            quiet = ["--quiet", "--no-diagnose", "-o", f"{folder}/session"]
            command = [fathom, "run", *quiet, *words, "--", *command]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    wall, cpu = json.loads(done.stdout.splitlines()[-1])
    return wall, cpu


Ratios = dict[str, list[tuple[float, float]]]


def measure_pairs(fathom: str, pairs: int) -> Ratios:
    """Of each row, wall and processor time with it beside without it, by pair."""
    found: Ratios = {}
    for number in range(pairs):
        for row, (name, without, with_it) in (PAIRS | BARE).items():
            order = [without, with_it] if number % 2 == 0 else [with_it, without]
            times = {words: run_work(fathom, name, words) for words in order}
            ratio = (times[with_it][0] / times[without][0], times[with_it][1] / times[without][1])
            found.setdefault(row, []).append(ratio)
        print(f"pair {number + 1} of {pairs} is done", file=sys.stderr)
    return found


def pairs_table(found: Ratios, load: tuple[float, float]) -> str:
    pairs = len(next(iter(found.values())))
    lines = [
        f"Median of {pairs} pairs, and their range; Python {platform.python_version()}; "
        f"{os.cpu_count()} cores of {processor()}, nice {os.getpriority(os.PRIO_PROCESS, 0)}, "
        f"load {load[0]:.1f} at the start, {load[1]:.1f} at the end.",
        "",
        "| what is added | wall time | processor time |",
        "|---|---:|---:|",
    ]
    for row, ratios in found.items():
        cells = [ratio_text([pair[column] for pair in ratios]) for column in (0, 1)]
        lines.append(f"| {row} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def ratio_text(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.3f}× ({min(ratios):.3f} to {max(ratios):.3f})"


# What is printed


def processor() -> str:
    with contextlib.suppress(OSError, StopIteration):
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model n"))
    return platform.machine()


def conditions(clock: str, rounds: int, load: float) -> str:
    import torch

    kind = "Processor" if clock == "cpu" else "Wall"
    return (
        f"{kind} time of one step, the fastest of {rounds} rounds' medians; torch "
        f"{torch.__version__} on the CPU, one thread, Python {platform.python_version()}; "
        f"{os.cpu_count()} cores of "
        f"{processor()}, load {load:.1f} at the start."
    )


def tables(best: Medians, slice_ns: float, told: str) -> str:
    lines = [
        told,
        "",
        f"One slice, from the call until it is in the file: {slice_ns / 1e3:.2f} µs.",
    ]
    for name in SIZES:
        bare = best[name, NOTHING]
        lines += ["", f"### A {name} step: {time_text(bare)}", ""]
        lines += ["| recorded with | torch.profiler alone | `fathom run` |", "|---|---:|---:|"]
        rows = [OUTSIDE.row, *ROWS, *FATHOM_ROWS]
        for row in rows:
            own = [w for n, w in best if n == name and w.row == row and w.own is not None]
            ours = [w for n, w in best if n == name and w.row == row and w.fathom is not None]
            cells = [cell(best[name, w[0]], bare) if w else "" for w in (own, ours)]
            lines.append(f"| {row} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def time_text(ns: float) -> str:
    return f"{ns / 1e6:.3g} ms"


def cell(ns: float, bare: float) -> str:
    return f"{time_text(ns)}, {ns / bare:.2f}×"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--steps", nargs=3, metavar=("SIZE", "OWN", "CLOCK"), help=argparse.SUPPRESS
    )
    parser.add_argument("--work", choices=WORKS, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--pairs", type=int, metavar="N", help="only the pairs, N of each")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--write", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--fathom", default=os.environ.get("FATHOM", ROOT / "build/release/fathom"))
    given = parser.parse_args()
    if given.steps:
        train(SIZES[given.steps[0]], given.steps[1], given.steps[2])
        return
    if given.work:
        work(given.work)
        return
    if given.pairs:
        before = os.getloadavg()[0]
        found = measure_pairs(str(given.fathom), given.pairs)
        text = pairs_table(found, (before, os.getloadavg()[0]))
        if given.write:
            measured_part.write(given.write, text, PAIR_MARKS)
        else:
            print(text)
        return
    told = conditions(given.clock, given.rounds, os.getloadavg()[0])
    slice_ns = min(cost_of_a_slice() for _ in range(5))
    best = measure(str(given.fathom), given.clock, given.rounds)
    text = tables(best, slice_ns, told)
    if given.write:
        measured_part.write(given.write, text)
    else:
        print(text)


if __name__ == "__main__":
    main()
