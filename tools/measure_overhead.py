#!/usr/bin/env python3
"""Measures what recording costs: torch.profiler alone beside the hook, with each option, on a small
and a large step.

    build/torch/bin/python tools/measure_overhead.py          the tables of docs/overhead.md
    tools/measure_overhead.py --steps SIZE EXTRAS|none|-      what is measured: step times, as JSON

Each configuration runs as a process of its own, all of them in turn, --rounds times; of the rounds
the one with the fastest median counts, since whatever else the machine does only adds. Times are
processor time of a program with one thread, which other programs disturb less.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Width, layers, rows.
SIZES = {"small": (64, 4, 16), "large": (1024, 4, 256)}
STEPS = 32
EXTRAS = ["", "shapes", "memory", "flops", "stacks", "shapes,memory,flops,stacks"]
# The profiler records these many steps after so many others.
BEFORE, ACTIVE = 10, 20
SLICES = 200_000


def train(size: str, extras: str) -> None:
    """`extras` "-": nothing is profiled here; otherwise torch.profiler is, with those."""
    import torch

    torch.set_num_threads(1)
    width, layers, rows = SIZES[size]
    parts: list[torch.nn.Module] = []
    for _ in range(layers):
        parts += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    model = torch.nn.Sequential(*parts)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(rows, width)
    times = []
    with profiler(torch, extras) as profile:
        for _ in range(STEPS):
            begin = time.process_time_ns()
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            if profile is not None:
                profile.step()
            times.append(time.process_time_ns() - begin)
    print(json.dumps(times))


@contextlib.contextmanager
def profiler(torch: Any, extras: str) -> Iterator[Any]:
    if extras == "-":
        yield None
        return
    chosen = extras.split(",")
    plan = torch.profiler.schedule(wait=BEFORE - 1, warmup=1, active=ACTIVE, repeat=1)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=plan,
        on_trace_ready=lambda p: p.export_chrome_trace(os.environ["TRACE"]),
        record_shapes="shapes" in chosen,
        profile_memory="memory" in chosen,
        with_flops="flops" in chosen,
        with_stack="stacks" in chosen,
    ) as profile:
        yield profile


def run(size: str, own: str, hook: dict[str, Any] | None) -> float:
    """Median of the steps that are recorded, or would be, ns."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")}
        environment.update(OMP_NUM_THREADS="1", TRACE=f"{folder}/own.json")
        if hook is not None:
            environment.update(
                FATHOM_SESSION=folder,
                FATHOM_OPTIONS=json.dumps(hook),
                PYTHONPATH=str(ROOT / "python/fathom_hook"),
            )
        words = [sys.executable, __file__, "--steps", size, own]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        times = json.loads(done.stdout.splitlines()[-1])
    # The first recorded step holds the profiler's start.
    return statistics.median(times[BEFORE + 2 : BEFORE + ACTIVE - 1])


def options(extras: str) -> dict[str, Any]:
    steps = {"wait": BEFORE - 1, "warmup": 1, "active": ACTIVE}
    return {"with": [e for e in extras.split(",") if e], "steps": steps, "overhead": False}


def configurations() -> dict[str, tuple[str, dict[str, Any] | None]]:
    never = {"steps": {"skip_first": 1_000_000}, "overhead": False}
    found: dict[str, tuple[str, dict[str, Any] | None]] = {
        "nothing": ("-", None),
        "the hook, outside of what it records": ("-", never),
    }
    for extras in EXTRAS:
        name = extras.replace(",", ", ")
        found[f"torch.profiler|{name}"] = (extras or "none", None)
        found[f"hook|{name}"] = ("-", options(extras))
    return found


def table(size: str, rounds: int) -> None:
    best: dict[str, float] = {}
    for number in range(rounds):
        for name, (own, hook) in configurations().items():
            best[name] = min(best.get(name, float("inf")), run(size, own, hook))
            print(f"{size} {number} {name}: {best[name]:.0f} ns", file=sys.stderr)
    bare = best["nothing"]
    idle = best["the hook, outside of what it records"]
    print(f"\n### A {size} step: {bare / 1e6:.3g} ms\n")
    print(f"The hook, in steps that it does not record: {idle / 1e6:.3g} ms, {idle / bare:.3f}×.\n")
    print("| recorded with | torch.profiler alone | | `fathom run` | | beside it |")
    print("|---|---:|---:|---:|---:|---:|")
    for extras in EXTRAS:
        name = extras.replace(",", ", ")
        theirs, ours = best[f"torch.profiler|{name}"], best[f"hook|{name}"]
        print(
            f"| {name or 'nothing more'} | {theirs / 1e6:.3g} ms | {theirs / bare:.2f}× "
            f"| {ours / 1e6:.3g} ms | {ours / bare:.2f}× | {ours / theirs:.2f}× |"
        )


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", nargs=2, metavar=("SIZE", "EXTRAS"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", choices=sorted(SIZES), action="append")
    given = parser.parse_args()
    if given.steps:
        train(*given.steps)
        return
    print(f"One slice: {min(cost_of_a_slice() for _ in range(5)):.0f} ns.")
    for size in given.size or SIZES:
        table(size, given.rounds)


if __name__ == "__main__":
    main()
