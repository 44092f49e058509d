#!/usr/bin/env python3
"""Measures what `--with lines` adds to a step of training: the steps of one process under `fathom run --with lines`,
with its lines and without, in pairs.

    nice -n -19 build/torch/bin/python tools/measure_line_steps.py [--seconds 40] [--fathom PATH]
    nice -n -19 build/torch/bin/python tools/measure_line_steps.py --write docs/overhead.md    puts the table there

A pair is a few steps with the recorder of lines and as many right before or after them while the recorder rests; which
of them come first is by chance. The first steps after the change are not timed, for from Python 3.12 on the interpreter
then goes through all code that runs; of the others the fastest counts. The pair's ratio is of these two. The result is the median of the pairs' ratios and its interval at
95 % (by rank, so of any distribution). Beside it stands the fastest step with lines less the fastest without, since
what else the machine does can only add. Pairs of which neither step has lines are the control: they show what the method
finds where nothing is. The program is tools/training_program.py.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import measured_part
import training_program

ROOT = pathlib.Path(__file__).resolve().parents[1]
# A part of the page for each version.
NAME = "line steps of Python %d.%d" % sys.version_info[:2]
MARKS = (f"<!-- {NAME}: begin -->", f"<!-- {NAME}: end -->")
WARM_UP = 30
# Steps after the recorder began or rests: those that are not timed, and those of which the fastest counts.
SETTLE, TIMED = 2, 3
# What a row of the table adds to the steps, and whether the timeline is kept, as in recorded steps.
WAYS = {"nothing": "nothing (the control)", "lines": "lines", "timeline": "lines and their timeline"}


# In the process that is measured


class Lines:
    """Those that `fathom run --with lines` began in this process."""

    def __init__(self) -> None:
        current = sys.modules["fathom_recorder"].recorder.current
        self._lines = current.lines if current is not None else None
        if self._lines is None:
            raise SystemExit("this process has no recorder of lines")
        self._most = current.options.max_memory
        self._profiles = current.profiles
        self._rest()

    def _rest(self) -> None:
        # What goes on twice a second would begin it again before Python 3.12.
        self._profiles.remove(self._lines)
        self._lines.stop()

    def begin(self, way: str) -> None:
        self._lines.begin(self._most)
        self._profiles.append(self._lines)
        if way == "timeline":
            self._lines.window_begins()

    def replace_callback(self, event: str, callback: Any) -> Any:
        """What was called before for this event of sys.monitoring."""
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        return monitoring.register_callback(
            self._lines._tool, getattr(monitoring.events, event), callback
        )

    def end(self, way: str) -> None:
        if way == "timeline":
            self._lines.window_ends(False)
        self._rest()


def time_of(step: Any) -> tuple[int, int]:
    """Wall and processor time of the fastest step once the interpreter is settled, ns. By each clock its own fastest."""
    for _ in range(SETTLE):
        step()
    walls, cpus = [], []
    for _ in range(TIMED):
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        step()
        walls.append(time.perf_counter_ns() - wall)
        cpus.append(time.process_time_ns() - cpu)
    return min(walls), min(cpus)


def measure(size: str, seconds: float) -> dict[str, Any]:
    trainer = training_program.trainer(size)
    lines = Lines()
    for _ in range(WARM_UP):
        trainer.step()
    for way in ("lines", "timeline"):  # every code object is asked about once
        lines.begin(way)
        trainer.step()
        lines.end(way)
    counts = counts_of(lines, trainer.step)
    chance = random.Random(1)
    found: dict[str, Any] = {way: [] for way in WAYS}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for way in chance.sample(list(WAYS), len(WAYS)):
            times = {}
            for with_it in chance.sample((False, True), 2):
                if with_it and way != "nothing":
                    lines.begin(way)
                    times[with_it] = time_of(trainer.step)
                    lines.end(way)
                else:
                    times[with_it] = time_of(trainer.step)
            found[way].append((times[False], times[True]))
    notes = sys.modules["fathom_recorder.failures"].notes()
    return {"pairs": found, "counts": counts, "notes": notes}


def counts_of(lines: Lines, step: Any) -> dict[str, int]:
    """What the interpreter reports to the recorder in a step, of the program's lines and code and of all other code."""
    count = {"lines": 0, "own": 0, "other": 0}
    reports = monitored if hasattr(sys, "monitoring") else traced
    reports(lines, step, count)
    return count


def monitored(lines: Lines, step: Any, count: dict[str, int]) -> None:
    lines.begin("lines")
    before = {}
    for name in ("PY_START", "PY_RESUME", "PY_THROW", "PY_RETURN", "PY_YIELD", "PY_UNWIND", "LINE"):
        before[name] = lines.replace_callback(name, None)

    def counting(name: str, callback: Any) -> Any:
        def told(code: Any, *rest: Any) -> Any:
            count["own" if code.co_filename == training_program.__file__ else "other"] += 1
            count["lines"] += name == "LINE"
            return callback(code, *rest)

        return told

    for name, callback in before.items():
        lines.replace_callback(name, counting(name, callback))
    for _ in range(2 * SETTLE):  # other code is reported once, and some of it not in each step
        step()
    count.update(lines=0, own=0, other=0)
    step()
    found = dict(count)  # what follows is reported, too
    for name, callback in before.items():
        lines.replace_callback(name, callback)
    lines.end("lines")
    count.update(found)


def traced(_lines: Lines, step: Any, count: dict[str, int]) -> None:
    def told(frame: Any, event: str, _argument: Any) -> Any:
        own = frame.f_code.co_filename == training_program.__file__
        frame.f_trace_lines = own
        count["own" if own else "other"] += 1
        count["lines"] += event == "line"
        return told

    sys.settrace(told)
    step()
    sys.settrace(None)


# Around it


def run(fathom: str, size: str, seconds: float) -> dict[str, Any]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")}
    environment["OMP_NUM_THREADS"] = "1"
    program = [sys.executable, str(pathlib.Path(__file__).resolve()), "--inside", size]
    program += ["--seconds", str(seconds)]
    with tempfile.TemporaryDirectory() as folder:
        words = [fathom, "run", "--quiet", "--no-overhead", "--no-diagnose", "-o", f"{folder}/session"]
        words += ["--telemetry", "0", "--steps", "skip_first=1000000", "--with", "lines", "--", *program]
        done = subprocess.run(words, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if result["notes"]:
        sys.exit(f"the recorder has a note: {json.dumps(result['notes'])}")
    return result


def interval(values: list[float]) -> tuple[float, float]:
    """Of the median, at 95 %: by the ranks that the binomial distribution gives."""
    ordered = sorted(values)
    count = len(ordered)
    below = 0.0
    rank = 0
    while rank < count // 2 and below + math.comb(count, rank) / 2**count <= 0.025:
        below += math.comb(count, rank) / 2**count
        rank += 1
    low = max(0, rank - 1)
    return ordered[low], ordered[count - 1 - low]


def cell(ratios: list[float]) -> str:
    low, high = interval(ratios)
    added = [100 * (each - 1) for each in (statistics.median(ratios), low, high)]
    return "{:+.2f} % ({:+.2f} to {:+.2f})".format(*added)


def fastest(pairs: list[Any], clock: int) -> tuple[float, float]:
    """Of the steps without it, ns, and how much longer with it."""
    bare = min(before[clock] for before, _ in pairs)
    return bare, min(after[clock] for _, after in pairs) - bare


def text_of(results: dict[str, dict[str, Any]], told: str) -> str:
    text = [
        told,
        "",
        "| what is added | pairs | wall time | processor time | of the fastest, processor time |",
        "|---|---:|---:|---:|---:|",
    ]
    for size, result in results.items():
        bare, _ = fastest(result["pairs"]["nothing"], 1)
        counts = "{lines} lines; {own} reports of its code, {other} of other code".format(**result["counts"])
        text.append(f"| **a {size} step: {bare / 1e6:.2f} ms, {counts}** | | | | |")
        for way, title in WAYS.items():
            found = result["pairs"][way]
            wall, cpu = ([after[c] / before[c] for before, after in found] for c in (0, 1))
            bare, more = fastest(found, 1)
            least = f"{more / 1e3:+.0f} µs, {100 * more / bare:+.2f} %"
            text.append(f"| {title} | {len(found)} | {cell(wall)} | {cell(cpu)} | {least} |")
    return "\n".join(text)


def conditions(loads: tuple[float, float]) -> str:
    import torch

    return (
        f"Median of the pairs and its interval at 95 %; torch {torch.__version__} on the CPU, one thread, Python "
        f"{platform.python_version()}; {os.cpu_count()} cores, nice {os.getpriority(os.PRIO_PROCESS, 0)}, "
        f"load {loads[0]:.1f} at the start, {loads[1]:.1f} at the end."
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=40, help="of each size of step")
    parser.add_argument("--size", action="append", choices=training_program.CONFIGS)
    parser.add_argument("--write", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--fathom", default=os.environ.get("FATHOM", ROOT / "build/release/fathom"))
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        print(json.dumps(measure(given.inside, given.seconds)))
        return
    if given.write:
        measured_part.parts(given.write, MARKS)
    load = os.getloadavg()[0]
    sizes = given.size or list(training_program.CONFIGS)
    results = {size: run(str(given.fathom), size, given.seconds) for size in sizes}
    text = text_of(results, conditions((load, os.getloadavg()[0])))
    if given.write:
        measured_part.write(given.write, text, MARKS)
    else:
        print(text)


if __name__ == "__main__":
    main()
