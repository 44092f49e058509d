#!/usr/bin/env python3
"""Record pairs of an illness and its cure with a real PyTorch on the CPU, and measure both without a profiler.

    tools/setup torch
    build/torch/bin/python tools/record_illness.py tests/illness/recorded          every pair of tools/illness_cases.py
    build/torch/bin/python tools/record_illness.py tests/illness/recorded fp64     this one, keeping the others

Run it from the top of the repository, so that recorded Python frames carry neutral paths. For each pair it writes
NAME.ill.trace.json.gz and NAME.cured.trace.json.gz (of several ranks: folders NAME.ill, NAME.cured with a file per
rank), and in measured.json the step times without a profiler. One thread computes; a recording or a measurement
that another program disturbed takes longer, so each is repeated: of recordings the one with the smallest mean
step is kept, and of measurements, ill and cured blocks in turn, the smallest block and the median of all are given.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed
from illness_cases import CASES, Case
from illness_kept import KEPT
from torch.profiler import ProfilerActivity, profile, schedule

RECORDINGS = 20  # at most, and fewer where they take long:
RECORDING_SECONDS = 12
BLOCKS = 15
STEPS_PER_BLOCK = 4
ROLES = ("ill", "cured")


def warm_steps(case: Case, role: str) -> int:
    return case.warm or (3 if role == "cured" else 0)


def start(case: Case, role: str) -> Any:
    torch.manual_seed(0)
    torch._dynamo.reset()
    steps = case.make(role == "cured")
    for _ in range(warm_steps(case, role)):
        next(steps)
    return steps


def record(case: Case, role: str, path: Path) -> None:
    """Records once; the trace is plain JSON without names of this machine."""
    steps = start(case, role)
    warm = 1 if warm_steps(case, role) else 0
    plan = schedule(wait=0, warmup=warm, active=case.steps, repeat=1)
    with profile(
        activities=[ProfilerActivity.CPU], schedule=plan, record_shapes=True, with_stack=case.stacks
    ) as profiler:
        for _ in range(case.steps + warm):
            next(steps)
            profiler.step()
    here = os.getcwd()
    os.chdir(path.parent)
    profiler.export_chrome_trace(path.name)
    os.chdir(here)
    path.write_text(neutral(path.read_text()))


def neutral(text: str) -> str:
    """The text without what tells whose machine recorded it; refuses if anything is left."""
    text = re.sub(r'\n\s*"host_name": "[^"]*",', "", text)
    text = re.sub(r"[^\"' (]*/torch(?:inductor|_compile_debug)_[^\"' )]*", "compiled.py", text)
    private = {os.getcwd(), str(Path.home()), sys.prefix, sys.base_prefix, tempfile.gettempdir() + "/"}
    for word in private | {f'"{platform.node()}"'}:
        if word in text:
            place = text.index(word)
            raise SystemExit(f"the trace mentions {word!r}: {text[place - 60 : place + 100]!r}")
    return text


def mean_step(text: str) -> float:
    """Milliseconds."""
    marks = [
        float(event["dur"])
        for event in json.loads(text)["traceEvents"]
        if event.get("ph") == "X" and str(event.get("name", "")).startswith("ProfilerStep#")
    ]
    return statistics.mean(marks) / 1e3


def block(steps: Any) -> tuple[float, float]:
    """Mean milliseconds of a step, of the clock on the wall and of this process's processors."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(STEPS_PER_BLOCK):
        next(steps)
    return (
        (time.perf_counter() - wall) * 1e3 / STEPS_PER_BLOCK,
        (time.process_time() - cpu) * 1e3 / STEPS_PER_BLOCK,
    )


def measure(case: Case) -> dict[str, dict[str, float]]:
    running = {role: start(case, role) for role in ROLES}
    blocks: dict[str, list[tuple[float, float]]] = {role: [] for role in ROLES}
    for _ in range(BLOCKS):
        for role in ROLES:
            blocks[role].append(block(running[role]))
    return {
        role: {
            "wall_ms_median": round(statistics.median(wall for wall, _ in blocks[role]), 4),
            "wall_ms_min": round(min(wall for wall, _ in blocks[role]), 4),
            "cpu_ms_median": round(statistics.median(cpu for _, cpu in blocks[role]), 4),
        }
        for role in ROLES
    }


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file, gzip.GzipFile("", "wb", compresslevel=9, fileobj=file, mtime=0) as out:
        out.write(text.encode())


def run_one(case: Case, folder: Path) -> dict[str, Any]:
    """Records ill and cured in turn, so that whatever else runs meets both."""
    texts: dict[str, list[str]] = {role: [] for role in ROLES}
    begin = time.perf_counter()
    done = 0
    while done < RECORDINGS and (done < 3 or time.perf_counter() - begin < 2 * RECORDING_SECONDS):
        for role in ROLES:
            with tempfile.TemporaryDirectory() as scratch:
                path = Path(scratch, "t.json")
                record(case, role, path)
                texts[role].append(path.read_text())
        done += 1
    for role in ROLES:
        by_length = sorted(texts[role], key=mean_step)
        best, next_best = mean_step(by_length[0]), mean_step(by_length[1])
        print(f"{case.name} {role}: best {best:.3f} ms, next {100 * (next_best / best - 1):.1f} % more", flush=True)
        write(folder / f"{case.name}.{role}.trace.json.gz", by_length[0])
    return measure(case) if case.cost else {}


def rank_main(case: Case, rank: int, scratch: Path) -> None:
    """One process of a group: records both roles, then measures them."""
    torch.distributed.init_process_group("gloo", init_method=f"file://{scratch}/meet", rank=rank, world_size=case.ranks)
    for repeat in range(RECORDINGS):
        for role in ROLES:
            torch.distributed.barrier()
            record(case, role, scratch / f"{role}.{repeat}.{rank}.json")
    torch.distributed.barrier()
    (scratch / f"measured.{rank}.json").write_text(json.dumps(measure(case)))
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def run_ranks(case: Case, folder: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        command = [sys.executable, "tools/record_illness.py", str(folder), case.name, "--scratch", name, "--rank"]
        ranks = [subprocess.Popen([*command, str(rank)]) for rank in range(case.ranks)]
        if any([process.wait() for process in ranks]):
            raise SystemExit(f"{case.name}: a rank failed")
        for role in ROLES:
            best = min(range(RECORDINGS), key=lambda n: mean_step((scratch / f"{role}.{n}.0.json").read_text()))
            for rank in range(case.ranks):
                text = (scratch / f"{role}.{best}.{rank}.json").read_text()
                write(folder / f"{case.name}.{role}" / f"rank{rank}.trace.json.gz", text)
        return json.loads((scratch / "measured.0.json").read_text())


def processor() -> str:
    names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return f"{len(names)} × {names[0]}" if names else platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("cases", nargs="*", help="names of pairs; without any, all of illness_cases.py")
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    torch.set_num_threads(1)
    chosen = [case for case in (*CASES, *KEPT) if case.name in args.cases] if args.cases else list(CASES)
    if args.rank is not None:
        rank_main(chosen[0], args.rank, args.scratch)
        return
    args.folder.mkdir(parents=True, exist_ok=True)
    file = args.folder / "measured.json"
    measured = json.loads(file.read_text()) if file.exists() else {"schema": "fathom-illness-measured/1", "pairs": {}}
    for case in chosen:
        times = (run_ranks if case.ranks > 1 else run_one)(case, args.folder.resolve())
        measured["pairs"][case.name] = {
            "about": case.about,
            "torch": torch.__version__,
            "python": platform.python_version(),
            "processor": processor(),
            "threads": 1,
            "load_1min": round(os.getloadavg()[0], 1),
            "stacks": case.stacks,
            "blocks": BLOCKS if times else 0,
            "steps_per_block": STEPS_PER_BLOCK,
            "step": times,
        }
        file.write_text(json.dumps(measured, indent=1, ensure_ascii=False) + "\n")
        print(case.name, json.dumps(times), flush=True)


if __name__ == "__main__":
    main()
