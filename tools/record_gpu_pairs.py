#!/usr/bin/env python3
"""Record pairs of an illness and its cure on a GPU, and measure both without a profiler.

    python tools/record_gpu_pairs.py FOLDER                    every pair of tools/illness_gpu.py
    python tools/record_gpu_pairs.py FOLDER --budget 120 gpu_item gpu_tf32

Writes NAME.ill.trace.json.gz, NAME.cured.trace.json.gz and measured.json, as record_illness.py does
for pairs of the CPU. Recordings of ill and cured are made in turn, and of each the one with the
smallest mean step is kept; unprofiled blocks are measured in turn too, and the device is waited for
after each. What no time is left for is named in measured.json under "left_out", with the reason; a
pair that fails does not stop the others.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from illness_cases import Case
from illness_gpu import GPU_CASES, ON_GPU, GpuCase
from record_illness import ROLES, mean_step, processor, start, warm_steps, write
from torch.profiler import ProfilerActivity, profile, schedule

RECORDINGS = 2 if ON_GPU else 1
BLOCKS = 9 if ON_GPU else 2
BLOCK_SECONDS = 0.06
STEPS_AT_MOST = 50 if ON_GPU else 2


def wait_for_device() -> None:
    if ON_GPU:
        torch.cuda.synchronize()


def record(case: Case, role: str, path: Path) -> str:
    steps = start(case, role)
    next(steps)
    wait_for_device()
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if ON_GPU else [])
    plan = schedule(wait=0, warmup=1, active=case.steps, repeat=1)
    with profile(
        activities=activities, schedule=plan, record_shapes=True, with_stack=case.stacks
    ) as profiler:
        for _ in range(case.steps + 1):
            next(steps)
            profiler.step()
        wait_for_device()
    profiler.export_chrome_trace(str(path))
    return neutral(path.read_text())


def neutral(text: str) -> str:
    """The text without what tells whose machine recorded it, and without indentation."""
    text = re.sub(r'\n\s*"host_name": "[^"]*",', "", text)
    text = re.sub(r'\n\s*"traceName": "[^"]*"', '\n"traceName": "trace.json"', text)
    text = re.sub(r"[^\"' (]*/torch(?:inductor|_compile_debug)_[^\"' )]*", "compiled.py", text)
    for word in sorted(
        {os.getcwd(), str(Path.home()), sys.prefix, sys.base_prefix, tempfile.gettempdir()}, key=len
    ):
        text = text.replace(word + "/", "")
    return re.sub(r"\n\s+", "\n", text)


def steps_per_block(steps: Any) -> int:
    begin = time.perf_counter()
    for _ in range(2):
        next(steps)
    wait_for_device()
    one = (time.perf_counter() - begin) / 2
    return max(2, min(STEPS_AT_MOST, round(BLOCK_SECONDS / one)))


def block(steps: Any, count: int) -> tuple[float, float]:
    """Mean milliseconds of a step, of the clock on the wall and of this process's processors."""
    wait_for_device()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(count):
        next(steps)
    wait_for_device()
    return (time.perf_counter() - wall) * 1e3 / count, (time.process_time() - cpu) * 1e3 / count


def measure(case: Case) -> tuple[dict[str, dict[str, float]], int]:
    running = {role: start(case, role) for role in ROLES}
    count = max(steps_per_block(running[role]) for role in ROLES)
    times: dict[str, list[tuple[float, float]]] = {role: [] for role in ROLES}
    for _ in range(BLOCKS):
        for role in ROLES:
            times[role].append(block(running[role], count))
    step = {
        role: {
            "wall_ms_median": round(statistics.median(wall for wall, _ in times[role]), 4),
            "wall_ms_min": round(min(wall for wall, _ in times[role]), 4),
            "cpu_ms_median": round(statistics.median(cpu for _, cpu in times[role]), 4),
        }
        for role in ROLES
    }
    return step, count


def run_one(each: GpuCase, folder: Path) -> dict[str, Any]:
    case = each.case
    if ON_GPU:
        torch.backends.cuda.matmul.allow_tf32 = each.tf32
        torch.backends.cudnn.allow_tf32 = True
    texts: dict[str, list[str]] = {role: [] for role in ROLES}
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(RECORDINGS):
            for role in ROLES:
                texts[role].append(record(case, role, Path(scratch, "trace.json")))
    for role in ROLES:
        write(folder / f"{case.name}.{role}.trace.json.gz", min(texts[role], key=mean_step))
    step, count = measure(case)
    return {
        "about": case.about,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "device": torch.cuda.get_device_name() if ON_GPU else "cpu",
        "processor": processor(),
        "warm": {role: warm_steps(case, role) for role in ROLES},
        "stacks": case.stacks,
        "recordings": len(texts["ill"]),
        "blocks": BLOCKS,
        "steps_per_block": count,
        "step": step,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "cases", nargs="*", help="names of pairs; without any, all of illness_gpu.py"
    )
    parser.add_argument("--budget", type=float, default=600, help="seconds")
    args = parser.parse_intermixed_args()
    begin = time.perf_counter()
    args.folder.mkdir(parents=True, exist_ok=True)
    measured: dict[str, Any] = {"schema": "fathom-illness-measured/1", "pairs": {}, "left_out": {}}
    for each in GPU_CASES:
        name = each.case.name
        if args.cases and name not in args.cases:
            continue
        left = args.budget - (time.perf_counter() - begin)
        if each.needs_gpu and not ON_GPU:
            measured["left_out"][name] = "its cure needs a GPU"
        elif left < each.reserve_s and ON_GPU:
            measured["left_out"][name] = (
                f"{left:.0f} s were left, and it may take {each.reserve_s:.0f} s"
            )
        else:
            try:
                measured["pairs"][name] = run_one(each, args.folder)
            except Exception as error:  # whatever a pair does, the others are recorded
                measured["left_out"][name] = f"{type(error).__name__}: {error}"[:300]
                for path in args.folder.glob(f"{name}.*.trace.json.gz"):
                    path.unlink()
            if ON_GPU:
                torch.cuda.empty_cache()
        (args.folder / "measured.json").write_text(
            json.dumps(measured, indent=1, ensure_ascii=False) + "\n"
        )
        print(
            name,
            measured["left_out"].get(name, "recorded"),
            f"{time.perf_counter() - begin:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
