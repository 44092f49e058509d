#!/usr/bin/env python3
"""A small training program with a fixed seed: a residual network of convolutions and a transformer.

    train.py --steps 14                  prints its step times as JSON
    train.py --steps 14 --profile 6-8    profiles these steps, prints what torch.profiler counted

Each step is the same work, so that what one run counts can be compared with another's.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import time
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + self.second(F.relu(self.norm(self.first(x)))))


class Model(nn.Module):
    def __init__(self, width: int, blocks: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 4, stride=4)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(blocks)))
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        patches = self.blocks(self.stem(x)).flatten(2).transpose(1, 2)
        return self.head(self.body(patches).mean(1))


class Program:
    def __init__(self, device: str) -> None:
        torch.manual_seed(0)
        large = device == "cuda"
        if not large:
            torch.set_num_threads(1)
        width, rows, edge = (256, 64, 64) if large else (16, 2, 16)
        self.device = device
        self.model = Model(width, 6 if large else 2).to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.batches = [torch.randn(rows, 3, edge, edge) for _ in range(2)]
        if large:
            self.batches = [batch.pin_memory() for batch in self.batches]
        self.y = torch.randint(10, (rows,)).to(device)
        self.losses: list[Tensor] = []

    def step(self, number: int) -> None:
        x = self.batches[number % 2].to(self.device, non_blocking=True)
        self.optimizer.zero_grad()
        with torch.autocast(self.device, torch.bfloat16):
            loss = F.cross_entropy(self.model(x), self.y)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.losses.append(loss.detach())

    def wait(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()


def counted(profiler: Any) -> dict[str, Any]:
    """By torch.profiler's own key_averages: kernels, copies and operators, by name."""
    kernels: collections.Counter[str] = collections.Counter()
    operators: collections.Counter[str] = collections.Counter()
    copies, kernel_us = 0, 0.0
    for row in profiler.key_averages():
        if "CPU" in str(row.device_type):
            operators[row.key] += row.count
        elif not getattr(row, "is_user_annotation", False):
            if row.key.startswith(("Memcpy", "Memset")):
                copies += row.count
            else:
                kernels[row.key] += row.count
                kernel_us += row.self_device_time_total
    operators_only = {name: count for name, count in operators.items() if name.startswith("aten::")}
    return {
        "kernels": dict(kernels),
        "operators": operators_only,
        "copies": copies,
        "kernel_us": kernel_us,
    }


def profiler_of(steps: tuple[int, int], extras: list[str], device: str) -> Any:
    from torch.profiler import ProfilerActivity, profile, schedule

    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device == "cuda" else [])
    first, last = steps
    return profile(
        activities=activities,
        schedule=schedule(wait=first - 1, warmup=1, active=last - first + 1, repeat=1),
        record_shapes="shapes" in extras,
        with_stack="stacks" in extras,
        profile_memory="memory" in extras,
        with_flops="flops" in extras,
        on_trace_ready=lambda _: None,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seconds", type=float, default=0, help="go on for at least so long")
    parser.add_argument("--profile", metavar="A-B", help="profile these steps, counted from 0")
    parser.add_argument("--extras", default="", help="shapes,stacks,memory,flops")
    parser.add_argument("--export", help="where the trace goes")
    args = parser.parse_args()
    program = Program(args.device)
    first, last = (int(part) for part in (args.profile or "0-0").split("-"))
    times: list[int] = []
    extras = args.extras.split(",")
    scope: Any = contextlib.nullcontext()
    if args.profile:
        scope = profiler_of((first, last), extras, args.device)
    begin = time.perf_counter()
    with scope as profiler:
        while len(times) < args.steps or time.perf_counter() - begin < args.seconds:
            start = time.perf_counter_ns()
            program.step(len(times))
            # Waited for in each step, so that its time on the host is all of it.
            program.wait()
            times.append(time.perf_counter_ns() - start)
            if profiler is not None:
                profiler.step()
    result = {
        "device": args.device,
        "step_ns": times,
        "loss": float(program.losses[min(10, len(times) - 1)]),
    }
    if profiler is not None:
        result["profiler"] = counted(profiler)
        if args.export:
            profiler.export_chrome_trace(args.export)
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
